import { installationRunIn } from "@rangewright/adapter-storage"
import { Conflict, type Fault } from "@rangewright/domain"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { failed } from "../backup/failed.ts"
import { contentsOf } from "../backup/manifest.ts"
import { kindOf } from "../backup/read-archive.ts"
import { type RestoreDone, restoreInto } from "../backup/restore-into.ts"
import { filesIn, type HeldFolder, holdFolder, isUsed, rootKeyFile } from "../compose/data-folder.ts"
import type { Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"
import { configOf } from "./serve.ts"

/** A backup knows nothing of a migration in progress: its machines would be left half-way, and its record of the bridges lost. */
const requireNoMigration = (file: string): void => {
  const run = installationRunIn(file)
  if (run === undefined) return
  throw new Conflict({
    what: `Cannot restore a backup: run ${run.id} (${run.kind}) is changing the whole installation`,
    hint: `Start the service and wait until the run ends (GET /runs/${run.id}).`,
  })
}

/** The contents of a database grant rights, so an unmarked copy must be confirmed. */
const requireMarked = (source: string, { unmarkedDatabase }: Arguments): void => {
  if (unmarkedDatabase || kindOf(source) !== "database") return
  throw new Conflict({
    what: `Cannot restore ${source}: it is a plain database without an authentication code, and nothing shows that it is unchanged`,
    hint: "If you trust its origin, repeat with --unmarked-database.",
  })
}

/** Refuses to replace existing data without --replace, or a database in the middle of a migration; an unreadable one may be replaced. */
const requireFree = (config: Config, { path }: HeldFolder, replace: boolean): void => {
  const { database } = filesIn(path)
  if (!isUsed(path) && !existsSync(database)) return
  if (!replace)
    throw new Conflict({
      what: `Cannot restore into the data folder ${path}: it is in use`,
      hint: "Choose an empty one (data, RANGEWRIGHT_DATA), or repeat with --replace, which sets aside the content of this one.",
    }) satisfies Fault
  // set aside as it is: opening the store would migrate the database of an older version
  if (config.databaseUrl === undefined) requireNoMigration(database)
}

const linesOf = (done: RestoreDone, data: string, source: string): readonly string[] => {
  const { manifest, aside, keyId, formerKeyId, rootKey } = done
  const made = manifest === undefined ? "" : `, made at ${manifest.madeAt} by version ${manifest.madeBy}`
  return [
    `Restored ${source}${made} into the data folder ${data}: ${manifest === undefined ? "the database" : contentsOf(manifest)}.`,
    ...(aside === undefined ? [] : [`What it replaced is in ${join(data, aside)}.`]),
    ...(formerKeyId === undefined
      ? []
      : [
          `It was encrypted with the key ${formerKeyId}; it is now encrypted with the current key ${keyId}. Roles have to set their facts again.`,
        ]),
    rootKey === "unknown"
      ? `ROOT's key is that of the backup, which does not contain it: put it into ${rootKeyFile(data)}, or create a new one with root-key.`
      : `ROOT's key is in ${rootKeyFile(data)}.`,
    "Not in it:",
    ...(manifest === undefined
      ? [
          "content of sources and blueprints, installed roles, collections and templates, the certificate: it is only a copy of the database, as earlier versions made them. Copy content and library into the data folder yourself; sources are fetched again when they are used, but uploads have to be uploaded again",
          "the configuration, with the token of the hypervisor",
        ]
      : manifest.notIncluded
    ).map((what) => `- ${what}`),
    "Then start the service. Machines that were created or removed since the backup differ from it: check GET /range/drift, and deploy where it shows differences. If networks were migrated since then, they can no longer be rolled back.",
    "",
  ]
}

/** Restores a backup into the data folder, and reports what it does not include. */
export const restore = async (args: Arguments): Promise<number> => {
  const source = resolve(args.file ?? "")
  const config = configOf(args)
  if (!existsSync(source)) throw new Conflict({ what: `Cannot restore ${source}: there is no such file` })
  try {
    requireMarked(source, args)
  } catch (cause) {
    throw failed(`restore ${source}`, cause)
  }
  const folder = holdFolder(config.data, `restore ${source}`)
  try {
    requireFree(config, folder, args.replace)
    const done = await restoreInto(config, folder, source, {
      secretKey: args.secretKey === undefined ? undefined : resolve(args.secretKey),
      keyPassphrase: args.keyPassphrase,
    })
    process.stdout.write(linesOf(done, folder.path, source).join("\n"))
    return 0
  } catch (cause) {
    throw failed(`restore ${source}`, cause)
  } finally {
    folder.release()
  }
}
