/** A tree entry with the fields needed to follow links. */
interface Followed {
  readonly kind: "file" | "link"
  readonly target?: string
}

const maxHops = 40
const maxSteps = 256
const maxTarget = 1024
/** Limit for all links of a tree together: ten steps for each of the maximum number of entries. */
const maxTreeSteps = 500_000

/**
 * Returns a function that gives the problem of a link in the tree, following it through other links as the kernel would. A dangling link
 * inside the tree is harmless: nothing can be read through it.
 */
export const linkChecker = (entries: ReadonlyMap<string, Followed>): ((path: string) => string | undefined) => {
  let steps = 0
  return (path) => {
    const outcome = follow(path, entries)
    if (typeof outcome === "string") return outcome
    steps += outcome.steps
    return steps > maxTreeSteps ? "following all links takes too many steps" : undefined
  }
}

/** Resolves the links in `path` to a file or folder. Undefined if it leaves the tree or is circular. */
export const resolveLinks = (path: string, entries: ReadonlyMap<string, Followed>): string | undefined => {
  const outcome = follow(path, entries)
  return typeof outcome === "string" ? undefined : outcome.at
}

const follow = (
  path: string,
  entries: ReadonlyMap<string, Followed>,
): string | { readonly at: string; readonly steps: number } => {
  const at: string[] = []
  const rest = path.split("/")
  let [hops, steps] = [0, 0]
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (++steps > maxSteps) return "following the link takes too many steps"
    if (part === "" || part === ".") continue
    if (part === "..") {
      if (at.pop() === undefined) return "the link leads out of the tree"
      continue
    }
    at.push(part)
    const target = entries.get(at.join("/"))?.target
    if (target === undefined) continue
    if (target === "" || target.startsWith("/") || target.includes("\0")) return "the link is absolute or has no target"
    if (target.length > maxTarget) return `the link's target is longer than ${maxTarget} characters`
    if (++hops > maxHops) return "the link is circular"
    at.pop()
    rest.unshift(...target.split("/"))
  }
  return { at: at.join("/"), steps }
}
