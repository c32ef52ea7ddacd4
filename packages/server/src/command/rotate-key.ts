import { KeyUnusable, loadKey, type MasterKey } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import { changeKey, type KeyChange, replaceLostKey } from "../compose/change-key.ts"
import { type DataFolder, holdUsedFolder, rootKeyFile } from "../compose/data-folder.ts"
import { formerKeyFile } from "../compose/key-files.ts"
import type { Config } from "../config/config.ts"
import { parseWords, UsageError } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { recorded } from "./recorded.ts"
import { configAt } from "./serve.ts"

const helpText = `Encrypt the secrets of the database with a new key

usage: npm start -- rotate-key [FILE] [options]

  FILE              the new key, 32 bytes as base64 or hex, in a file of mode 0600 (default: create one). Needed if the key comes from
                    secret_key: afterwards set that to the content of FILE

options:
  --lost            the old key is lost: continue without what it encrypted. All API keys stop working, ROOT gets a new one, and a copy
                    of the database is kept (with SQLite). A database of an older version is updated first
  --config FILE     configuration, YAML (default: RANGEWRIGHT_CONFIG, or ./rangewright.yml if it exists)
  --help, -h        this help

Stop the service first; with PostgreSQL, all of its instances. API keys stay valid; users of the web page have to sign in again. The
old key stays next to the new one in the data folder, as secret-key.<id>: older backups can only be restored while it is there.
If interrupted at any point, the installation works, and the command can be run again.
`

interface Options {
  readonly file: string | undefined
  readonly lost: boolean
  readonly config: string | undefined
}

const options = {
  lost: { type: "boolean", default: false },
  config: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const

/** Parses the words after `rotate-key`; undefined when help is requested. Fails with one clear line. */
const readOptions = (argv: readonly string[]): Options | undefined => {
  const { values, positionals } = parseWords(argv, options)
  const [file, ...rest] = positionals
  if (values.help) return undefined
  if (rest.length > 0) throw new UsageError(`rotate-key does not accept ${rest.join(" ")}`)
  if (values.lost && file !== undefined) throw new UsageError("rotate-key --lost does not accept a file")
  return { file, lost: values.lost, config: values.config }
}

const keyIn = (file: string): Effect.Effect<MasterKey, KeyUnusable> =>
  Effect.flatMap(loadKey(file), (key) =>
    key === undefined
      ? Effect.fail(
          new KeyUnusable({
            what: file,
            because: "there is no such file",
            hint: "Create a key with: umask 077; openssl rand -base64 32 > FILE",
          }),
        )
      : Effect.succeed(key),
  )

const plural = (count: number): string => `${count} secret${count === 1 ? "" : "s"}`

const told = (
  { keyId, formerId, sealed, left }: KeyChange,
  { lost, file }: Options,
  config: Config,
  folder: DataFolder,
): string => {
  const configure =
    config.secretKey === undefined || lost ? "" : ` Set secret_key to the content of ${file ?? ""} before the next start.`
  if (formerId === undefined && !lost) return `The database is already encrypted with the key ${keyId}.${configure}\n`
  if (lost)
    return `The database has the new key ${keyId}, and no secrets. ${rootKeyFile(folder.path)} has ROOT's new key. All other API keys have stopped working: give each user a new one. Passwords of users and access to private sources have to be set again; remove routers, and machines with generated logins, and deploy again.${config.databaseUrl === undefined ? ` before-${keyId}.db is the database as it was.` : ""}\n`
  const unopened = left.length === 0 ? "" : ` The old key could not decrypt ${left.join(", ")}; that is unchanged.`
  const former =
    config.secretKey === undefined
      ? ` The old one is ${formerKeyFile(folder, formerId ?? "")}: keep it as long as older backups, apart from them.`
      : " Keep the old one as long as older backups."
  return `${plural(sealed)} encrypted with the new key ${keyId}.${unopened}${former}${configure}\n`
}

/** Gives the installation a new key while no service uses it. */
export const rotateKey = async (argv: readonly string[]): Promise<number> => {
  const options = readOptions(argv)
  if (options === undefined) {
    process.stdout.write(helpText)
    return 0
  }
  const config = configAt(options.config)
  const folder = holdUsedFolder(config.data, "rotate the key")
  try {
    const { file } = options
    const change = options.lost
      ? replaceLostKey(config, folder)
      : Effect.flatMap(file === undefined ? Effect.undefined : keyIn(resolve(file)), (key) => changeKey(config, folder, key))
    // whoever only wants another key may want to go back to an older version; without the old key, no version can be started first
    const done = await withStore(config, recorded("rotate-key", change), { look: !options.lost })
    process.stdout.write(told(done, options, config, folder))
    return 0
  } finally {
    folder.release()
  }
}
