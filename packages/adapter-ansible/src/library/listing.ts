import {
  type InstalledCopy,
  installedVersion,
  longestText,
  readTemplateReceipt,
  roleMetadataFiles,
  type TemplateDefinition,
  templateReceiptFile,
  versionFiles,
} from "@rangewright/domain"
import type { LibraryScope, ScopeListing } from "@rangewright/ports"
import { join } from "node:path"
import { artifactFolders } from "./artifact-folders.ts"
import { look, scopeFolder } from "./layout.ts"
import { readPlainFile } from "./walk.ts"

/** What a file contained when it was read; valid while its identity is the same. */
interface Known {
  readonly identity: string
  /** Its version, or a template's whole manifest. */
  readonly told: string | undefined
}

/** Facts from the previous listing of the scope, and those of the current one. */
interface Memory {
  readonly before: ReadonlyMap<string, Known>
  readonly after: Map<string, Known>
}

/** The text of a file; undefined when it cannot be read. */
const readTold = async (path: string, file: string): Promise<string | undefined> => {
  const bytes = await readPlainFile(path, longestText).catch(() => undefined)
  const text = bytes === undefined ? undefined : new TextDecoder().decode(bytes)
  return text === undefined || file === templateReceiptFile ? text : installedVersion(file, text)
}

/**
 * Lists scopes as they currently are on disk, including manual changes. The content of a version file is cached as long as the file is
 * unchanged, so a listing checks files but rarely reads one.
 */
export const libraryListing = (root: string): ((scope: LibraryScope) => Promise<ScopeListing>) => {
  const memories = new Map<string, ReadonlyMap<string, Known>>()

  const toldIn = async (memory: Memory, folder: string, files: readonly string[]): Promise<Known | undefined> => {
    for (const file of files) {
      const path = join(folder, file)
      const stat = await look(path)
      if (stat?.isFile() !== true) continue
      const identity = `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
      const before = memory.before.get(path)
      const known = before?.identity === identity ? before : { identity, told: await readTold(path, file) }
      memory.after.set(path, known)
      return known
    }
    return undefined
  }

  const copyOf = async (
    memory: Memory,
    kind: "role" | "collection",
    scope: LibraryScope,
    name: string,
    folder: string,
  ): Promise<InstalledCopy | undefined> => {
    const found = await toldIn(memory, folder, versionFiles[kind])
    const there = kind === "role" ? await hasMetadata(folder) : found !== undefined
    if (!there) return undefined
    return { name, scope: scope.type, ...(found?.told === undefined ? {} : { version: found.told }) }
  }

  const copies = async (found: readonly Promise<InstalledCopy | undefined>[]): Promise<readonly InstalledCopy[]> =>
    (await Promise.all(found)).filter((copy) => copy !== undefined).toSorted((a, b) => (a.name < b.name ? -1 : 1))

  const definitionOf = async (memory: Memory, folder: string, name: string): Promise<TemplateDefinition> => ({
    name,
    ...readTemplateReceipt((await toldIn(memory, folder, [templateReceiptFile]))?.told),
  })

  return async (scope) => {
    const folder = scopeFolder(root, scope)
    const memory: Memory = { before: memories.get(folder) ?? new Map(), after: new Map() }
    memories.set(folder, memory.after)
    const there = await artifactFolders(root, scope)
    const ofKind = (kind: "template" | "role" | "collection") => there.filter((one) => one.kind === kind)
    return {
      templates: await Promise.all(
        ofKind("template")
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name, folder }) => definitionOf(memory, folder, name)),
      ),
      roles: await copies(ofKind("role").map(({ name, folder }) => copyOf(memory, "role", scope, name, folder))),
      collections: await copies(
        ofKind("collection").map(({ name, folder }) => copyOf(memory, "collection", scope, name, folder)),
      ),
    }
  }
}

const hasMetadata = async (folder: string): Promise<boolean> => {
  for (const file of roleMetadataFiles) {
    const stat = await look(join(folder, file))
    if (stat?.isFile() === true || stat?.isSymbolicLink() === true) return true
  }
  return false
}
