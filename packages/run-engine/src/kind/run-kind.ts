import {
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
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Context from "effect/Context"
import { type FencedPorts, heldServices } from "../worker/hold.ts"
import type { Settlement, StepContext, Work } from "./work.ts"

/** What a run is asked to do, as its head keeps it. */
export interface WorkRequest {
  readonly kind: string
  readonly subject: RunSubject
  readonly options: Json
}

/** How a kind carries out the steps of its plans: `dispatch` starts the effect, `settle` waits for its end. Both may be called again after a crash. */
export interface StepActions<out R = never> {
  readonly dispatch: (step: Step, context: StepContext) => Effect.Effect<Json, Fault, R>
  /** `token` is what `dispatch` gave. What the step changed is stored before this succeeds. */
  readonly settle: (step: Step, token: Json, context: StepContext) => Effect.Effect<Settlement, Fault, R>
  /** Whether the nodes that the step needs are there. Absent: whenever the hypervisor answers. */
  readonly isReachable?: (step: Step, cluster: ObservedCluster) => boolean
  /** Another VMID for the machine that the step was to clone, whose own turned out to be taken. */
  readonly reallocate?: (step: Step, cluster: ObservedCluster) => Effect.Effect<Reallocation | undefined, Fault, R>
}

export interface Reallocation {
  readonly machine: string
  readonly from: Vmid
  readonly to: Vmid
}

/** What a range shows while a run of a kind changes it, and afterwards. */
export interface ShownState {
  readonly during: RangeState
  readonly after: (status: Exclude<RunStatus, "running">) => RangeState
}

/** A kind of run as the engine sees it. */
export interface RunKind<out R = never> {
  readonly name: string
  /** Completes "run abc (…) is changing it". */
  readonly doing: string
  /** What a second run of this kind about the same subject comes to: a conflict, or the run that goes on already. */
  readonly whenBusy: "refuse" | "join"
  /** The plan of what the head asks for, from what there is now, before or after the run was opened. Fails when it cannot be done, and changes nothing then. */
  readonly plan: (head: RunHead, isOpen: boolean) => Effect.Effect<Plan, Fault, R>
  readonly actions: StepActions<R>
  /** What the plan rests on beside other runs: a plan made before the run was opened is made again when this has changed. */
  readonly basis?: (subject: RunSubject) => Effect.Effect<string, Fault, R>
  /** Absent: the run does not show in the state of its range, or is about none. */
  readonly rangeState?: ShownState
  /** Ends no sooner than `RunEngineOptions.shownSeconds` after it opened, unless it is aborted. */
  readonly isShownAtWork?: boolean
  /** A run that succeeds removes its subject, and all its journals with it. */
  readonly removesSubject?: boolean
  /** Whose the subject is, beside administrators; undefined: nobody's. */
  readonly owner: (subject: RunSubject) => Effect.Effect<UserId | undefined, Fault, R>
  /**
   * Keeps what the run's end means, just before the run is closed; repeating it is safe. The state is empty when the journal is damaged. True: the run's journal has gone with its subject,
   * so that there is nothing to close. `onRemoval` is told just before that.
   */
  readonly finish: (
    head: RunHead,
    state: RunState,
    end: Conclusion,
    onRemoval: Effect.Effect<void>,
  ) => Effect.Effect<boolean, Fault, R>
}

/** A kind with the type of its request. */
export interface RunKindOf<Request, out R> extends RunKind<R> {
  /** What `RunEngine.startWork` takes. */
  readonly request: (subject: RunSubject, request: Request) => WorkRequest
}

type ServicesOfWork<W> = W extends Work<infer R> ? R : never
/** The services that actions need. */
export type ServicesOfActions<A> = A extends StepActions<infer R> ? R : never
/** The services that a kind needs. */
export type ServicesOfKind<K> = K extends RunKind<infer R> ? R : never

/**
 * Declares a kind of run that is about something else than the machines of a range. Journal, lease, progress, cancel and resume after a
 * crash come from the engine; see docs/guides/add-a-run-kind.md.
 */
export const runKind = <Request, const W extends readonly Work<unknown>[], P = never, O = never, F = never>(spec: {
  /** Kebab-case, at most 32 characters; released names never change, for they are stored. */
  readonly name: string
  /** Completes "run abc (…) is changing it": `a fetch`. */
  readonly doing: string
  /** What is stored of the request, so that the run can be planned again. Holds no secret. */
  readonly request: Schema.Codec<Request, unknown>
  /** Made before the run opens, so that its failure answers the caller; again when another run came in between, or after a crash. */
  readonly plan: (request: Request, head: RunHead) => Effect.Effect<Plan, Fault, P>
  /** Every work that its plans name. */
  readonly works: W
  readonly whenBusy?: "refuse" | "join"
  readonly owner?: (subject: RunSubject) => Effect.Effect<UserId | undefined, Fault, O>
  /** However the run ends, also when it could not be planned or its journal is damaged: then the state has no plan. May be called again. */
  readonly finish?: (end: Conclusion, state: RunState, head: RunHead) => Effect.Effect<void, Fault, F>
}): RunKindOf<Request, P | O | F | ServicesOfWork<W[number]>> => {
  const works = new Map(spec.works.map((work) => [work.name, work]))
  const decode = Schema.decodeUnknownEffect(spec.request)
  const workOf = ({ title, action }: Step) => {
    // the services of each work are those of them all
    const found = action.kind === "work" ? (works.get(action.work) as Work<ServicesOfWork<W[number]>> | undefined) : undefined
    return action.kind === "work" && found !== undefined
      ? Effect.succeed({ work: found, input: action.input })
      : Effect.fail(
          new Conflict({ what: `Cannot do "${title}": this version of the service does not know it as a part of ${spec.name}` }),
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

/** The kind with its services given; a worker's calls of its ports wait for the worker's hold. */
export const bindKind = <R>(kind: RunKind<R>, all: Context.Context<R>, fenced: FencedPorts): RunKind => {
  const services = heldServices(all, fenced)
  // nothing is left of R when all of R is given
  const given = <A, E>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services) as Effect.Effect<A, E>
  const { plan, owner, finish, basis, actions } = kind
  const { reallocate } = actions
  return {
    ...kind,
    plan: (head, isOpen) => given(plan(head, isOpen)),
    owner: (subject) => given(owner(subject)),
    finish: (head, state, end, onRemoval) => given(finish(head, state, end, onRemoval)),
    basis: (subject) => (basis === undefined ? Effect.succeed("") : given(basis(subject))),
    actions: {
      dispatch: (step, context) => given(actions.dispatch(step, context)),
      settle: (step, token, context) => given(actions.settle(step, token, context)),
      ...(actions.isReachable === undefined ? {} : { isReachable: actions.isReachable }),
      ...(reallocate === undefined ? {} : { reallocate: (step, cluster) => given(reallocate(step, cluster)) }),
    },
  }
}
