import { type Range, rangeSubject, type UserId } from "@rangewright/domain"
import { AccessRecords, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { updateRouters } from "../range/router-access.ts"

/** A range whose router lets in other users than the store says. */
export interface StaleRouter {
  readonly range: Range
  readonly isRunning: boolean
  /** Numbers of users; contains `beingTold` when this is uncertain. */
  readonly letsIn: readonly number[]
  readonly shouldLetIn: readonly number[]
}

/** The ranges whose routers were given other users than are stored now; a removed router lets nobody in. Reads only the store. */
export const staleRouters = Effect.gen(function* () {
  const ranges = yield* Ranges
  const records = yield* AccessRecords
  const told = yield* records.told
  const routers = (yield* ranges.overview({})).flatMap(({ range, machines }) => {
    const letsIn = told.get(range.id)
    const router = machines.find(({ isRouter }) => isRouter)
    return letsIn === undefined || router === undefined ? [] : [{ range, letsIn, isRunning: router.power === "running" }]
  })
  const all = yield* Effect.forEach(routers, (router) =>
    Effect.map(ranges.grants(router.range.id), (grants): StaleRouter => ({
      ...router,
      shouldLetIn: [...new Set(grants.map(({ userNumber }) => userNumber))].sort((a, b) => a - b),
    })),
  )
  return all.filter(({ letsIn, shouldLetIn }) => letsIn.join() !== shouldLetIn.join())
})

/** Stale routers that are on: `ready` ones whose range is at rest, and `busy` ones that have to wait for a run of their range. */
export const runningStaleRouters = Effect.gen(function* () {
  const journal = yield* RunJournal
  const running = (yield* staleRouters).filter(({ isRunning }) => isRunning).map(({ range }) => range)
  const rest = yield* Effect.forEach(running, ({ id }) =>
    Effect.map(journal.active(rangeSubject(id)), (run) => run === undefined),
  )
  return { ready: running.filter((_, nth) => rest[nth]), busy: running.filter((_, nth) => !rest[nth]) }
})

/**
 * Updates stale routers that are on and whose ranges are at rest; the others follow later. Returns those that were updated within this
 * time.
 */
export const refreshRouters = (by: UserId, waitSeconds: number) =>
  Effect.gen(function* () {
    const { ready } = yield* runningStaleRouters
    return (yield* updateRouters({ doing: "update the access rules of routers", by }, ready, waitSeconds)).told
  })
