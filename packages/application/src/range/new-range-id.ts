import {
  type Fault,
  isRangeId,
  mayUse,
  parentRangeId,
  RangeBusy,
  RangeExists,
  type RangeId,
  rangeIdKey,
  rangeSubject,
  reservedIdProblem,
  takenRangeId,
  type User,
} from "@rangewright/domain"
import { Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { AccessControl } from "../rights/access-control.ts"

/** A range that somebody wants to create. */
export interface WantedRange {
  readonly id: RangeId
  /** Undefined: the service itself. */
  readonly maker: User | undefined
}

const refuse = (id: string, why: string, hint?: string) =>
  Effect.fail(new RangeExists({ what: `Cannot create range ${id}: ${why}`, ...(hint === undefined ? {} : { hint }) }))

/** The text as the ID of a new range; checks only what the text alone shows. */
export const newRangeId = (text: string): Effect.Effect<RangeId, RangeExists> => {
  if (!isRangeId(text))
    return refuse(
      text.slice(0, 80),
      "the range ID is not allowed (a letter, then letters, digits, _ and -; up to two further parts after /; 64 characters at most)",
    )
  const reserved = reservedIdProblem(text)
  return reserved === undefined ? Effect.succeed(text) : refuse(text, reserved)
}

/**
 * Fails while a run removes a range above the new one: its pool cannot be removed while another one is below it. Checked again once the new
 * range is stored: a removal that begins later sees it.
 */
export const parentStays = (id: RangeId): Effect.Effect<void, Fault, RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    for (let upper = parentRangeId(id); upper !== undefined; upper = parentRangeId(upper)) {
      const run = yield* journal.active(rangeSubject(upper))
      if (run?.kind === "delete-range")
        return yield* new RangeBusy({ rangeId: upper, runId: run.id, doing: "its removal", cancelled: run.cancelRequested })
    }
  })

/**
 * Rights on a pool apply to the pools below it, and a pool with others below it cannot be removed. So only owners of a range may create
 * ranges below it. An administrator may also create ranges below an ID that is not a range. A missing range and another user's range give
 * the same answer.
 */
const parentAllows = ({ id, maker }: WantedRange) =>
  Effect.gen(function* () {
    const parent = parentRangeId(id)
    if (parent === undefined) return
    const ranges = yield* Ranges
    if (maker === undefined || maker.isAdmin) {
      const above = (yield* ranges.list()).find(
        (range) => range.id !== id.slice(0, range.id.length) && rangeIdKey(id).startsWith(`${rangeIdKey(range.id)}/`),
      )
      return above === undefined ? undefined : yield* refuse(id, `the range above it is ${above.id}`)
    }
    if ((yield* ranges.find(parent)) === undefined || !mayUse("range-owner", maker, yield* ranges.grants(parent)))
      return yield* refuse(
        id,
        `only owners of a range ${parent} and administrators may make ranges below it`,
        "Use an ID without /, or ask an administrator.",
      )
  })

/** Fails unless the ID is free, here and as a pool on the hypervisor, and the maker may use it. */
export const refuseTakenId = (wanted: WantedRange): Effect.Effect<void, Fault, Ranges | Users | AccessControl | RunJournal> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const users = yield* Users
    const control = yield* AccessControl
    const { id, maker } = wanted
    const key = rangeIdKey(id)
    // a user's ID is reserved for the user's default range
    const isOthers = (user: User): boolean => rangeIdKey(user.id) === key && user.id !== maker?.id
    const taken =
      (yield* ranges.list()).some((range) => rangeIdKey(range.id) === key) ||
      (maker !== undefined && !maker.isAdmin && (yield* users.list).some(isOthers))
    if (taken) return yield* new RangeExists({ what: takenRangeId(id) })
    yield* parentAllows(wanted)
    yield* parentStays(id)
    if (yield* control.poolExists(id))
      return yield* refuse(id, "the hypervisor already has a pool with this name, and it is not ours")
  })
