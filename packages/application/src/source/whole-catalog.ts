import type { CatalogBlueprint, CatalogItem, Source, SourceCatalog, User } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { blueprintRows, installedFor, sourceCatalog } from "./source-catalog.ts"

/** A source in a list, and the error if its items are missing. */
export interface ListedSource {
  readonly source: Source
  readonly error: string | undefined
}

/** An installable item and its source. */
export type ListedItem =
  | { readonly sourceID: string; readonly kind: "blueprint"; readonly item: CatalogBlueprint }
  | { readonly sourceID: string; readonly kind: "template" | "local_role" | "local_collection"; readonly item: CatalogItem }

export interface WholeCatalog {
  readonly sources: readonly ListedSource[]
  /** In the order of the sources; blueprints, templates, roles and collections of each. */
  readonly items: readonly ListedItem[]
}

const readAtOnce = 4

const itemsOf = ({ sourceID, blueprints, templates, localRoles, localCollections }: SourceCatalog): readonly ListedItem[] => [
  ...blueprints.items.map((item) => ({ sourceID, kind: "blueprint", item }) as const),
  ...templates.map((item) => ({ sourceID, kind: "template", item }) as const),
  ...localRoles.map((item) => ({ sourceID, kind: "local_role", item }) as const),
  ...localCollections.map((item) => ({ sourceID, kind: "local_collection", item }) as const),
]

/** Everything that these sources ship, for a user. A source that cannot be read has an error and does not affect the others. */
export const wholeCatalog = (sources: readonly Source[], user: User) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const installed = yield* installedFor(user)
    const rows = blueprintRows(yield* blueprints.list())
    const catalogs = yield* Effect.forEach(sources, (source) => Effect.result(sourceCatalog(source, user, { installed, rows })), {
      concurrency: readAtOnce,
    })
    return {
      sources: sources.map((source, at) => {
        const catalog = catalogs[at]
        return { source, error: catalog !== undefined && Result.isFailure(catalog) ? catalog.failure.message : undefined }
      }),
      items: catalogs.flatMap((catalog) => (Result.isSuccess(catalog) ? itemsOf(catalog.success) : [])),
    } satisfies WholeCatalog
  })
