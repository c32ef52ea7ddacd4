import { removeDatabase, restoreFrom } from "@rangewright/adapter-storage"
import { Conflict, installation } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { giveBackupOurKey } from "../compose/backup-key.ts"
import { type DataFolder, openDataFolder, rootKeyFile, shareDataFolder } from "../compose/data-folder.ts"
import { cryptoOf } from "../compose/installation-key.ts"
import { ensureRootKey } from "../compose/root-key.ts"
import type { Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"
import { databaseFile, withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** A backup does not know a migration that goes on now: its machines would be left half-way, and its record of the bridges lost. */
const requireNoMigration = Effect.gen(function* () {
  const run = yield* (yield* RunJournal).active(installation)
  if (run === undefined) return
  return yield* new Conflict({
    what: `Cannot restore a backup: run ${run.id} (${run.kind}) is changing the whole installation. Wait for its end, which GET /runs/${run.id} tells`,
  })
})

/** Puts ROOT's key into its file as far as the backup knows it. */
const putRootKeyBack = (config: Config, folder: DataFolder) =>
  Effect.provide(ensureRootKey(folder.path, { shared: false }), cryptoOf(config, folder))

/** The data folder with no service on it where its database is missing; else a service may be using it. */
const folderOf = (config: Config, bare: boolean): DataFolder => (bare ? openDataFolder : shareDataFolder)(config.data)

/** Makes the data what a backup holds, also while the service works, and where there are none. */
export const restore = async (args: Arguments): Promise<number> => {
  const source = resolve(args.file ?? "")
  const config = configOf(args)
  const file = databaseFile(config)
  const bare = file !== undefined && !existsSync(file)
  const folder = folderOf(config, bare)
  try {
    const rootKey = await withStore(
      config,
      requireNoMigration.pipe(
        Effect.andThen(restoreFrom(source, giveBackupOurKey(config, folder))),
        Effect.andThen(putRootKeyBack(config, folder)),
      ),
      { make: bare },
    )
    const ofRoot =
      rootKey === "unknown"
        ? ` ROOT's key is that of the backup: put it into ${rootKeyFile(folder.path)}, or make a new one with root-key.`
        : ""
    process.stdout.write(
      `The data is what ${source} holds. Machines that were made or removed since then differ from it: look at GET /range/drift, and deploy where it says so.${ofRoot} If networks were migrated since then, their way back is forgotten.\n`,
    )
    return 0
  } catch (error) {
    // a service must not take the empty one that was made for it
    if (bare) await removeDatabase(file)
    throw error
  } finally {
    folder.release()
  }
}
