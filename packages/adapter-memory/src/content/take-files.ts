import { byPath, defaultTreeLimits, type TreeEntry, treeIntake, wrappingFolder } from "@rangewright/domain"
import { treeFault } from "@rangewright/ports"
import type { MemoryFile, MemoryFiles } from "./memory-content.ts"

export interface TakenFiles {
  readonly files: readonly TreeEntry[]
  readonly bytes: ReadonlyMap<string, Uint8Array>
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const bytesOf = (content: Exclude<MemoryFile, { readonly link: string }>): Uint8Array => {
  if (content instanceof Uint8Array) return content
  return encode(typeof content === "string" ? content : content.program)
}

const entryOf = (path: string, content: MemoryFile): TreeEntry => {
  if (typeof content === "object" && "link" in content) return { kind: "link", path, target: content.link }
  const executable = typeof content === "object" && "program" in content
  return { kind: "file", path, size: bytesOf(content).length, executable }
}

/** Accepts files by the rules of every tree; throws the fault for files that are not allowed. */
export const takeFiles = (doing: string, given: MemoryFiles, unwrap?: { readonly keep: readonly string[] }): TakenFiles => {
  const root = unwrap === undefined ? undefined : wrappingFolder(Object.keys(given), unwrap.keep)
  const inner = (path: string) => (root === undefined ? path : path.slice(root.length + 1))
  const intake = treeIntake(defaultTreeLimits)
  const bytes = new Map<string, Uint8Array>()
  const files: TreeEntry[] = []
  for (const [path, content] of Object.entries(given)) {
    const entry = entryOf(path, content)
    const problem = intake.admit(entry) ?? (entry.kind === "file" ? intake.count(path, entry.size, entry.size) : undefined)
    if (problem !== undefined) throw treeFault(doing, problem)
    files.push({ ...entry, path: inner(path) })
    if (!(typeof content === "object" && "link" in content)) bytes.set(inner(path), bytesOf(content))
  }
  const problem = intake.finish(root)
  if (problem !== undefined) throw treeFault(doing, problem)
  return { files: files.toSorted(byPath), bytes }
}

const hex = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("")

/** SHA-256 of everything in the tree. */
export const digestOf = async ({ files, bytes }: TakenFiles): Promise<string> => {
  const lines = files.map((entry) => JSON.stringify([entry, [...(bytes.get(entry.path) ?? [])]]))
  return hex(await crypto.subtle.digest("SHA-256", new Uint8Array(encode(lines.join("\n")))))
}
