import {
  type Blueprint,
  type Forbidden,
  type InstallPlan,
  type InstallChoice,
  InvalidInput,
  type PlannedBlueprint,
  planInstall,
  type Present,
  type RecordId,
  type ShippedBlueprint,
  type SourceContent,
  type UnknownItem,
  type UserNotFound,
  howTo,
  listed,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  Blueprints,
  type ContentFetcher,
  type CredentialHasher,
  type LibraryFault,
  type Sources,
  type StorageFault,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { newRecordId } from "../accounts/identity.ts"
import type { Settings } from "../settings.ts"
import { originOf, othersTemplates } from "../template/others-templates.ts"
import { isSameCopy } from "./compare-artifact.ts"
import { bundleDirectory, shippedText, type SourceRow } from "./install-blueprint.ts"
import { type Installation, scopeFor } from "./installation.ts"
import { mayChangeRolesOf } from "./target-rights.ts"

/** A plan with all record IDs chosen, so that carrying it out twice has the effect of once. */
export interface PreparedInstall {
  readonly plan: InstallPlan
  /** The plan's blueprints, each with its record ID, existing or new. */
  readonly blueprints: readonly (PlannedBlueprint & { readonly recordId: RecordId })[]
  /** The rows of blueprints that the source no longer ships. */
  readonly pruned: readonly SourceRow[]
}

/**
 * Plans an installation against what is installed; changes nothing. `InvalidInput` names everything that the source does not ship,
 * `Forbidden` says why the user may not install roles and collections.
 */
export const prepareInstall = (
  installation: Installation,
  choice: InstallChoice,
): Effect.Effect<
  PreparedInstall,
  InvalidInput | Forbidden | UserNotFound | StorageFault | LibraryFault,
  ArtifactLibrary | Blueprints | ContentFetcher | CredentialHasher | Settings | Sources | Users
> =>
  Effect.gen(function* () {
    const blueprintStore = yield* Blueprints
    const { source } = installation
    const { content, survey, snapshot } = installation.content
    const all = yield* blueprintStore.list()
    const rows = rowsOf(source.recordId, all)
    const planned = planInstall(
      { id: source.id, content, survey, files: snapshot.files },
      yield* presentFor(installation, content, all, rows),
      choice,
    )
    if (Result.isFailure(planned)) return yield* unknownItems(source.id, planned.failure)
    const plan = planned.success
    if (isOfAnsible(plan)) yield* mayChangeRolesOf(installation)
    const blueprints = yield* Effect.forEach(plan.blueprints, (planned) =>
      Effect.map(recordFor(rows.get(planned.blueprint.id)), (recordId) => ({ ...planned, recordId })),
    )
    const pruned = plan.pruned.flatMap((sourceBlueprintID) => {
      const row = rows.get(sourceBlueprintID)
      return row === undefined ? [] : [{ sourceBlueprintID, recordId: row.recordId }]
    })
    return { plan, blueprints, pruned }
  })

/** Whether the plan contains roles or collections. */
const isOfAnsible = ({ artifacts, roles, collections, subscriptionRoles }: InstallPlan): boolean =>
  artifacts.some(({ kind }) => kind !== "template") || roles.length + collections.length + subscriptionRoles.length > 0

const recordFor = (row: Blueprint | undefined) => (row === undefined ? newRecordId : Effect.succeed(row.recordId))

/** The source's rows by their ID in the manifest. */
const rowsOf = (source: RecordId, all: readonly Blueprint[]): ReadonlyMap<string, Blueprint> =>
  new Map(all.flatMap((row) => (row.origin?.source === source ? [[row.origin.sourceBlueprintID, row] as const] : [])))

const presentFor = (
  installation: Installation,
  content: SourceContent,
  all: readonly Blueprint[],
  rows: ReadonlyMap<string, Blueprint>,
): Effect.Effect<Present, LibraryFault | StorageFault, ArtifactLibrary | ContentFetcher | Sources | Users> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const own = yield* library.list(scopeFor("template", installation))
    const everybodys = yield* library.list({ type: "global" })
    const { roles, collections } = installation.global ? everybodys : own
    const shipped = new Map(content.blueprints.map((blueprint) => [blueprint.id, blueprint]))
    return {
      templates: own.templates.map(({ name }) => ({ name })),
      roles,
      collections,
      globalRoles: everybodys.roles.map(({ name }) => name),
      blueprints: [...rows].map(([sourceBlueprintID, row]) => ({
        sourceBlueprintID,
        same: isAsShipped(installation, row, shipped.get(sourceBlueprintID)),
      })),
      otherBlueprints: new Set(all.flatMap((row) => (rows.get(row.origin?.sourceBlueprintID ?? "") === row ? [] : [row.id]))),
      builtInTemplates: new Set(everybodys.templates.map(({ name }) => name)),
      takenTemplates: yield* takenTemplates(installation, new Set(own.templates.map(({ name }) => name))),
    }
  })

/**
 * Names of templates that the source ships, that the user does not have yet, and under which another user has another template: for
 * members as for uploads, except that the same files from the same repository are no other template.
 */
const takenTemplates = Effect.fnUntraced(function* (installation: Installation, own: ReadonlySet<string>) {
  const users = yield* Users
  const user = yield* users.find(installation.user)
  const shipped = installation.content.content.templates.filter(({ name }) => !own.has(name))
  const taken = new Set<string>()
  if (user === undefined || user.isAdmin || shipped.length === 0) return taken
  const others = yield* othersTemplates(user)
  for (const template of shipped) {
    const holders = (others.holders.get(template.name) ?? []).flatMap((scope) => (scope.type === "user" ? [scope] : []))
    if (holders.length === 0) continue
    const originsOf = yield* others.origins
    for (const scope of holders) {
      const theirs = { source: installation.source, content: installation.content, user: scope.userId, global: false }
      const isSame =
        originsOf(template.name, scope).has(originOf(installation.source)) &&
        // what cannot be read is not the same
        (yield* Effect.orElseSucceed(isSameCopy(theirs, { kind: "template", ...template, change: "place" }), () => false))
      if (!isSame) taken.add(template.name)
    }
  }
  return taken
})

/** Whether the row was installed from this very snapshot, and its text was not changed since. */
const isAsShipped = (
  { content: { snapshot } }: Installation,
  { bundle, ...row }: Blueprint,
  shipped: ShippedBlueprint | undefined,
): boolean => {
  if (shipped === undefined || bundle?.snapshot !== snapshot.id || bundle.directory !== bundleDirectory(shipped.id)) return false
  const { tags, ...text } = shippedText(shipped)
  return (
    row.name === text.name &&
    row.description === text.description &&
    row.version === text.version &&
    row.minVersion === text.minVersion &&
    row.tags.join("\n") === tags.join("\n")
  )
}

/** Most issues in one answer. */
const mostIssues = 100

const unknownItems = (source: string, items: readonly UnknownItem[]) =>
  new InvalidInput({
    what: `Cannot install from source ${source}: it does not ship ${listed(items.map(({ kind, name }) => `${kind} ${name}`))}`,
    issues: items
      .slice(0, mostIssues)
      .map(({ kind, name }) => ({ path: selectionMembers[kind], message: `the source ships no ${kind} ${name}` })),
    hint: `What it ships: ${howTo("GET /sources/{sourceID}/catalog", { sourceID: source })}.`,
  })

const selectionMembers: Readonly<Record<UnknownItem["kind"], string>> = {
  blueprint: "selection.blueprints",
  template: "selection.templates",
  role: "selection.localRoles",
  collection: "selection.localCollections",
}
