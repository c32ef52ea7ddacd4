/** A file or link of an installed artifact. */
export type MemoryEntry =
  | { readonly kind: "file"; readonly bytes: Uint8Array; readonly executable: boolean }
  | { readonly kind: "link"; readonly target: string }

/**
 * Installed artifacts, by `<scope>/<kind>/<name>` and then by path, including receipts. The scope is `global`, or `user:<id>`. Tests may
 * inspect everything.
 */
export interface MemoryLibrary {
  readonly artifacts: Map<string, ReadonlyMap<string, MemoryEntry>>
  /** Record ids of removed users. */
  readonly gone: Set<string>
}

export const makeMemoryLibrary = (): MemoryLibrary => ({ artifacts: new Map(), gone: new Set() })

/** The text of a file, if it exists. */
export const textIn = (files: ReadonlyMap<string, MemoryEntry>, path: string): string | undefined => {
  const entry = files.get(path)
  return entry?.kind === "file" ? new TextDecoder().decode(entry.bytes) : undefined
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at])

/** Whether two are the same, apart from the named files. */
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
