import {
  Forbidden,
  Unauthenticated,
  type Fault,
  type Group,
  type Range,
  type ScopedKey,
  scopeProblem,
  type Session,
  type User,
} from "@rangewright/domain"
import { AuditTrail, CredentialHasher } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Activity } from "../activity.ts"
import { Requester } from "../operation/long-work.ts"
import { type HandlerRequest, isAudited, type Operation, type RequestMeta } from "../operation/operation.ts"
import type { AppServices } from "../services.ts"
import { audited, type Told } from "./audited.ts"
import { countUse } from "./count-use.ts"
import { authenticate, callerOf, type Credentials, type Identity } from "./credentials.ts"
import { requireEntitlement } from "./entitlement.ts"
import { selectGroup } from "./select-group.ts"
import { selectRange } from "./select-range.ts"
import { askAnAdministrator, selectUser } from "./select-user.ts"

/** A request of which nothing has been checked yet. */
export interface Call {
  readonly credentials: Credentials
  /** Path parameters as text. */
  readonly path: Readonly<Record<string, string>>
  /** Query parameters as text, under the names that the operation declares; none is empty. */
  readonly query: Readonly<Record<string, string>>
  readonly meta: RequestMeta
}

/** The decoded input of an operation. */
export type Input = Pick<HandlerRequest, "path" | "query" | "body" | "file">

/** Length of the key of an audit entry. */
const keyLength = 20

/** The caller and target as far as they are known; recorded in the audit entry. */
interface Admission {
  readonly caller: User | undefined
  readonly session: Session | undefined
  readonly key: ScopedKey | undefined
  user: User | undefined
  range: Range | undefined
  group: Group | undefined
  /** The query parameters and members of the body that the operation audits, as `name=value`. */
  told: readonly string[]
}

/** An operation that never answers 403 refuses with 401 instead, which its clients expect. Scripts match the text. */
const refuseNonAdmin = ({ does, statuses }: Operation) => {
  const refusal = { reason: `You are not an admin and cannot ${does}`, hint: askAnAdministrator }
  return statuses[403] === undefined ? new Unauthenticated(refusal) : new Forbidden(refusal)
}

const refuseSession = ({ does, refusesSession }: Operation, session: Session | undefined) =>
  session === undefined || !refusesSession
    ? Effect.void
    : Effect.fail(
        new Forbidden({
          reason: `Cannot ${does} with a session`,
          hint: "Send an API key (X-API-KEY) or a token (Authorization).",
        }),
      )

/**
 * Whether the request counts as use of the range. Reads in a session or with a key for reading do not: pages that are left open and
 * dashboards poll forever.
 */
const isUse = ({ mutates, passive }: Operation, { session, key }: Admission): boolean =>
  mutates || (!passive && session === undefined && key?.scope.kind !== "read")

const refuseKey = ({ does }: Operation, { id }: ScopedKey, because: string) =>
  new Forbidden({
    reason: `API key ${id} may not ${does}: ${because}`,
    hint: "Use the user's own API key (X-API-KEY) or a token.",
  })

/** Fails if the key's scope does not allow the operation, or acting as another user. */
const requireScope = (operation: Operation, { query }: Call, caller: User, key: ScopedKey): Effect.Effect<void, Forbidden> => {
  const { mutates, target, wholeKeyOnly } = operation
  const ofRange = target === "range" || target === "range-in-path"
  const problem = scopeProblem(key.scope, { mutates, ofRange, wholeKeyOnly })
  if (problem !== undefined) return Effect.fail(refuseKey(operation, key, problem))
  return query["userID"] === undefined || query["userID"] === caller.id
    ? Effect.void
    : Effect.fail(refuseKey(operation, key, "a scoped key acts only as its owner"))
}

/** Fails if the key is for another range. */
const requireRangeOf = (operation: Operation, key: ScopedKey, range: Range | undefined): Effect.Effect<void, Forbidden> =>
  key.scope.kind === "read" || range?.id === key.scope.rangeId
    ? Effect.void
    : Effect.fail(refuseKey(operation, key, `the key is for range ${key.scope.rangeId}`))

