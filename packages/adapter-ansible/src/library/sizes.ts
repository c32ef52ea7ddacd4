import { treeBytes } from "@rangewright/domain"
import type { ArtifactSize, LibraryScope } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { type ArtifactFolder, artifactFolders } from "./artifact-folders.ts"
import { look, scopeFolder } from "./layout.ts"
import { makeWork, removeWork, replaceFile } from "./staging.ts"
import { NotATree, walk } from "./walk.ts"

const Counted = Schema.Record(Schema.String, Schema.Struct({ identity: Schema.String, bytes: Schema.Number }))
type Counted = typeof Counted.Type
const decodeCounted = Schema.decodeUnknownSync(Schema.fromJsonString(Counted))

/** Cached sizes, stored in the scope's folder so that they are deleted with its user. */
const countedFile = (root: string, scope: LibraryScope): string => join(scopeFolder(root, scope), "sizes.json")

const readCounted = async (file: string): Promise<Counted> => {
  try {
    return decodeCounted(await readFile(file, "utf8"))
  } catch {
    return {}
  }
}

/** Copies are put in place as whole folders, so a new copy has a new identity. */
const identityOf = async (folder: string): Promise<string | undefined> => {
  const stat = await look(folder)
  return stat === undefined ? undefined : `${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}`
}

/**
 * A folder that disappears meanwhile has size zero, as has one that is not a valid tree, which only people with write access here can
 * cause.
 */
const count = (folder: string): Promise<number> =>
  walk(folder).then(treeBytes, (cause: NodeJS.ErrnoException) => {
    if (cause instanceof NotATree || cause.code === "ENOENT") return 0
    throw cause
  })

const keyOf = ({ kind, name }: ArtifactFolder): string => `${kind} ${name}`

/** The artifacts of a scope with their sizes. Only new ones are measured, even after a restart. */
export const artifactSizes = async (root: string, scope: LibraryScope): Promise<readonly ArtifactSize[]> => {
  const file = countedFile(root, scope)
  const before = await readCounted(file)
  const after: Record<string, Counted[string]> = {}
  const sizes: ArtifactSize[] = []
  let isNews = false
  for (const there of await artifactFolders(root, scope)) {
    const { kind, name, folder } = there
    const identity = await identityOf(folder)
    if (identity === undefined) continue
    const known = before[keyOf(there)]
    const isKnown = known?.identity === identity
    const bytes = isKnown ? known.bytes : await count(folder)
    sizes.push({ kind, name, bytes })
    if (!isKnown) isNews = true
    // one that was replaced meanwhile is measured again the next time
    if (isKnown || (await identityOf(folder)) === identity) after[keyOf(there)] = { identity, bytes }
  }
  if (isNews) await remember(root, file, after)
  return sizes
}

/** Failure to write the cache is ignored: everything is then measured again. */
const remember = async (root: string, file: string, counted: Counted): Promise<void> => {
  try {
    const work = await makeWork(root)
    try {
      await replaceFile(work, file, JSON.stringify(counted))
    } finally {
      await removeWork(work)
    }
  } catch {
    // retried the next time
  }
}
