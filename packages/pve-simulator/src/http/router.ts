import { methods, type Method } from "../schema/schema.ts"

/** The route of a request. */
export interface Match {
  readonly method: Method
  /** `VERB /path/{param}`. */
  readonly key: string
  /** Values of the path parameters. */
  readonly parameters: Readonly<Record<string, string>>
}

interface Branch {
  readonly fixed: Map<string, Branch>
  parameter: { readonly name: string; readonly branch: Branch } | undefined
  readonly verbs: Map<string, Method>
}

const branch = (): Branch => ({ fixed: new Map(), parameter: undefined, verbs: new Map() })

/** Parameters that match the rest of the path, including slashes. */
const greedy = new Set(["volume", "cidr"])

const root = branch()
for (const method of methods.values()) {
  let at = root
  for (const segment of method.path.split("/").filter((part) => part !== "")) {
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name === undefined) {
      const next = at.fixed.get(segment) ?? branch()
      at.fixed.set(segment, next)
      at = next
    } else {
      at.parameter ??= { name, branch: branch() }
      at = at.parameter.branch
    }
  }
  at.verbs.set(method.verb, method)
}

/** Normalizes a path for routing: decoded, without doubled or trailing slashes. */
export const normalisePath = (path: string): string => {
  let decoded = path
  if (path.includes("%")) {
    try {
      decoded = decodeURIComponent(path)
    } catch {
      decoded = path
    }
  }
  return `/${decoded
    .split("/")
    .filter((segment) => segment !== "")
    .join("/")}`
}

/** Finds the call for a verb and a normalized path; undefined for an unknown route or the wrong verb. */
export const matchRoute = (verb: string, path: string): Match | undefined => {
  const parameters: Record<string, string> = {}
  const segments = path === "/" ? [] : path.slice(1).split("/")
  let at = root
  for (let i = 0; i < segments.length; i += 1) {
    const segment = segments[i]!
    const fixed = at.fixed.get(segment)
    if (fixed !== undefined) {
      at = fixed
      continue
    }
    if (at.parameter === undefined) return undefined
    const { name } = at.parameter
    at = at.parameter.branch
    if (greedy.has(name)) {
      parameters[name] = segments.slice(i).join("/")
      break
    }
    parameters[name] = segment
  }
  const method = at.verbs.get(verb)
  return method === undefined ? undefined : { method, key: `${verb} ${method.path}`, parameters }
}
