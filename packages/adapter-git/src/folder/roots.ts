import { realpath } from "node:fs/promises"
import { isAbsolute, relative, sep } from "node:path"

/** Whether `inner` is `outer` or below it. Both are real paths. */
export const isInside = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Whether this real path is inside one of the allowed folders. A missing folder allows nothing. */
export const insideOneOf = async (folders: readonly string[], path: string): Promise<boolean> => {
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    if (root !== undefined && isInside(root, path)) return true
  }
  return false
}
