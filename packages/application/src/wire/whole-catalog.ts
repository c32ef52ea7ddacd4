import * as Schema from "effect/Schema"
import type { WholeCatalog } from "../source/whole-catalog.ts"
import { recordTime } from "./common.ts"
import { CatalogBlueprint, CatalogItem } from "./source-catalog.ts"

const from = { sourceID: Schema.String } as const

/** All sources at once: what each ships, as a flat list with the source of each item. */
export const WholeCatalogResponse = Schema.Struct({
  sources: Schema.Array(
    Schema.Struct({
      sourceID: Schema.String,
      sourceName: Schema.String,
      sourceType: Schema.String,
      ownerUserID: Schema.String,
      lastSyncedAt: Schema.optionalKey(Schema.String),
      lastSyncStatus: Schema.optionalKey(Schema.String),
      /** Why none of its items are listed. */
      error: Schema.optionalKey(Schema.String),
    }),
  ),
  items: Schema.Array(
    Schema.Union([
      Schema.Struct({ ...from, kind: Schema.Literal("blueprint"), ...CatalogBlueprint.fields }),
      Schema.Struct({
        ...from,
        kind: Schema.Literals(["template", "local_role", "local_collection"]),
        ...CatalogItem.fields,
      }),
    ]),
  ),
}).annotate({ identifier: "WholeCatalog" })

export const wholeCatalogResponse = ({ sources, items }: WholeCatalog): typeof WholeCatalogResponse.Type => ({
  sources: sources.map(({ source, error }) => ({
    sourceID: source.id,
    sourceName: source.name,
    sourceType: source.type,
    ownerUserID: source.owner,
    ...(source.lastSyncedAt === undefined ? {} : { lastSyncedAt: recordTime(source.lastSyncedAt) }),
    ...(source.lastSyncStatus === "" ? {} : { lastSyncStatus: source.lastSyncStatus }),
    ...(error === undefined ? {} : { error }),
  })),
  items: items.map((listed) =>
    listed.kind === "blueprint"
      ? { sourceID: listed.sourceID, kind: listed.kind, ...listed.item }
      : { sourceID: listed.sourceID, kind: listed.kind, ...listed.item },
  ),
})
