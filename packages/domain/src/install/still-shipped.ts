import { everythingShipped, type Selection } from "../catalog/select.ts"
import type { SourceContent } from "../source/content.ts"

/**
 * The part of a selection that the source still ships. Applied to what was installed, it makes an update apply the same items again and
 * never more.
 */
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
