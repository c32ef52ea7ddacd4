import { cryptoLayer, keyId, type MasterKey, secretStore } from "@rangewright/adapter-crypto"
import { Refusal } from "@rangewright/adapter-git"
import { checkBackup, fillFrom, releaseRuns, requireEmpty, storageLayer } from "@rangewright/adapter-storage"
import { Conflict } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { withStore } from "../command/open-store.ts"
import { recorded } from "../command/recorded.ts"
import { filesIn, type HeldFolder, markUsed } from "../compose/data-folder.ts"
import { formerKeyFile } from "../compose/key-files.ts"
import { giveTreeToOwnerOf } from "../compose/owner.ts"
import { ensureRootKey, type RootKeyState } from "../compose/root-key.ts"
import type { Config } from "../config/config.ts"
import { giveDatabaseOurKey, keyOfBackup, type KeysHere, keysHere, type KeyOptions } from "./keys.ts"
import { certificateContext } from "./make-backup.ts"
import type { BackupManifest } from "./manifest.ts"
import { databaseName, replacedFolders } from "./parts.ts"
import { beginBuilding, decideForBuilt, putInPlace, stopBuilding } from "./put-in-place.ts"
import { syncEverything } from "./sync.ts"
import { type BackupHead, kindOf, readHead, unpackBackup } from "./read-archive.ts"

/** Result of a restore. */
export interface RestoreDone {
  /** Undefined when it was only a copy of the database. */
  readonly manifest: BackupManifest | undefined
  readonly rootKey: RootKeyState
  /** The folder in the data folder that holds what was replaced, if anything was. */
  readonly aside: string | undefined
  /** The key that is in use now, and the backup's if it differs. */
  readonly keyId: string
  readonly formerKeyId: string | undefined
}

/** Not replaced when they exist: clients have pinned the certificate, and the subscription state is newer than the backup's. */
const staysInPlace = ["certificate.pem", "instance", "subscription"] as const

/** Disk overhead of a file: half a block, and its directory entry. */
const fileBytes = 4096
/** For the rest of the work, which includes migrating the database. */
const spareBytes = 64 * 1024 * 1024

const requireRoom = (data: string, bytes: number): void => {
  const { bavail, bsize } = statfsSync(data)
  const [free, needed] = [bavail * bsize, bytes + spareBytes]
  if (free < needed)
    throw new Conflict({
      what: `Cannot restore into ${data}: it takes ${needed} bytes, and ${free} are free there`,
      hint: "Free some space, or choose another data folder (data, RANGEWRIGHT_DATA).",
    })
}

/** Unpacks the backup's files unchanged into a folder of their own. */
const unpack = async (source: string, head: BackupHead | undefined, data: string): Promise<string> => {
  const bytes =
    head === undefined ? statSync(source).size : head.manifest.files.reduce((sum, { size }) => sum + size + fileBytes, 0)
  requireRoom(data, bytes)
  const fresh = beginBuilding(data)
  if (head === undefined) copyFileSync(source, join(fresh, databaseName))
  else {
    for (const folder of replacedFolders) mkdirSync(join(fresh, folder), { mode: 0o700 })
    await unpackBackup(source, head, fresh)
    for (const name of staysInPlace.filter((one) => existsSync(join(data, one))))
      rmSync(join(fresh, name), { recursive: true, force: true })
  }
  return fresh
}

/** Migrates the database, seals it with the key in use, and puts ROOT's key beside it. */
const prepareDatabase = (source: string, fresh: string, keys: KeysHere, head: BackupHead | undefined) =>
  Effect.gen(function* () {
    const file = join(fresh, databaseName)
    yield* checkBackup(file, source)
    const work = Effect.gen(function* () {
      yield* releaseRuns
      const found = yield* giveDatabaseOurKey(source, keys, head !== undefined && head.manifest.sealedKey !== null)
      const { key, hashKey } = found.now
      const rootKey = yield* Effect.provide(ensureRootKey(fresh, { shared: false }), cryptoLayer(key, hashKey))
      return { ...found, rootKey }
    })
    return yield* Effect.provide(recorded("restore", work), storageLayer({ file }))
  })

const writeSecret = (file: string, text: string): void => writeFileSync(file, text, { mode: 0o600, flag: "wx" })
const keyText = ({ bytes }: MasterKey): string => `${Buffer.from(bytes).toString("base64")}\n`

/**
 * Writes the key to its file when none is in use; otherwise keeps the backup's key beside the one in use, for other backups of that time.
 */
const placeKeys = (config: Config, data: string, fresh: string, keys: KeysHere, before: MasterKey): void => {
  if (config.secretKey !== undefined) return
  const name = keys.inUse === undefined ? "secret-key" : basename(formerKeyFile(filesIn(data), keyId(before)))
  if (keys.inUse !== undefined && keyId(keys.inUse) === keyId(before)) return
  if (!existsSync(join(data, name))) writeSecret(join(fresh, name), keyText(before))
}

const placeCertificate = (data: string, fresh: string, head: BackupHead | undefined, key: MasterKey) =>
  Effect.gen(function* () {
    const sealed = head?.manifest.sealedCertificate
    if (sealed === undefined || sealed === null || existsSync(filesIn(data).certificateFile)) return
    const text = yield* secretStore(key).open(sealed, certificateContext)
    yield* Effect.sync(() => writeSecret(filesIn(fresh).certificateFile, text))
  })

/** The commit: from here on the data folder holds the backup. On a database server, its rows are committed along with it. */
const decide = async (config: Config, data: string, fresh: string): Promise<string | undefined> => {
  if (config.databaseUrl === undefined) {
    decideForBuilt(data)
    return putInPlace(data)
  }
  const rows = join(dirname(fresh), databaseName)
  renameSync(join(fresh, databaseName), rows)
  // outside the transaction, which others would wait for
  syncEverything(data)
  let aside: string | undefined
  const place = Effect.sync(() => {
    decideForBuilt(data)
    aside ??= putInPlace(data)
  })
  await withStore(config, fillFrom(rows, place), { fill: true })
  return aside
}

/**
 * Replaces the contents of a data folder, held exclusively by this process, with a backup. Everything is checked and built on the side
 * before anything changes; if interrupted at any point, the folder holds either its old contents or all of the backup. What is replaced is
 * set aside.
 */
export const restoreInto = async (
  config: Config,
  { path: data }: HeldFolder,
  source: string,
  options: KeyOptions,
): Promise<RestoreDone> => {
  const kind = kindOf(source)
  if (kind === "other")
    throw new Refusal({ type: "archive", reason: "broken", rule: "backup", detail: "it is not a backup of this service" })
  const head = kind === "archive" ? await readHead(source) : undefined
  const keys = await Effect.runPromise(keysHere(config, filesIn(data), options, head))
  if (head !== undefined) await Effect.runPromise(keyOfBackup(source, head, keys))
  if (config.databaseUrl !== undefined) await withStore(config, requireEmpty, { fill: true })
  try {
    const fresh = await unpack(source, head, data)
    const { now, before, rootKey } = await Effect.runPromise(prepareDatabase(source, fresh, keys, head))
    placeKeys(config, data, fresh, keys, before)
    await Effect.runPromise(placeCertificate(data, fresh, head, before))
    markUsed(fresh)
    giveTreeToOwnerOf(data, relative(data, fresh))
    const aside = await decide(config, data, fresh)
    const formerKeyId = keyId(before) === keyId(now.key) ? undefined : keyId(before)
    return { manifest: head?.manifest, rootKey, aside, keyId: keyId(now.key), formerKeyId }
  } finally {
    stopBuilding(data)
  }
}
