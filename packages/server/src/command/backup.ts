import * as Effect from "effect/Effect"
import { join, resolve } from "node:path"
import { failed } from "../backup/failed.ts"
import { readPassphrase } from "../backup/keys.ts"
import { makeBackup } from "../backup/make-backup.ts"
import { type BackupManifest, contentsOf } from "../backup/manifest.ts"
import { shareDataFolder } from "../compose/data-folder.ts"
import type { Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"
import { configOf } from "./serve.ts"

/** What must be kept besides the backup, and where it is now. */
const ofKey = ({ keyId, sealedKey }: BackupManifest, config: Config): string => {
  if (sealedKey !== null) return `the passphrase for the key ${keyId} in it`
  const where = config.secretKey === undefined ? join(resolve(config.data), "secret-key") : "secret_key"
  return `the key ${keyId}, without which it cannot be restored: keep a copy of ${where} apart from the backups (it stays the same until rotate-key), or include it, encrypted, with --key-passphrase`
}

/** Writes everything the service keeps into one file, even while it runs, and reports what is not included. */
export const backup = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const target = resolve(args.file ?? "")
  const passphrase = args.keyPassphrase === undefined ? undefined : await Effect.runPromise(readPassphrase(args.keyPassphrase))
  const { bytes, manifest } = await makeBackup(config, shareDataFolder(config.data), target, passphrase).catch(
    (cause: unknown) => {
      throw failed(`back up to ${target}`, cause)
    },
  )
  process.stdout.write(
    [
      `${target} written, ${bytes} bytes: ${contentsOf(manifest)}.`,
      "Not in it:",
      ...[ofKey(manifest, config), ...manifest.notIncluded].map((what) => `- ${what}`),
      "",
    ].join("\n"),
  )
  return 0
}
