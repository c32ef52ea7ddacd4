import type { TarEntry } from "../../content/support/archives.ts"
import type { Files } from "../../library/entries.ts"

/** Files as entries of a tar, below a folder given as `name/`. */
export const tarEntriesOf = (files: Files, below: string): readonly TarEntry[] =>
  Object.entries(files).map(([path, content]) => {
    const name = `${below}${path}`
    if (typeof content === "string" || content instanceof Uint8Array) return { name, content }
    return "link" in content ? { name, type: "2", link: content.link } : { name, content: content.program, mode: 0o755 }
  })
