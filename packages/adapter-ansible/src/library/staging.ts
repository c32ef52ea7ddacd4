import { artifactKinds, isArtifactName, isUserId } from "@rangewright/domain"
import type { ArtifactRef, LibraryScope } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { artifactParts, look, makeRealFolder } from "./layout.ts"

const stagingFolder = ".staging"
/** The parts of a work folder: the new files, the old copy, and the intent. */
const [newTree, oldTree, intentFile] = ["tree", "old", "intent.json"]

const Intent = Schema.Struct({
  scope: Schema.Union([
    Schema.Struct({ type: Schema.Literal("global") }),
    Schema.Struct({ type: Schema.Literal("user"), userId: Schema.String }),
  ]),
  kind: Schema.Literals(artifactKinds),
  name: Schema.String,
})
const decodeIntent = Schema.decodeUnknownSync(Schema.fromJsonString(Intent))

const scopeOf = (scope: typeof Intent.Type.scope): LibraryScope | undefined => {
  if (scope.type === "global") return scope
  return isUserId(scope.userId) ? { type: "user", userId: scope.userId } : undefined
}

/** What a killed process was about to put in place; undefined unless the intent was written completely. */
const readIntent = async (work: string): Promise<ArtifactRef | undefined> => {
  try {
    const { scope: given, kind, name } = decodeIntent(await readFile(join(work, intentFile), "utf8"))
    const scope = scopeOf(given)
    return scope !== undefined && isArtifactName(kind, name) ? { scope, kind, name } : undefined
  } catch {
    return undefined
  }
}

/** Creates the library's folder, and either undoes or completes the interrupted work of a killed process. */
export const openLibrary = async (root: string): Promise<void> => {
  const staging = join(root, stagingFolder)
  await mkdir(staging, { recursive: true, mode: 0o700 })
  for (const name of await readdir(staging)) {
    const work = join(staging, name)
    const intended = await readIntent(work)
    if (intended !== undefined) {
      const target = join(root, ...artifactParts(intended))
      const complete = (await look(join(work, newTree)))?.isDirectory() === true
      if (complete && (await look(target)) === undefined) await rename(join(work, newTree), target)
    }
    await rm(work, { recursive: true, force: true })
  }
}

/** Creates a work folder for one operation; those that were never removed are swept when the library is opened. */
export const makeWork = (root: string): Promise<string> => mkdtemp(join(root, stagingFolder, "work-"))
export const removeWork = (work: string): Promise<void> => rm(work, { recursive: true, force: true, maxRetries: 5 })

/** Writes a new file durably into the work folder. */
export const stageFile = async (work: string, path: string, bytes: Uint8Array, executable: boolean): Promise<void> => {
  const target = join(work, newTree, path)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, bytes, { flag: "wx", mode: executable ? 0o755 : 0o644, flush: true })
}

/** Links come after all files, so that no file can be written through one. */
export const stageLink = async (work: string, path: string, target: string): Promise<void> => {
  const link = join(work, newTree, path)
  await mkdir(dirname(link), { recursive: true })
  await symlink(target, link)
}

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Puts the staged tree in its place, atomically for anybody who starts later. The intent is on disk before the old copy moves away, so the
 * next process to open the library after a crash between the two renames completes the operation.
 */
export const putInPlace = async (doing: string, root: string, work: string, artifact: ArtifactRef): Promise<void> => {
  const parts = artifactParts(artifact)
  const parent = await makeRealFolder(doing, root, parts.slice(0, -1))
  const target = join(root, ...parts)
  for (const entry of await readdir(join(work, newTree), { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name))
  await syncFolder(join(work, newTree))
  if ((await look(target)) !== undefined) {
    await writeFile(join(work, intentFile), JSON.stringify(artifact), { flag: "wx", flush: true })
    await syncFolder(work)
    await rename(target, join(work, oldTree))
  }
  await rename(join(work, newTree), target)
  await syncFolder(parent)
}

/** Replaces one file of an artifact. */
export const replaceFile = async (work: string, target: string, text: string): Promise<void> => {
  const fresh = join(work, "file")
  await writeFile(fresh, text, { flush: true })
  await rename(fresh, target)
}

/** Removes an artifact from the library atomically; its files are deleted with the work folder. */
export const takeAway = async (work: string, target: string): Promise<void> => {
  await rename(target, join(work, oldTree))
  await syncFolder(dirname(target))
}

/** Moves an artifact to a scope that does not have it. */
export const moveTo = async (doing: string, root: string, from: ArtifactRef, to: ArtifactRef): Promise<void> => {
  const [source, parts] = [join(root, ...artifactParts(from)), artifactParts(to)]
  const parent = await makeRealFolder(doing, root, parts.slice(0, -1))
  await rename(source, join(root, ...parts))
  for (const folder of [parent, dirname(source)]) await syncFolder(folder)
}
