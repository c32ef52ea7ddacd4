import { isGitName, withoutTrailing } from "@rangewright/domain/tree"

/** Resource forks, Finder's files and Git's own folders: not content. */
const leftOut = (part: string): boolean => part.startsWith("._") || part === "__MACOSX" || part === ".DS_Store" || isGitName(part)

/** The path for a name in an archive; undefined when it is not content. Corrects nothing: a path that climbs stays as it is. */
export const entryPath = (name: string): string | undefined => {
  const path = withoutTrailing(name.replace(/^(?:\.\/+)+/u, ""), "/")
  if (name !== "" && (path === "" || path === ".")) return undefined
  return path.split("/").some(leftOut) ? undefined : path
}

export const setIdBits = 0o6000
/** Any of the bits that make a file executable. */
export const executableBits = 0o111
