import type { HeaderList } from "../request-state.ts"

/** A file name that is safe in every header, shell and file system. */
const plainName = (name: string): string => {
  const plain = name
    .replace(/[^A-Za-z0-9._-]+/gu, "-")
    .replace(/^[.-]+/u, "")
    .slice(0, 100)
  return plain === "" ? "file" : plain
}

/** Tells the client to save the answer, under a sanitised form of this name. */
export const attachment = (name: string, ending: string): HeaderList => [
  "Content-Disposition",
  `attachment; filename="${plainName(name)}${ending}"`,
]
