import { type Range, rangeSubject, type UserId } from "@rangewright/domain"
import { AccessRecords, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { updateRouters } from "../range/router-access.ts"

/** A range whose router lets others in than the store says. */
export interface StaleRouter {
  readonly range: Range
  readonly isRunning: boolean
  /** Numbers of users; `beingTold` among them: perhaps. */
  readonly letsIn: readonly number[]
  readonly shouldLetIn: readonly number[]
}

/** The ranges whose routers were told something else than what is stored now; one that is gone lets nobody in. Reads the store alone. */
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

/** Stale routers that run, by whether their range rests: the others have to wait for a run of it. */
export const runningStaleRouters = Effect.gen(function* () {
  const journal = yield* RunJournal
  const running = (yield* staleRouters).filter(({ isRunning }) => isRunning).map(({ range }) => range)
  const rest = yield* Effect.forEach(running, ({ id }) =>
    Effect.map(journal.active(rangeSubject(id)), (run) => run === undefined),
  )
  return { ready: running.filter((_, nth) => rest[nth]), busy: running.filter((_, nth) => !rest[nth]) }
})

/** Tells stale routers whom to let in, those that run and whose ranges rest; the others later. Returns those that could be told within this time. */
export const refreshRouters = (by: UserId, waitSeconds: number) =>
  Effect.gen(function* () {
    const { ready } = yield* runningStaleRouters
    return (yield* updateRouters({ doing: "update the access rules of routers", by }, ready, waitSeconds)).told
  })
