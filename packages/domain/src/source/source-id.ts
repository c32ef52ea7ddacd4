import type { UserId } from "../access/ids.ts"
import { isSourceId } from "./names.ts"
import type { SourceId } from "./source.ts"

/** The basis for a generated id: a repository's URL, the name of an uploaded file, or the path of a folder. */
export type IdBasis =
  | { readonly type: "git"; readonly url: string }
  | { readonly type: "upload" | "folder"; readonly name: string }

/**
 * The generated id of a source: `<user>-<organisation>-<repository>`, or `<user>-<file or folder>`. Undefined if nothing usable is left, or
 * it does not begin with a letter.
 */
export const deriveSourceId = (user: UserId, basis: IdBasis): SourceId | undefined => {
  const slug = slugOf(withoutEnding(basis.type === "git" ? repositoryName(basis.url) : lastPart(basis.name)))
  if (!isSourceId(slug)) return undefined
  const id = `${user}-${slug}`
  return isSourceId(id) ? id : undefined
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** `<organisation>-<repository>`, or only the repository if its URL names no organisation. */
const repositoryName = (url: string): string => {
  const parts = pathOf(trimEnd(url)).split("/")
  const [organisation = "", repository = ""] = parts.length === 1 ? ["", ...parts] : parts.slice(-2)
  return organisation === "" ? repository : `${organisation}-${repository}`
}

/** The part of a URL after its host, for `scheme://host/…` and `user@host:…`; the whole text in any other form. */
const pathOf = (url: string): string => {
  const scheme = url.indexOf("://")
  if (scheme !== -1) {
    const rest = url.slice(scheme + "://".length)
    return rest.slice(rest.indexOf("/") + 1)
  }
  return url.startsWith("/") ? url : url.slice(url.lastIndexOf(":") + 1)
}

const trimEnd = (text: string): string => {
  let end = text.length
  while (end > 0 && text[end - 1] === "/") end -= 1
  return text.slice(0, end)
}

const endings = [".tar.gz", ".tgz", ".zip", ".git"]

const withoutEnding = (name: string): string => {
  const ending = endings.find((candidate) => name.toLowerCase().endsWith(candidate))
  return ending === undefined ? name : name.slice(0, -ending.length)
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/gu, "-")
    .replace(/-{2,}/gu, "-")
    .replace(/^-|-$/gu, "")
