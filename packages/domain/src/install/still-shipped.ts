import { everythingShipped, type Selection } from "../catalog/select.ts"
import type { SourceContent } from "../source/content.ts"

/** What of a selection the source ships (still): with what was installed from it once, an update applies that again and never more. */
export const stillShipped = (content: SourceContent, selection: Selection): Selection => {
  const all = everythingShipped(content)
  const both = (list: keyof Selection) => {
    const wanted = new Set(selection[list])
    return all[list].filter((name) => wanted.has(name))
  }
  return {
    blueprints: both("blueprints"),
    templates: both("templates"),
    localRoles: both("localRoles"),
    localCollections: both("localCollections"),
  }
}
