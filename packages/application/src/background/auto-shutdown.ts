import {
  enterpriseEntitlement,
  entitles,
  installation,
  isFault,
  parseDuration,
  type Range,
  rangeSubject,
  rootUserId,
} from "@rangewright/domain"
import { Hypervisor, LicenseProvider, type RangeMachine, Ranges, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Activity } from "../activity.ts"
import { RunEngine } from "@rangewright/run-engine"
import { rangeRequest } from "../run/request.ts"
import { Settings } from "../settings.ts"

/** Seconds between two looks at all ranges. */
const lookEverySeconds = 300

/** When a range was last used or changed, in milliseconds. */
const lastUse = (range: Range, stamped: Date | undefined, lastRunEnd: Date | undefined): number =>
  Math.max(...[range.createdAt, range.lastActiveAt, range.lastDeploymentAt, stamped, lastRunEnd].map((at) => at?.getTime() ?? 0))

/** Makes one look at all ranges: those that run, were idle for their time and have nobody logged in are shut down by a run. */
export const makeAutoShutdown = Effect.gen(function* () {
  const activity = yield* Activity
  const engine = yield* RunEngine
  const hypervisor = yield* Hypervisor
  const journal = yield* RunJournal
  const license = yield* LicenseProvider
  const ranges = yield* Ranges
  const { inactivityShutdown } = yield* Settings

  /** True when somebody has a session. A guest that cannot be asked counts as used: nothing is switched off on a guess. */
  const isUsed = ({ node, vmid }: RangeMachine) =>
    hypervisor.sessions(node, vmid).pipe(
      Effect.map((sessions) => sessions !== undefined && sessions.length > 0),
      Effect.orElseSucceed(() => true),
    )

  const look = Effect.fnUntraced(function* (range: Range, machines: readonly RangeMachine[]) {
    const limit = parseDuration(range.autoShutdown ?? inactivityShutdown) ?? 0
    const running = machines.filter(({ power }) => power === "running")
    if (limit === 0 || running.length === 0) return
    const [lastRun] = yield* journal.list({ subject: rangeSubject(range.id), limit: 1 })
    if (lastRun?.status === "running") return
    const used = lastUse(range, activity.lastOfRange(range.id), lastRun?.endedAt)
    if ((yield* Clock.currentTimeMillis) - used < limit) return
    for (const machine of running) if (yield* isUsed(machine)) return
    yield* Effect.logInfo(`range ${range.id} is idle and is being shut down`)
    yield* engine.start(rangeRequest(range, { kind: "auto-shutdown" }), rootUserId)
  })

  return Effect.gen(function* () {
    if (!entitles(yield* license.current, enterpriseEntitlement)) return
    // a shutdown that had to wait could meet people who have come back meanwhile
    if ((yield* journal.active(installation)) !== undefined) return
    for (const { range, machines } of yield* ranges.overview({}))
      yield* look(range, machines).pipe(
        // one range that cannot be shut down now keeps no other from it
        Effect.catch((fault) => Effect.logWarning(isFault(fault) ? fault.message : fault)),
      )
  })
})

/** Looks for idle ranges for ever. */
export const autoShutdownLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const look = yield* makeAutoShutdown
    const step = Effect.andThen(Effect.sleep(lookEverySeconds * 1000), Effect.ignore(look, { log: "Warn" }))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
