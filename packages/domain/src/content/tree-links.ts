/** A path of a tree, as far as following links needs it. */
interface Followed {
  readonly kind: "file" | "link"
  readonly target?: string
}

const maxHops = 40
const maxSteps = 256
const maxTarget = 1024
/** Of all links of a tree together: ten for each of the most that there may be. */
const maxTreeSteps = 500_000

/**
 * Tells of one link of the tree after the other what is wrong with where it leads, followed through the tree's other links as the kernel
 * would. Leading nowhere inside the tree is no problem: nothing can be read through it.
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

/** The path of the file or folder that `path` means after its links. Undefined when it leaves the tree or turns in circles. */
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