/** Fills in the user, the range and the group; fails when the caller may not run the operation. */
function* admit(
  operation: Operation,
  call: Call,
  caller: User,
  admission: Admission,
): Effect.fn.Return<void, Fault, AppServices> {
  const { key } = admission
  const { rangeID, rangeNumber, userID } = call.query
  yield* refuseSession(operation, admission.session)
  if (key !== undefined) yield* requireScope(operation, call, caller, key)
  admission.user = yield* selectUser(caller, userID)
  // administrator rights are the caller's own: acting as another user neither gives nor takes them
  if (operation.access === "admin" && operation.alsoFor === undefined && !caller.isAdmin) return yield* refuseNonAdmin(operation)
  admission.range = yield* selectRange(operation, admission.user, {
    // a key for one range selects that range when none is named
    rangeId:
      rangeID ??
      (rangeNumber === undefined && key?.scope.kind === "range" && operation.target === "range" ? key.scope.rangeId : undefined),
    rangeNumber,
    inPath: call.path["rangeID"],
  })
  if (key !== undefined) yield* requireRangeOf(operation, key, admission.range)
  if (operation.target === "group-in-path")
    admission.group = yield* selectGroup(operation, caller, admission.user, call.path["groupName"] ?? "")
  if (operation.tier === "enterprise") yield* requireEntitlement(operation.does)
  const activity = yield* Activity
  const now = new Date(yield* Clock.currentTimeMillis)
  activity.user(caller.id, now)
  if (admission.range !== undefined && isUse(operation, admission))
    countUse(activity, admission.range.id, {
      at: now,
      by: caller.id,
      request: `${operation.route.method} ${operation.route.path}`,
      keyId: key?.id,
    })
}

/** Most characters of a value in an entry: the caller chooses what is in a path. */
const toldAtMost = 100
const clipped = (value: string): string => (value.length > toldAtMost ? `${value.slice(0, toldAtMost)}…` : value)

/** The audit entry as far as it is known. */
const toldOf = (operation: Operation, call: Call, { caller, key, user, range, told }: Admission): Told => ({
  requestId: call.meta.requestId,
  callerId: caller?.id,
  actingAs: user?.id,
  operation: operation.id,
  rangeId: range?.id,
  detail: [
    ...(key === undefined ? [] : [`key=${key.id}`]),
    ...Object.entries(call.path).map(([name, value]) => `${name}=${clipped(value)}`),
    ...told,
  ].join(" "),
  remote: call.meta.remote,
})

const toldBy = ({ audited }: Operation, { query, body }: Pick<Input, "query" | "body">): readonly string[] =>
  audited.flatMap((name) => {
    const value = (body as Readonly<Record<string, unknown>> | undefined)?.[name] ?? query[name]
    return value === undefined ? [] : [`${name}=${clipped(JSON.stringify(value))}`]
  })

/** Admits the caller, reads the input and runs the handler. */
const admitAndHandle = Effect.fnUntraced(function* (
  operation: Operation,
  call: Call,
  admission: Admission,
  input: Effect.Effect<Input, Fault>,
): Effect.fn.Return<unknown, Fault, AppServices> {
  const { caller } = admission
  if (caller !== undefined && operation.access !== "anonymous") yield* admit(operation, call, caller, admission)
  const { path, query, body, file } = yield* input
  if (isAudited(operation)) admission.told = toldBy(operation, { query, body })
  const { session, key, user, range, group } = admission
  if (operation.recordedFirst) yield* Effect.flatMap(AuditTrail, (trail) => trail.begin)
  return yield* operation.handle({ path, query, body, file, caller, session, key, user, range, group, meta: call.meta })
})

/**
 * Runs an operation for a request. Finds the caller, the user acted as and the range, checks the rights, then reads the input, then calls
 * the handler. `input` is read only once the caller is admitted, so that nobody without rights can make us read a body. Every operation
 * that changes something or hands out passwords leaves one audit entry, also when a known caller was refused. An anonymous operation
 * records by itself what matters, because anybody could fill the store with entries.
 *
 * Generators on the request path are module-level functions: creating one per request leaves garbage that only a full collection frees, and
 * young collections took 20 ms instead of 1. They delegate to one another, because an effect for each costs a quarter of the whole.
 */
export const perform = Effect.fnUntraced(function* (
  operation: Operation,
  call: Call,
  input: Effect.Effect<Input, Fault>,
): Effect.fn.Return<unknown, Fault, AppServices> {
  const identity: Identity | undefined =
    operation.access === "anonymous"
      ? // a stale credential must not block an operation that needs none, such as logging in
        yield* Effect.catchTag(authenticate(call.credentials), "Unauthenticated", () => Effect.succeed(undefined))
      : yield* callerOf(call.credentials)
  const admission: Admission = {
    caller: identity?.user,
    session: identity?.session,
    key: identity?.key,
    user: identity?.user,
    range: undefined,
    group: undefined,
    told: [],
  }
  const work = Effect.provideService(admitAndHandle(operation, call, admission, input), Requester, identity?.user.id)
  if (!isAudited(operation)) return yield* work
  const hasher = yield* CredentialHasher
  const key = hasher.randomText(keyLength)
  return yield* audited(key, () => toldOf(operation, call, admission), work)
})
