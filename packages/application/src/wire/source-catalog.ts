import { brokenStates, installStates } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { TemplateStatus, TemplateStatusEntry } from "./needed-template.ts"

/** The catalog of a source (specification 2.1 to 2.3). The domain produces it in this form; optional members are absent when empty. */
const texts = Schema.optionalKey(Schema.Array(Schema.String))
const text = Schema.optionalKey(Schema.String)
/** In addition to the usual states, ours: `conflict` and `invalid`, for what nobody can install; `problem` says why. */
const State = Schema.Literals([...installStates, ...brokenStates])

export const CatalogItem = Schema.Struct({
  name: Schema.String,
  description: text,
  version: text,
  state: State,
  problem: text,
  /** Ours, for templates. */
  status: Schema.optionalKey(TemplateStatus),
  installedVersion: text,
  global: Schema.optionalKey(Schema.Literal(true)),
  scopes: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        scope: Schema.Literals(["global", "user"]),
        version: text,
        state: Schema.Literals(["installed", "upgrade_available"]),
      }),
    ),
  ),
  type: Schema.optionalKey(Schema.Literal("git")),
  fqcn: text,
  requiredBy: texts,
  versionByBlueprint: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
}).annotate({ identifier: "CatalogItem" })

export const CatalogBlueprint = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: text,
  version: Schema.String,
  state: State,
  problem: text,
  installedVersion: text,
  requiredTemplates: texts,
  templateStatus: Schema.optionalKey(Schema.Array(TemplateStatusEntry)),
  requiredLocalRoles: texts,
  requiredRoles: texts,
  requiredCollections: texts,
}).annotate({ identifier: "CatalogBlueprint" })

export const UndeclaredDependency = Schema.Union([
  Schema.Struct({ blueprintID: Schema.String, role: Schema.String, kind: Schema.Literal("missing_role") }),
  Schema.Struct({
    blueprintID: Schema.String,
    role: Schema.String,
    kind: Schema.Literal("missing_collection"),
    parentCollection: Schema.String,
  }),
]).annotate({ identifier: "UndeclaredDependency" })

export const CatalogBlueprints = Schema.Struct({
  items: Schema.Array(CatalogBlueprint),
  requiredRoles: Schema.Array(CatalogItem),
  requiredCollections: Schema.Array(CatalogItem),
  subscriptionRoles: Schema.Array(CatalogItem),
  undeclaredDependencies: Schema.optionalKey(Schema.Array(UndeclaredDependency)),
}).annotate({ identifier: "CatalogBlueprints" })

export const SourceCatalog = Schema.Struct({
  sourceID: Schema.String,
  sourceName: Schema.String,
  description: text,
  sourceType: text,
  lastSyncedAt: text,
  blueprints: CatalogBlueprints,
  templates: Schema.Array(CatalogItem),
  localRoles: Schema.Array(CatalogItem),
  localCollections: Schema.Array(CatalogItem),
}).annotate({ identifier: "SourceCatalog" })
