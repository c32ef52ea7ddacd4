import { isAway } from "../rights/in-line.ts"
import { HypervisorTemplates, RunJournal, TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { templateBuildName } from "../template/build-run.ts"

/** Seconds between two checks. */
const lookEverySeconds = 60

/**
 * Removes what builds left on the hypervisor and could not clean up at their end. Only for ended runs that this store knows: what other
 * services build there is left alone.
 */
export const keepBuilds = Effect.gen(function* () {
  const templates = yield* HypervisorTemplates
  const journal = yield* RunJournal
  const builder = yield* TemplateBuilder
  for (const id of yield* templates.opened) {
    const run = yield* journal.find(id)
    if (run?.kind !== templateBuildName || run.endedAt === undefined) continue
    yield* Effect.andThen(builder.clear(id), templates.close(id)).pipe(
      Effect.andThen(Effect.logInfo(`Removed what build ${id} of ${run.subject.id} had left behind`)),
      // a failure for one must not affect the others
      Effect.catch((fault) => Effect.logWarning(fault.message)),
    )
  }
})

/** Repeats this forever; does not log an unreachable hypervisor. */
export const buildKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const look = keepBuilds.pipe(Effect.catch((fault) => (isAway(fault) ? Effect.void : Effect.logWarning(fault.message))))
    yield* Effect.forkScoped(
      Effect.forever(Effect.andThen(Effect.ignoreCause(look, { log: "Warn" }), Effect.sleep(lookEverySeconds * 1000))),
    )
  }),
)
