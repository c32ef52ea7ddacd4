import { isAway } from "../rights/in-line.ts"
import { HypervisorTemplates, RunJournal, TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { templateBuildName } from "../template/build-run.ts"

/** Seconds between two looks. */
const lookEverySeconds = 60

/**
 * Removes what builds have left on the hypervisor whose end could not: of runs that this store knows, and that have ended. What other services build
 * there is left alone.
 */
export const keepBuilds = Effect.gen(function* () {
  const templates = yield* HypervisorTemplates
  const journal = yield* RunJournal
  const builder = yield* TemplateBuilder
  for (const id of yield* templates.opened) {
    const run = yield* journal.find(id)
    if (run?.kind !== templateBuildName || run.endedAt === undefined) continue
    yield* Effect.andThen(builder.clear(id), templates.close(id)).pipe(
      Effect.andThen(Effect.logInfo(`Removed what build ${id} of ${run.subject.id} had left`)),
      // one that cannot be removed keeps no other
      Effect.catch((fault) => Effect.logWarning(fault.message)),
    )
  }
})

/** Does so for ever; a hypervisor that is unreachable is no news here. */
export const buildKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const look = keepBuilds.pipe(Effect.catch((fault) => (isAway(fault) ? Effect.void : Effect.logWarning(fault.message))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(look, Effect.sleep(lookEverySeconds * 1000))))
  }),
)
