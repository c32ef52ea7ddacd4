import { keyId, type MasterKey, markOf, secretStore, sealWithPassphrase } from "@rangewright/adapter-crypto"
import { backupTo, publishFile, snapshotsInUse, storageLayer } from "@rangewright/adapter-storage"
import { Conflict, type Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { DataFolder } from "../compose/data-folder.ts"
import type { Config } from "../config/config.ts"
import { withStore } from "../command/open-store.ts"
import { version } from "../version.ts"
import { keyOfCopy } from "./keys.ts"
import { leftOut } from "./left-out.ts"
import { withScratch } from "./scratch.ts"
import { syncFolder } from "./sync.ts"
import type { BackupManifest } from "./manifest.ts"
import { mirrorOf } from "./mirror.ts"
import { databaseName, isLeftOut, keptFiles, keptFolders, staysInCopy } from "./parts.ts"
import { fileToKeep, type Tree, treeToKeep, writeArchive } from "./write-archive.ts"

/** How many copies of the database to try until nothing else changes during one. */
const mostRounds = 6

/** Context that the sealed certificate is bound to. Part of the format. */
export const certificateContext = "certificate in a backup"

export interface BackupDone {
  readonly bytes: number
  readonly manifest: BackupManifest
}

/**
 * Copies the database and mirrors the folders consistently: content is stored before the row that names it and deleted after it, so what is
 * mirrored before and after the copy includes everything that the copy names.
 */
const copyTogether = async (config: Config, data: string, mirror: string, scratch: string): Promise<string> => {
  const rules = { isLeftOut, stays: staysInCopy }
  const view = mirrorOf(data, mirror, keptFolders, rules)
  view.refresh()
  for (let round = 1; ; round++) {
    const copy = join(scratch, `${round}.db`)
    // an older version may be using the database, and only that version could restore the backup
    await withStore(config, backupTo(copy), { look: true })
    if (view.refresh() === 0 || round === mostRounds) {
      mirrorOf(data, mirror, keptFiles, rules).refresh()
      return copy
    }
    rmSync(copy)
  }
}

/** Checks the copy: which key opens it, and which snapshots it needs that are missing. */
const lookInto = (config: Config, folder: DataFolder, copy: string, mirror: string) =>
  Effect.gen(function* () {
    const key = yield* keyOfCopy(config, folder)
    const missing = [...(yield* snapshotsInUse)].filter((id) => !existsSync(join(mirror, "content/snapshots", id)))
    return { key, missing }
  }).pipe(Effect.provide(storageLayer({ file: copy })))

const treeOf = (mirror: string, copy: string): Tree => {
  const { files, links } = treeToKeep(mirror)
  return { files: [fileToKeep(copy, databaseName), ...files], links }
}

const sealedCertificate = ({ certificateFile }: DataFolder, key: MasterKey): string | null =>
  existsSync(certificateFile) ? secretStore(key).seal(readFileSync(certificateFile, "utf8"), certificateContext) : null

/**
 * Writes everything that the service of this data folder keeps into one new file, even while it runs. The file is either complete or
 * absent, and readable by its owner only. With a passphrase it includes the key, sealed; otherwise the key is left out.
 */
export const makeBackup = async (
  config: Config,
  folder: DataFolder,
  target: string,
  passphrase: string | undefined,
): Promise<BackupDone> => {
  const isFolder = statSync(target, { throwIfNoEntry: false })?.isDirectory() === true
  const exists: Fault = new Conflict({
    what: `Cannot back up to ${target}: ${isFolder ? "it is a folder" : "the file exists"}`,
    hint: isFolder ? `Name a new file, such as ${join(target, "rangewright.tar.gz")}.` : "Name a new file, or remove that one.",
  })
  if (existsSync(target)) throw exists
  return withScratch([join(folder.path, "backup"), target], async ([mirror = "", scratch = ""]) => {
    const copy = await copyTogether(config, folder.path, mirror, scratch)
    const { key, missing } = await Effect.runPromise(lookInto(config, folder, copy, mirror))
    const tree = treeOf(mirror, copy)
    const sealedKey =
      passphrase === undefined
        ? null
        : await Effect.runPromise(sealWithPassphrase(passphrase, Buffer.from(key.bytes).toString("base64")))
    const manifest: BackupManifest = {
      format: "rangewright-backup",
      version: 1,
      madeAt: new Date().toISOString(),
      madeBy: version,
      keyId: keyId(key),
      sealedKey,
      sealedCertificate: sealedCertificate(folder, key),
      engine: config.databaseUrl === undefined ? "sqlite" : "postgresql",
      notIncluded: leftOut(config, folder.path, missing),
      files: tree.files.map(({ path, size, sha256, mode }) => ({ path, size, sha256, mode })),
      links: tree.links,
    }
    const text = JSON.stringify(manifest)
    const archive = join(scratch, basename(target))
    await writeArchive(archive, text, markOf(key, text), tree)
    if (!(await publishFile(archive, target))) throw exists
    syncFolder(dirname(target))
    return { bytes: statSync(target).size, manifest }
  })
}
