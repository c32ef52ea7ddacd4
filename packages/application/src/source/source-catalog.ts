import {
  type Blueprint,
  type BlueprintRow,
  catalogOf,
  emptyContent,
  type Fault,
  type Installed,
  type RecordId,
  type Source,
  type SourceCatalog,
  surveySource,
  type UserId,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  Blueprints,
  type ContentFetcher,
  type LibraryFault,
  type SecretStore,
  type Sources,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { recordTime } from "../wire/common.ts"
import { contentOf } from "./fetch-source.ts"
import type { SnapshotContent } from "./read-content.ts"
import type { SourceContents } from "./source-contents.ts"

/** What is installed for a user: in the user's own scope, and globally. */
export const installedFor = Effect.fnUntraced(function* (
  userId: UserId,
): Effect.fn.Return<Installed, LibraryFault, ArtifactLibrary> {
  const library = yield* ArtifactLibrary
  const [own, global] = yield* Effect.all([library.list({ type: "user", userId }), library.list({ type: "global" })], {
    concurrency: 2,
  })
  return {
    templates: own.templates.map(({ name }) => name),
    roles: [...own.roles, ...global.roles],
    collections: [...own.collections, ...global.collections],
  }
})

/** Blueprints that came from sources, by the records of these. */
export const blueprintRows = (blueprints: readonly Blueprint[]): ReadonlyMap<RecordId, readonly BlueprintRow[]> => {
  const rows = new Map<RecordId, BlueprintRow[]>()
  for (const { origin, version } of blueprints) {
    if (origin === undefined) continue
    const row = { sourceBlueprintID: origin.sourceBlueprintID, version }
    const known = rows.get(origin.source)
    if (known === undefined) rows.set(origin.source, [row])
    else known.push(row)
  }
  return rows
}

/** What is known already of what a catalog is made of. */
interface Known {
  readonly content?: SnapshotContent
  readonly installed?: Installed
  readonly rows?: ReadonlyMap<RecordId, readonly BlueprintRow[]>
}

const nothing = { content: emptyContent, survey: surveySource(emptyContent) } as const

/** The catalog of a source whose content is known, for one who has this installed. */
const catalogWith = (
  source: Source,
  { content, survey }: Pick<SnapshotContent, "content" | "survey">,
  installed: Installed,
  rows: readonly BlueprintRow[],
): SourceCatalog =>
  catalogOf(
    {
      source: {
        id: source.id,
        name: source.name,
        description: source.description,
        type: source.type,
        lastSyncedAt: recordTime(source.lastSyncedAt),
      },
      content,
    },
    installed,
    rows,
    survey,
  )

/** The catalog of the source for a user. One without content has an empty one. */
export const sourceCatalog = Effect.fnUntraced(function* (
  source: Source,
  userId: UserId,
  known: Known = {},
): Effect.fn.Return<
  SourceCatalog,
  Fault,
  ArtifactLibrary | Blueprints | ContentFetcher | SecretStore | SourceContents | Sources
> {
  const blueprints = yield* Blueprints
  const shipped = known.content ?? (yield* contentOf(source)) ?? nothing
  const installed = known.installed ?? (yield* installedFor(userId))
  const rows = known.rows ?? blueprintRows(yield* blueprints.list({ ofSource: source.recordId }))
  return catalogWith(source, shipped, installed, rows.get(source.recordId) ?? [])
})
