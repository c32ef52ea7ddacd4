export const base = "/ui"

/** The address of a page of this application. */
export const linkTo = (...parts: readonly string[]): string => `${base}/${parts.map(encodeURIComponent).join("/")}`

/** The path of a blueprint's page. IDs contain slashes, so they go into the query. */
export const blueprintPath = (blueprintID: string): string => `/blueprints?id=${encodeURIComponent(blueprintID)}`

/** The address of a link written by somebody else: `https:` only. Anything else is shown as text. */
export const httpsAddress = (text: string | undefined): string | undefined => {
  if (text === undefined || !/^https:\/\//iu.test(text)) return undefined
  try {
    const url = new URL(text)
    return url.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined
  } catch {
    return undefined
  }
}

/** The values of `/ranges/{id}` in a path; undefined when the path does not match. */
export const matchPath = (pattern: string, path: string): Readonly<Record<string, string>> | undefined => {
  const wanted = pattern.split("/")
  const given = path.split("/")
  while (given.length > 1 && given.at(-1) === "") given.pop()
  if (wanted.length !== given.length && pattern !== "/") return undefined
  if (pattern === "/") return path === "/" || path === "" ? {} : undefined
  const values: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? ""
    if (!part.startsWith("{")) {
      if (part !== value) return undefined
      continue
    }
    try {
      values[part.slice(1, -1)] = decodeURIComponent(value)
    } catch {
      return undefined
    }
  }
  return values
}
