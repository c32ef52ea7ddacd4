/**
 * Valid names of items in a source. Names of templates, roles and collections become names of folders that are written and removed, so
 * names that could lead elsewhere, or be mistaken for a command-line option, are invalid.
 */

import type { SourceId } from "./source.ts"

const sourceId = /^[A-Za-z][A-Za-z0-9_-]*$/u
const blueprintId = /^[A-Za-z][A-Za-z0-9_-]*(\/[A-Za-z0-9_-]+){0,2}$/u
const templateName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/u
const roleName = /^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/u
const collectionSegment = /^[a-z_][a-z0-9_]*$/u
/** Maximum length of a folder name on common file systems; these names are ASCII. */
const longest = 255

/** The slug that identifies a source to clients. */
export const isSourceId = (text: string): text is SourceId => text.length <= longest && sourceId.test(text)
/** The id in a blueprint's manifest: up to three levels, also its path below `blueprints/`. */
export const isShippedBlueprintId = (text: string): boolean => text.length <= longest && blueprintId.test(text)
/** The name of the VM that a template is built as. */
export const isTemplateName = (text: string): boolean => text.length <= longest && templateName.test(text)
/** A role name as installed and used: `<namespace>.<role>`, a bare name, or `<namespace>.<collection>.<role>`. */
export const isRoleName = (text: string): boolean => text.length <= longest && roleName.test(text)
/** The namespace or the name of a collection. */
export const isCollectionSegment = (text: string): boolean => text.length <= longest && collectionSegment.test(text)

const fullyQualified = /^[a-z0-9_]+\.[a-z0-9_]+$/u

/**
 * The collection that a requirement probably means: for a git URL, its last segment, as in `https://host/x/acme.util.git`; otherwise the
 * name itself. Undefined if that is not `<namespace>.<name>`.
 */
export const guessCollection = (requirement: string): string | undefined => {
  const suffix = requirement.search(/[#?]/u)
  const last = trimEnd(suffix === -1 ? requirement : requirement.slice(0, suffix), "/")
  const name = last.endsWith(".git") ? last.slice(0, -".git".length) : last
  const start = Math.max(name.lastIndexOf("/"), name.lastIndexOf(":"), name.startsWith("git+") ? "git+".length - 1 : -1) + 1
  const segment = start === 0 ? name : name.slice(start)
  return fullyQualified.test(segment) ? segment : undefined
}

const trimEnd = (text: string, character: string): string => {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

/** Equal for names or paths that some file systems treat as the same: ignores case and Unicode normalization. */
export const foldName = (text: string): string => text.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")
