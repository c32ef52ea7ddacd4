import { restoreFrom } from "@rangewright/adapter-storage"
import { Conflict, installation } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import type { Arguments } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** A backup does not know a migration that goes on now: its machines would be left half-way, and its record of the bridges lost. */
const requireNoMigration = Effect.gen(function* () {
  const run = yield* (yield* RunJournal).active(installation)
  if (run === undefined) return
  return yield* new Conflict({
    what: `Cannot restore a backup: run ${run.id} (${run.kind}) is changing the whole installation. Wait for its end, which GET /runs/${run.id} tells`,
  })
})

/** Makes the data what a backup holds, also while the service works. */
export const restore = async (args: Arguments): Promise<number> => {
  const source = resolve(args.file ?? "")
  await withStore(configOf(args), Effect.andThen(requireNoMigration, restoreFrom(source)))
  process.stdout.write(
    `The data is what ${source} holds. Machines that were made or removed since then differ from it: look at GET /range/drift, and deploy where it says so. If ROOT's key was renewed since then, it is void: make one with root-key. If networks were migrated since then, their way back is forgotten.\n`,
  )
  return 0
}
