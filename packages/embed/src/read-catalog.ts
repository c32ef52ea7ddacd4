import { type BlueprintRow, catalogOf, type Installed, type InstallScope, type SourceCatalog } from "@rangewright/domain/catalog"
import { readSource, sayIssues } from "@rangewright/domain/source"
import * as Result from "effect/Result"
import { invalid, requireKinds, requireKindsOfAll, withDefaults } from "./invalid.ts"

const scopes: readonly InstallScope[] = ["global", "user"]

export interface SourceToRead {
  readonly id: string
  /** The id if absent. */
  readonly name?: string
  /** Texts by path from the source's root: manifests, configurations, requirements. For other files, an empty text is enough. */
  readonly files: Readonly<Record<string, string>>
  /** What is installed; nothing if absent. */
  readonly installed?: Partial<Installed>
  /** Blueprints that were installed from this source. */
  readonly blueprints?: readonly BlueprintRow[]
}

/**
 * What a source ships, with the install state of each item and who requires it. Throws `InvalidInputError` if the source cannot be read.
 */
export const readCatalog = (source: SourceToRead): SourceCatalog => {
  requireKinds("readCatalog", { "its argument": source }, { "its argument": "object" })
  const { id, name = id, files, installed = {}, blueprints = [] } = source
  requireKinds(
    "readCatalog",
    { id, name, files, installed, blueprints },
    { id: "text", name: "text", files: "object", installed: "object", blueprints: "objects" },
  )
  const has = withDefaults<Installed>({ templates: [], roles: [], collections: [] }, installed)
  const { templates, roles, collections } = has
  requireKinds(
    "readCatalog: installed",
    { templates, roles, collections },
    { templates: "texts", roles: "objects", collections: "objects" },
  )
  for (const [kind, copies] of Object.entries({ roles, collections })) {
    requireKindsOfAll(`readCatalog: installed: ${kind}`, copies, { name: "text", scope: "text" })
    const wrong = copies.find(({ scope }) => !scopes.includes(scope))
    if (wrong !== undefined)
      invalid(
        `readCatalog: installed: ${kind}: the scope of ${wrong.name} must be one of ${scopes.join(", ")}, but it is ${wrong.scope}`,
      )
  }
  requireKindsOfAll("readCatalog: blueprints", blueprints, { sourceBlueprintID: "text", version: "text" })
  const texts = new Map(Object.entries(files))
  for (const [path, text] of texts) requireKinds("readCatalog: files", { [path]: text }, { [path]: "text" })
  const read = readSource({ entries: [...texts.keys()].map((path) => ({ path, kind: "file" as const })), texts })
  if (Result.isFailure(read)) return invalid(`Cannot read the source ${id}: ${sayIssues(read.failure)}`)
  return catalogOf({ source: { id, name }, content: read.success.content }, has, blueprints)
}
