import * as Result from "effect/Result"
import { Exhausted, RangeExists } from "../fault/faults.ts"
import { rootUserId, type UserId, type Vmid } from "./ids.ts"

/** Integers from `from` to `to`, inclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** User numbers: each is the last octet of a VPN address. */
export const userNumberSpan: Span = { from: 2, to: 150 }
/** ROOT's number, outside the span. */
export const rootUserNumber = 1
/** Minimum time before a removed user's number can be reused. */
export const userNumberRestMillis = 24 * 60 * 60 * 1000

/**
 * The numbers of removed users that can be reused: no router and no VPN server lets them in any more. `resting`: when each user was
 * removed. `routers`: whom each router lets in; undefined while it is being told, and thus unknown. `vpn`: whom the server lets in;
 * undefined if unknown.
 */
export const restedNumbers = (facts: {
  readonly resting: ReadonlyMap<number, number>
  readonly now: number
  readonly routers: readonly (readonly number[] | undefined)[]
  readonly vpn: ReadonlySet<number> | undefined
}): readonly number[] => {
  const { resting, now, routers, vpn } = facts
  if (vpn === undefined || routers.includes(undefined)) return []
  const letIn = new Set([...routers.flatMap((numbers) => numbers ?? []), ...vpn])
  return [...resting].flatMap(([number, since]) => (since <= now - userNumberRestMillis && !letIn.has(number) ? [number] : []))
}
/** Range numbers: the second octet of addresses; 100 + number must be an octet, too. */
export const rangeNumberSpan: Span = { from: 1, to: 153 }

/** The lowest free number of the span. */
export const lowestFree = (span: Span, taken: { readonly has: (n: number) => boolean }): number | undefined => {
  for (let n = span.from; n <= span.to; n++) if (!taken.has(n)) return n
  return undefined
}

/** The number of free numbers in the span. */
export const freeNumbers = ({ from, to }: Span, taken: { readonly has: (n: number) => boolean }): number =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((n) => !taken.has(n)).length

/**
 * The requested number if it is free, else the lowest free one. `taken`: the numbers of all users, and of removed ones that cannot be
 * reused yet.
 */
export const allocateUserNumber = (
  userId: UserId,
  taken: ReadonlySet<number>,
  requested?: number,
): Result.Result<number, Exhausted> => {
  if (userId === rootUserId) return Result.succeed(rootUserNumber)
  const { from, to } = userNumberSpan
  if (requested !== undefined && Number.isInteger(requested) && requested >= from && requested <= to && !taken.has(requested))
    return Result.succeed(requested)
  const number = lowestFree(userNumberSpan, taken)
  return number === undefined
    ? Result.fail(
        new Exhausted({
          what: `Cannot create user ${userId}: all user numbers from ${userNumberSpan.from} to ${userNumberSpan.to} are taken`,
          hint: "Remove users that are no longer needed; their numbers become free after a day, once the service has seen that no router and no VPN server lets them in any more (GET /access, GET /vpn; wireguard_server).",
        }),
      )
    : Result.succeed(number)
}

/** The requested number of a new range, or the lowest free one. `taken`: the numbers of all ranges. */
export const allocateRangeNumber = (
  range: { readonly id: string; readonly number: number | undefined; readonly reservedNumbers: readonly number[] },
  taken: ReadonlySet<number>,
): Result.Result<number, RangeExists | Exhausted> => {
  const reserved = new Set(range.reservedNumbers)
  const { from, to } = rangeNumberSpan
  const refuse = (why: string) =>
    Result.fail(
      new RangeExists({
        what: `Cannot create range ${range.id} with number ${range.number}: ${why}`,
        hint: "Choose another number, or send none to get the lowest free one.",
      }),
    )
  if (range.number !== undefined) {
    if (!Number.isInteger(range.number) || range.number < from || range.number > to)
      return refuse(`numbers go from ${from} to ${to}`)
    if (reserved.has(range.number)) return refuse("the number is reserved by the service's settings")
    return taken.has(range.number) ? refuse("another range has this number") : Result.succeed(range.number)
  }
  const number = lowestFree(rangeNumberSpan, { has: (n) => taken.has(n) || reserved.has(n) })
  return number === undefined
    ? Result.fail(
        new Exhausted({
          what: `Cannot create range ${range.id}: all range numbers from ${from} to ${to} are taken or reserved`,
          hint: "Delete ranges that are no longer needed.",
        }),
      )
    : Result.succeed(number)
}

/** One VMID for each of these machines. `taken`: VMIDs in use or reserved. All or nothing. */
export const allocateVmids = (
  machines: readonly string[],
  span: Span,
  taken: { readonly has: (n: number) => boolean },
): Result.Result<ReadonlyMap<string, Vmid>, Exhausted> => {
  const given = new Map<string, Vmid>()
  let from = span.from
  for (const machine of new Set(machines)) {
    const vmid = lowestFree({ from, to: span.to }, taken)
    if (vmid === undefined)
      return Result.fail(
        new Exhausted({
          what: `Cannot reserve a VMID for ${machine}: all from ${span.from} to ${span.to} are taken`,
          hint: "Widen the span of VMIDs in the service's settings, or delete machines.",
        }),
      )
    given.set(machine, vmid as Vmid)
    from = vmid + 1
  }
  return Result.succeed(given)
}
