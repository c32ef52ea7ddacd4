import type { HeaderList } from "../request-state.ts"

/** A file name that every header, shell and file system takes as it is. */
const plainName = (name: string): string => {
  const plain = name
    .replace(/[^A-Za-z0-9._-]+/gu, "-")
    .replace(/^[.-]+/u, "")
    .slice(0, 100)
  return plain === "" ? "file" : plain
}

/** Tells the client to save the answer, under this name as far as it is harmless. */
export const attachment = (name: string, ending: string): HeaderList => [
  "Content-Disposition",
  `attachment; filename="${plainName(name)}${ending}"`,
]
