/** A file or link of an installed thing. */
export type MemoryEntry =
  | { readonly kind: "file"; readonly bytes: Uint8Array; readonly executable: boolean }
  | { readonly kind: "link"; readonly target: string }

/** What is installed, by `<scope>/<kind>/<name>` and then by path, receipts too. The scope is `global`, or `user:<id>`. Tests may look at all. */
export interface MemoryLibrary {
  readonly artifacts: Map<string, ReadonlyMap<string, MemoryEntry>>
  /** Records of users who were removed. */
  readonly gone: Set<string>
}

export const makeMemoryLibrary = (): MemoryLibrary => ({ artifacts: new Map(), gone: new Set() })

/** The text of a file, where there is one. */
export const textIn = (files: ReadonlyMap<string, MemoryEntry>, path: string): string | undefined => {
  const entry = files.get(path)
  return entry?.kind === "file" ? new TextDecoder().decode(entry.bytes) : undefined
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at])

/** Whether two are the same, but for the named files. */
export const sameFiles = (
  a: ReadonlyMap<string, MemoryEntry>,
  b: ReadonlyMap<string, MemoryEntry>,
  but: ReadonlySet<string>,
): boolean => {
  const paths = [...new Set([...a.keys(), ...b.keys()])].filter((path) => !but.has(path))
  return paths.every((path) => {
    const [one, other] = [a.get(path), b.get(path)]
    if (one?.kind === "file" && other?.kind === "file")
      return one.executable === other.executable && sameBytes(one.bytes, other.bytes)
    return one?.kind === "link" && other?.kind === "link" && one.target === other.target
  })
}
