/** The requested ref of a repository. */
export type GitRef =
  | { readonly type: "default" }
  /** A branch or tag, by short or full name; a tag wins over a branch of the same short name, as in git. */
  | { readonly type: "name"; readonly name: string }
  /** A full object name: 40 or 64 hexadecimal digits. */
  | { readonly type: "commit"; readonly commit: string }

const maxLength = 250

/** True for names that git itself accepts for a branch or tag (git-check-ref-format). */
const wellFormed = (name: string): boolean =>
  name.length <= maxLength &&
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  !/[\u0000-\u0020\u007f~^:?*[\\]/u.test(name) &&
  !/\.\.|@\{|\/\/|^[-/+]|[/.]$/u.test(name) &&
  name !== "@" &&
  name.split("/").every((part) => !part.startsWith(".") && !part.startsWith("-") && !part.endsWith(".lock"))

/** Parses a ref; empty or `HEAD` is the default branch. Undefined for an invalid ref, such as `--upload-pack=…`. */
export const parseGitRef = (text: string): GitRef | undefined => {
  if (text === "" || text === "HEAD") return { type: "default" }
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/iu.test(text)) return { type: "commit", commit: text.toLowerCase() }
  return wellFormed(text) ? { type: "name", name: text } : undefined
}
