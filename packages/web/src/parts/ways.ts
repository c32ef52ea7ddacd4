import { base, matchPath } from "../links.ts"
import { t } from "../texts.ts"

/** A page that does what a call of the API does. */
export interface Way {
  readonly href: string
  readonly text: string
}

const { nav, palette, range } = t
const ofRange = (tab: keyof typeof range.tabs): string => `{rangeID} · ${range.tabs[tab]}`

/** Pages with their names, and the calls that people make there. Words in braces are filled in from the call. */
const pages: readonly (readonly [page: string, name: string, ...calls: readonly string[]])[] = [
  ["/ranges", nav.ranges, "GET /ranges/accessible"],
  [
    "/ranges/{rangeID}",
    ofRange("overview"),
    "GET /range",
    "GET /range/logs",
    "POST /range/abort",
    "PUT /range/poweron",
    "PUT /range/auto-shutdown",
    "DELETE /range",
  ],
  ["/ranges/{rangeID}/plan", ofRange("plan"), "GET /range/plan", "POST /range/deploy"],
  ["/ranges/{rangeID}/config", ofRange("config"), "PUT /range/config"],
  ["/ranges/{rangeID}/testing", ofRange("testing"), "PUT /testing/start"],
  ["/runs", nav.runs, "GET /runs"],
  [
    "/runs/{id}",
    palette.kinds.run,
    "GET /runs/{id}",
    "GET /runs/{id}/events",
    "POST /runs/{id}/cancel",
    "POST /runs/{id}/resume",
  ],
  ["/blueprints", nav.blueprints, "GET /blueprints"],
  ["/blueprints?id={id}", "{id}", "POST /blueprints/{id}/apply", "POST /blueprints/{id}/copy"],
  ["/templates", nav.templates, "GET /templates", "PUT /templates", "POST /templates", "GET /templates/status"],
  ["/sources", nav.sources, "GET /sources", "POST /sources"],
  ["/sources/{id}", "{id}", "PATCH /sources/{id}", "POST /sources/{id}/sync", "GET /sources/{id}/catalog"],
  ["/roles", nav.roles, "GET /ansible"],
  ["/me", nav.me, "GET /user/keys", "DELETE /user/keys/{id}", "DELETE /user/identity"],
  ["/admin/groups", nav.groups, "GET /groups"],
  ["/admin/nodes", nav.nodes, "GET /nodes"],
]

/** The text with its words in braces filled in; undefined when one is not known. */
const filled = (text: string, values: Readonly<Record<string, string>>, write: (value: string) => string) => {
  const isKnown = [...text.matchAll(/\{(\w+)\}/gu)].every(([, name = ""]) => /^[^{]/u.test(values[name] ?? ""))
  return isKnown ? text.replace(/\{(\w+)\}/gu, (_, name: string) => write(values[name] ?? "")) : undefined
}

const wayOf = (method: string, address: string, isAdmin: boolean): Way | undefined => {
  const [path = "", query = ""] = address.split("?")
  for (const [page, name, ...calls] of pages) {
    if (page.startsWith("/admin/") && !isAdmin) continue
    for (const call of calls) {
      const [wanted, pattern = ""] = call.split(" ")
      const inPath = wanted === method ? matchPath(pattern, path) : undefined
      if (inPath === undefined) continue
      const values = { ...inPath, ...Object.fromEntries(new URLSearchParams(query)) }
      const to = filled(page, values, encodeURIComponent)
      const text = filled(name, values, String)
      if (to !== undefined && text !== undefined) return { href: `${base}${to}`, text }
    }
  }
  return undefined
}

/** A call alone, or in parentheses after its command as `howTo` writes it. A path that does not end at the end of a word is not a call. */
const mention =
  /(?<=` )\(([A-Z]+) (\/[^\s()"`]*)\)(?=[.,:;!?]*(?:\s|$))|\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s(),;"“”`]*[^\s(),;"“”`'’.:!?])(?=[.,:;!?)"”`'’]*(?:\s|$))/gu

/** What the service says, with links to the pages that do the same in parentheses after the commands and calls that it mentions. */
export const withWays = (said: string, isAdmin: boolean): readonly (string | Way)[] => {
  const parts: (string | Way)[] = []
  let from = 0
  let closing = ""
  const rest = (to?: number): string => `${closing}${said.slice(from, to)}`
  for (const match of said.matchAll(mention)) {
    const [whole, commanded, itsAddress, alone, address = ""] = match
    const way = wayOf(commanded ?? alone ?? "", itsAddress ?? address, isAdmin)
    if (way === undefined) continue
    const end = match.index + whole.length
    // after a command, the page takes the place of the call
    parts.push(`${rest(alone === undefined ? match.index - 1 : end)} (`, way)
    closing = ")"
    from = end
  }
  return [...parts, rest()].filter((part) => part !== "")
}
