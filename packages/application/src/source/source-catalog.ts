import {
  type Blueprint,
  type BlueprintRow,
  catalogOf,
  emptyContent,
  type Installed,
  type RecordId,
  type Source,
  type SourceCatalog,
  surveySource,
  type User,
} from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { listInstalled } from "../ansible/installed.ts"
import { neededTemplates } from "../template/needed-templates.ts"
import { recordTime } from "../wire/common.ts"
import { contentOf } from "./fetch-source.ts"
import type { SnapshotContent } from "./read-content.ts"

/** What is installed for a user, in the user's own scope and globally, and the state of templates that blueprints need. */
export const installedFor = Effect.fnUntraced(function* (user: User) {
  const { own, global } = yield* listInstalled(user)
  return {
    needed: yield* neededTemplates(user),
    templates: own.templates.map(({ name }) => name),
    roles: [...own.roles, ...global.roles],
    collections: [...own.collections, ...global.collections],
  } satisfies Installed
})

/** Blueprints that came from sources, by the source's record ID. */
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

/** Parts of a catalog that are already known. */
interface Known {
  readonly content?: SnapshotContent
  readonly installed?: Installed
  readonly rows?: ReadonlyMap<RecordId, readonly BlueprintRow[]>
}

const nothing = { content: emptyContent, survey: surveySource(emptyContent) } as const

/** The catalog of a source with known content, for a user with these installed things. */
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

/** The catalog of the source for a user; empty for a source without content. */
export const sourceCatalog = Effect.fnUntraced(function* (source: Source, user: User, known: Known = {}) {
  const blueprints = yield* Blueprints
  const shipped = known.content ?? (yield* contentOf(source)) ?? nothing
  const installed = known.installed ?? (yield* installedFor(user))
  const rows = known.rows ?? blueprintRows(yield* blueprints.list({ ofSource: source.recordId }))
  return catalogWith(source, shipped, installed, rows.get(source.recordId) ?? [])
})
