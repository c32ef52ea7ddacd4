import { realpath } from "node:fs/promises"
import { isAbsolute, relative, sep } from "node:path"

/** True where `inner` is `outer` or below it. Both are real paths. */
export const isInside = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Is this real path inside one of the allowed folders? A folder that is not there allows nothing. */
export const insideOneOf = async (folders: readonly string[], path: string): Promise<boolean> => {
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    if (root !== undefined && isInside(root, path)) return true
  }
  return false
}
