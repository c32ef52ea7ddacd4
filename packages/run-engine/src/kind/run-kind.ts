import {
  type Amounts,
  type Conclusion,
  Conflict,
  type Fault,
  type Json,
  type ObservedCluster,
  type Plan,
  type RangeState,
  type RunHead,
  type RunStatus,
  type RunState,
  type RunSubject,
  type Step,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import type { LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Context from "effect/Context"
import type { Settlement, StepContext, Work } from "./work.ts"

/** The request of a run, as its head stores it. */
export interface WorkRequest {
  readonly kind: string
  readonly subject: RunSubject
  readonly options: Json
}

/** Executes the steps of a kind: `dispatch` starts the effect, `settle` waits for its end. Both may be called again after a crash. */
export interface StepActions<out R = never> {
  readonly dispatch: (step: Step, context: StepContext) => Effect.Effect<Json, Fault, R>
  /** `token` is what `dispatch` returned. Stores what the step changed before it succeeds. */
  readonly settle: (step: Step, token: Json, context: StepContext) => Effect.Effect<Settlement, Fault, R>
  /** Whether the nodes that the step needs are online. Absent: whenever the hypervisor answers. */
  readonly isReachable?: (step: Step, cluster: ObservedCluster) => boolean
  /**
   * Called before the retry of a step whose effect is unknown or whose machine was unreachable: restores what the step needs. If it
   * fails, so does the step. Interrupted by a cancel. May be called again after a crash.
   */
  readonly beforeRetry?: (step: Step, context: StepContext) => Effect.Effect<void, Fault, R>
  /**
   * Called when a step has failed for good and the run was not cancelled. Returns the fault that the run reports. May be called again after
   * a crash.
   */
  readonly afterFailure?: (step: Step, fault: Fault, context: StepContext) => Effect.Effect<Fault, Fault, R>
  /** Chooses another VMID for the machine of a clone step whose own turned out to be taken. */
  readonly reallocate?: (step: Step, cluster: ObservedCluster) => Effect.Effect<Reallocation | undefined, Fault, R>
}

export interface Reallocation {
  readonly machine: string
  readonly from: Vmid
  readonly to: Vmid
}

/** The state that a range shows during a run and afterwards. */
export interface ShownState {
  readonly during: RangeState
  readonly after: (status: Exclude<RunStatus, "running">) => RangeState
}

/** A kind of run as the engine sees it. */
export interface RunKind<out R = never> {
  readonly name: string
  /** Completes "run abc (…) is changing it". */
  readonly doing: string
  /** What a second request about the same subject gets: a conflict, or the run that is already going on. */
  readonly whenBusy: "refuse" | "join"
  /**
   * Plans the request from the current state, before or after the run was opened. Fails when it cannot be done; changes nothing either way.
   */
  readonly plan: (head: RunHead, isOpen: boolean) => Effect.Effect<Plan, Fault, R>
  /** The options of a run that resumes an ended one. Absent: the same. */
  readonly resumed?: (options: RunHead["options"]) => RunHead["options"]
  readonly actions: StepActions<R>
  /** What the plan is based on besides other runs: when it changes before the run opens, the plan is made again. */
  readonly basis?: (subject: RunSubject) => Effect.Effect<string, Fault, R>
  /** Absent: the run has no range, or does not affect the range's state. */
  readonly rangeState?: ShownState
  /**
   * Default quota, for payers without a limit of their own: a deploy opens only if it fits the payer's quota. Absent: no quota is checked.
   */
  readonly systemLimits?: Effect.Effect<Amounts, Fault, R>
  /** Takes at least `RunEngineOptions.shownSeconds`, unless it is aborted. */
  readonly isShownAtWork?: boolean
  /** A successful run removes its subject, and with it all journals of the subject. */
  readonly removesSubject?: boolean
  /** The owner of the subject; undefined when only administrators may access it. */
  readonly owner: (subject: RunSubject) => Effect.Effect<UserId | undefined, Fault, R>
  /**
   * Applies the outcome to the store, just before the run is closed; must be idempotent. The state is empty when the journal is damaged.
   * True: the journal was deleted with the subject, and there is nothing to close. `onRemoval` runs just before that.
   */
  readonly finish: (
    head: RunHead,
    state: RunState,
    end: Conclusion,
    onRemoval: Effect.Effect<void>,
  ) => Effect.Effect<boolean, Fault, R>
  /**
   * Notifies people of the outcome, after `finish` and just before the run is closed. Calls `told` for each with why it failed, if it did;
   * those in `state.notified` were told before a crash.
   */
  readonly notify?: (
    head: RunHead,
    state: RunState,
    end: Conclusion,
    told: (to: string, because: string | undefined) => Effect.Effect<void, LeaseLost>,
  ) => Effect.Effect<void, Fault, R>
}

/** A kind with the type of its request. */
export interface RunKindOf<Request, out R> extends RunKind<R> {
  /** The argument of `RunEngine.start`. */
  readonly request: (subject: RunSubject, request: Request) => WorkRequest
}

type ServicesOfWork<W> = W extends Work<infer R> ? R : never
/** The services that actions need. */
export type ServicesOfActions<A> = A extends StepActions<infer R> ? R : never
/** The services that a kind needs. */
export type ServicesOfKind<K> = K extends RunKind<infer R> ? R : never

/**
 * Declares a kind of run about something other than the machines of a range. Journal, lease, progress, cancel and resume after a
 * crash come from the engine; see docs/guides/add-a-run-kind.md.
 */
export const runKind = <Request, const W extends readonly Work<unknown>[], P = never, O = never, F = never>(spec: {
  /** Kebab-case, at most 32 characters. It is stored: released names never change. */
  readonly name: string
  /** Completes "run abc (…) is changing it": `a fetch`. */
  readonly doing: string
  /** The stored form of the request, from which the run can be planned again. Holds no secret. */
  readonly request: Schema.Codec<Request, unknown>
  /** Called before the run opens, so that the caller gets a failure directly; again when another run came in between, and after a crash. */
  readonly plan: (request: Request, head: RunHead) => Effect.Effect<Plan, Fault, P>
  /** All works that its plans use. */
  readonly works: W
  readonly whenBusy?: "refuse" | "join"
  readonly owner?: (subject: RunSubject) => Effect.Effect<UserId | undefined, Fault, O>
  /** Called however the run ends. The state has no plan when planning failed or the journal is damaged. May be called again. */
  readonly finish?: (end: Conclusion, state: RunState, head: RunHead) => Effect.Effect<void, Fault, F>
}): RunKindOf<Request, P | O | F | ServicesOfWork<W[number]>> => {
  const works = new Map(spec.works.map((work) => [work.name, work]))
  const decode = Schema.decodeUnknownEffect(spec.request)
  const workOf = ({ title, action }: Step) => {
    // each work needs a subset of the services of all works
    const found = action.kind === "work" ? (works.get(action.work) as Work<ServicesOfWork<W[number]>> | undefined) : undefined
    return action.kind === "work" && found !== undefined
      ? Effect.succeed({ work: found, input: action.input })
      : Effect.fail(
          new Conflict({ what: `Cannot do "${title}": this version of the service does not know this step of ${spec.name}` }),
        )
  }
  const unreadable = (head: RunHead) =>
    new Conflict({
      what: `Cannot continue run ${head.id}: its request cannot be read from the store`,
      hint: "Start a new run.",
    })
  return {
    name: spec.name,
    doing: spec.doing,
    whenBusy: spec.whenBusy ?? "refuse",
    request: (subject, request) => ({
      kind: spec.name,
      subject,
      options: Schema.encodeSync(spec.request)(request) as Json,
    }),
    plan: (head) =>
      decode(head.options).pipe(
        Effect.mapError(() => unreadable(head)),
        Effect.flatMap((request) => spec.plan(request, head)),
      ),
    actions: {
      dispatch: (step, context) => Effect.flatMap(workOf(step), ({ work, input }) => work.dispatch(input, context)),
      settle: (step, token, context) =>
        Effect.flatMap(workOf(step), ({ work, input }) =>
          Effect.map(work.settle(input, token, context), (facts) => ({ facts, output: "" })),
        ),
    },
    owner: (subject) => spec.owner?.(subject) ?? Effect.succeed(undefined),
    finish: (head, state, end) => Effect.as(spec.finish?.(end, state, head) ?? Effect.void, false),
  }
}

/** The kind with its services (`fencedServices`) provided. */
export const bindKind = <R>(kind: RunKind<R>, services: Context.Context<R>): RunKind => {
  // all of R is provided here
  const given = <A, E>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services) as Effect.Effect<A, E>
  const { systemLimits, notify, ...bound } = kind
  const { plan, owner, finish, basis, actions } = kind
  const { afterFailure, beforeRetry, reallocate } = actions
  return {
    ...bound,
    ...(systemLimits === undefined ? {} : { systemLimits: given(systemLimits) }),
    plan: (head, isOpen) => given(plan(head, isOpen)),
    owner: (subject) => given(owner(subject)),
    finish: (head, state, end, onRemoval) => given(finish(head, state, end, onRemoval)),
    ...(notify === undefined ? {} : { notify: (head, state, end, told) => given(notify(head, state, end, told)) }),
    basis: (subject) => (basis === undefined ? Effect.succeed("") : given(basis(subject))),
    actions: {
      dispatch: (step, context) => given(actions.dispatch(step, context)),
      settle: (step, token, context) => given(actions.settle(step, token, context)),
      ...(actions.isReachable === undefined ? {} : { isReachable: actions.isReachable }),
      ...(beforeRetry === undefined ? {} : { beforeRetry: (step, context) => given(beforeRetry(step, context)) }),
      ...(afterFailure === undefined
        ? {}
        : { afterFailure: (step, fault, context) => given(afterFailure(step, fault, context)) }),
      ...(reallocate === undefined ? {} : { reallocate: (step, cluster) => given(reallocate(step, cluster)) }),
    },
  }
}
