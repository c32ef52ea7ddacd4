import {
  type Conclusion,
  Conflict,
  type Fault,
  type Json,
  type Plan,
  type RunHead,
  type RunState,
  type RunSubject,
  type UserId,
} from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Context from "effect/Context"
import type { Work } from "./work.ts"

/** What a run is asked to do, as its head keeps it. */
export interface WorkRequest {
  readonly kind: string
  readonly subject: RunSubject
  readonly options: Json
}

export type GuestOptions = Pick<GuestTask, "verbose" | "onlyRoles">

/** A kind of run as the engine sees it. */
export interface RunKind<out R = never> {
  readonly name: string
  /** Completes "run abc (…) is changing it". */
  readonly doing: string
  /** What a second run of this kind about the same subject comes to: a conflict, or the run that goes on already. */
  readonly whenBusy: "refuse" | "join"
  /** The plan of what the head asks for, from what there is now, before or after the run was opened. Fails when it cannot be done, and changes nothing then. */
  readonly plan: (head: RunHead, isOpen: boolean) => Effect.Effect<Plan, Fault, R>
  readonly workNamed: (name: string) => Work<R> | undefined
  /** Whose the subject is, beside administrators; undefined: nobody's. */
  readonly owner: (subject: RunSubject) => Effect.Effect<UserId | undefined, Fault, R>
  /** What of its request the stages in machines are told. */
  readonly guestOptions: (head: RunHead) => GuestOptions
  /**
   * Keeps what the run's end means, just before the run is closed; repeating it is safe. True: the run's journal has gone with its subject,
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
  /** However the run ends, also when it could not be planned; may be called again. */
  readonly finish?: (end: Conclusion, state: RunState, head: RunHead) => Effect.Effect<void, Fault, F>
}): RunKindOf<Request, P | O | F | ServicesOfWork<W[number]>> => {
  const works = new Map(spec.works.map((work) => [work.name, work]))
  const decode = Schema.decodeUnknownEffect(spec.request)
  const unreadable = (head: RunHead) =>
    new Conflict({
      what: `Cannot go on with run ${head.id}: what it was asked to do cannot be read from the store`,
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
    // the services of each work are those of them all
    workNamed: (name) => works.get(name) as Work<ServicesOfWork<W[number]>> | undefined,
    owner: (subject) => spec.owner?.(subject) ?? Effect.succeed(undefined),
    guestOptions: () => ({ verbose: false, onlyRoles: [] }),
    finish: (head, state, end) => Effect.as(spec.finish?.(end, state, head) ?? Effect.void, false),
  }
}

/** The kind with its services given. */
export const bindKind = <R>(kind: RunKind<R>, services: Context.Context<R>): RunKind => {
  // nothing is left of R when all of R is given
  const given = <A, E>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, services) as Effect.Effect<A, E>
  return {
    ...kind,
    plan: (head, isOpen) => given(kind.plan(head, isOpen)),
    owner: (subject) => given(kind.owner(subject)),
    finish: (head, state, end, onRemoval) => given(kind.finish(head, state, end, onRemoval)),
    workNamed: (name) => {
      const found = kind.workNamed(name)
      if (found === undefined) return undefined
      return {
        name,
        dispatch: (input, context) => given(found.dispatch(input, context)),
        settle: (input, token, context) => given(found.settle(input, token, context)),
      }
    },
  }
}
