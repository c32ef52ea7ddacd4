import {
  DefaultRangeNotFound,
  Forbidden,
  InvalidInput,
  isRangeId,
  mayUse,
  RangeNotFound,
  rootUserId,
  type Range,
  type RangeId,
  type User,
  howTo,
} from "@rangewright/domain"
import { Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Operation } from "../operation/operation.ts"

/**
 * Fails unless the user may use the range in this way. For handlers whose target names a range only indirectly, such as a VM. Scripts match
 * the text.
 */
export const requireRangeAccess = Effect.fnUntraced(function* (
  range: Range,
  user: User,
  access: "range-access" | "range-owner",
): Effect.fn.Return<void, Forbidden | StorageFault, Ranges> {
  const ranges = yield* Ranges
  if (user.isAdmin || mayUse(access, user, yield* ranges.grants(range.id))) return
  return yield* new Forbidden(
    access === "range-owner"
      ? { reason: `${user.id} does not own range ${range.id}`, hint: "Ask one of its owners or an administrator." }
      : {
          reason: `You do not have access to range ${range.id}`,
          hint: `List the ranges you may use: ${howTo("GET /ranges/accessible")}.`,
        },
  )
})

/**
 * The range, if the user has access to it; fails with `missing` when it does not exist. The usual case, a range that the user has, is one
 * read.
 */
function* open<Missing>(
  id: RangeId | undefined,
  user: User,
  access: "range-access" | "range-owner",
  missing: () => Effect.Effect<never, Missing>,
): Effect.fn.Return<Range, Missing | Forbidden | StorageFault, Ranges> {
  if (id === undefined) return yield* missing()
  const ranges = yield* Ranges
  if (access === "range-access" && !user.isAdmin) {
    const [own] = yield* ranges.list({ for: user.id, rangeId: id })
    if (own !== undefined) return own
  }
  const range = yield* ranges.find(id)
  if (range === undefined) return yield* missing()
  yield* requireRangeAccess(range, user, access)
  return range
}

const named = (id: string, user: User, access: "range-access" | "range-owner") =>
  open(isRangeId(id) ? id : undefined, user, access, () => new RangeNotFound({ rangeId: id }))

/** The range with this number, open to the user. Fails as `named` does; `beside` is the range that is selected by its ID, if there is one. */
function* numbered(
  text: string,
  beside: Range | undefined,
  user: User,
  access: "range-access" | "range-owner",
): Effect.fn.Return<Range, InvalidInput | RangeNotFound | Forbidden | StorageFault, Ranges> {
  if (beside === undefined) {
    const ranges = yield* Ranges
    const id = (yield* ranges.list()).find(({ number }) => String(number) === text)?.id
    return yield* open(id, user, access, () => new RangeNotFound({ rangeId: `number ${text}` }))
  }
  if (String(beside.number) === text) return beside
  return yield* new InvalidInput({
    what: `?rangeID=${beside.id} and ?rangeNumber=${text} name different ranges`,
    hint: "Send only rangeID.",
  })
}

const byDefault = (user: User, access: "range-access" | "range-owner") =>
  open(user.defaultRangeId, user, access, () => new DefaultRangeNotFound({ rangeId: user.defaultRangeId, userId: user.id }))

/**
 * The range named in a request's body, else the one selected by the request, else the user's default; it exists and the user has access.
 * For handlers of operations whose body may name the range.
 */
export const rangeOfBody = Effect.fnUntraced(function* (
  rangeId: string | undefined,
  sentFor: Range | undefined,
  user: User,
): Effect.fn.Return<Range, RangeNotFound | DefaultRangeNotFound | Forbidden | StorageFault, Ranges> {
  if (rangeId !== undefined && rangeId !== "") return yield* named(rangeId, user, "range-access")
  return sentFor ?? (yield* byDefault(user, "range-access"))
})

/** The range parameters of a request, without empty values. */
export interface RangeSelection {
  /** `?rangeID=`. */
  readonly rangeId: string | undefined
  /** `?rangeNumber=`, which selects a range as well. */
  readonly rangeNumber: string | undefined
  /** The path parameter `rangeID`. */
  readonly inPath: string | undefined
}

/**
 * What ROOT may do although it has no range: sign in, manage users (also as records), and import those of an older installation. The import
 * comes first, while there is no other user: a user created before it takes the number of an old range.
 */
const isForRoot = ({ base, path }: Operation["route"]): boolean =>
  base === "/ui" ||
  (base === "/api/v2"
    ? path.startsWith("/user") || path === "/migrate/sqlite"
    : path.startsWith("/api/collections/users/records"))

/**
 * The range that the operation works on; it exists and the user has access, which is checked for the default range too. A `?rangeID=` is
 * checked even where the operation needs no range. Only an operation that needs one fails when there is no default.
 */
export function* selectRange(
  operation: Operation,
  user: User,
  selection: RangeSelection,
): Effect.fn.Return<Range | undefined, InvalidInput | RangeNotFound | DefaultRangeNotFound | Forbidden | StorageFault, Ranges> {
  const access = operation.access === "range-owner" ? "range-owner" : "range-access"
  const { target, route } = operation
  const needed = target === "range" ? access : "range-access"
  const byId = selection.rangeId === undefined ? undefined : yield* named(selection.rangeId, user, needed)
  const byQuery = selection.rangeNumber === undefined ? byId : yield* numbered(selection.rangeNumber, byId, user, needed)
  if (byQuery === undefined && user.id === rootUserId && !isForRoot(route))
    return yield* new Forbidden({
      reason: `${user.id} has no range and may only manage users`,
      hint: "Use an administrator's own key, or select a user or range with ?userID= or ?rangeID=.",
    })
  if (target === "range-in-path") return yield* named(selection.inPath ?? "", user, access)
  if (target === "none" || target === "group-in-path" || byQuery !== undefined) return byQuery
  return yield* byDefault(user, access)
}
