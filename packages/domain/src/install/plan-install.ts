import * as Result from "effect/Result"
import { idOfSourceBlueprint } from "../blueprint/origin.ts"
import { expandSelection, everythingShipped, partBroken, type Selection, type UnknownItem } from "../catalog/select.ts"
import { type SourceSurvey, surveySource } from "../catalog/survey.ts"
import type { TreeEntry } from "../content/tree.ts"
import { type ArtifactKind, artifactKinds } from "../library/artifact.ts"
import { type BrokenItem, compareNames, type SourceContent } from "../source/content.ts"
import { artifactProblem } from "./entries-below.ts"
import type { InstallPlan, PlannedArtifact, PlannedBlueprint, Present, PresentCopy } from "./install-plan.ts"
import { nothingLeft, requirementsLeft } from "./requirements-left.ts"

/** The source to install from. */
export interface InstallSource {
  /** The slug that identifies the source to clients. */
  readonly id: string
  readonly content: SourceContent
  /** All files of the source; absent: the contents of folders are not checked. */
  readonly files?: ReadonlyArray<TreeEntry>
  /** Kept from an earlier call on the same content, to save work. */
  readonly survey?: SourceSurvey
}

export interface InstallChoice {
  /** Absent: everything that the source ships; empty: nothing. */
  readonly selection?: Partial<Selection>
  /** Replaces existing items. */
  readonly force?: boolean
  /** Skips requirements that the source does not ship itself. */
  readonly noDeps?: boolean
}

/**
 * Plans an installation: the selection with everything it needs from the same source, then what happens to each item. Nothing outside the
 * selection is touched, except rows of blueprints that are no longer shipped. Without `force`, nothing existing is replaced. A pure
 * function; after the plan was carried out, planning again gives nothing to do. Fails with all names that the source does not ship.
 */
export const planInstall = (
  source: InstallSource,
  present: Present,
  choice: InstallChoice,
): Result.Result<InstallPlan, ReadonlyArray<UnknownItem>> => {
  const { content, survey = surveySource(content) } = source
  const force = choice.force ?? false
  const { wanted, broken } =
    choice.selection === undefined
      ? { wanted: everythingShipped(content), broken: content.broken }
      : partBroken(content, choice.selection)
  return Result.map(expandSelection(content, wanted), (selection) => {
    const chosen = new Set(selection.blueprints)
    const blueprints = content.blueprints.filter(({ id }) => chosen.has(id)).toSorted((a, b) => compareNames(a.id, b.id))
    // a blueprint that is currently invalid is not gone
    const brokenIds = content.broken.flatMap(({ kind, name }) => (kind === "blueprint" ? [name] : []))
    const shippedIds = new Set([...content.blueprints.map(({ id }) => id), ...brokenIds])
    const rows = new Map(present.blueprints.map((row) => [row.sourceBlueprintID, row]))
    return {
      selection,
      artifacts: [
        ...artifacts(source, "template", selection.templates, present, force),
        ...artifacts(source, "role", selection.localRoles, present, force),
        ...artifacts(source, "collection", selection.localCollections, present, force),
        ...refusedArtifacts(content, broken),
      ],
      blueprints: [
        ...blueprints.map((blueprint): PlannedBlueprint => {
          const publicId = idOfSourceBlueprint(source.id, blueprint.id)
          const row = rows.get(blueprint.id)
          if (publicId === undefined)
            return { publicId: `${source.id}/${blueprint.id}`, blueprint, change: "refuse", because: "its ID would be too long" }
          if (row !== undefined) return { publicId, blueprint, change: row.same ? "keep" : "refresh" }
          return present.otherBlueprints.has(publicId)
            ? { publicId, blueprint, change: "refuse", because: `another blueprint has the ID ${publicId}` }
            : { publicId, blueprint, change: "create" }
        }),
        ...refusedBlueprints(source.id, broken),
      ].toSorted((a, b) => compareNames(a.blueprint.id, b.blueprint.id)),
      pruned: [...rows.keys()].filter((id) => !shippedIds.has(id)).toSorted(compareNames),
      ...(choice.noDeps === true ? nothingLeft : requirementsLeft(content, blueprints, present, force)),
      undeclared: survey.undeclared,
    }
  })
}

const shippedLists = { template: "templates", role: "roles", collection: "collections" } as const

const templateProblem = (name: string, { builtInTemplates, takenTemplates, templates }: Present): string | undefined => {
  if (builtInTemplates.has(name)) return `a built-in template has the name ${name}`
  return takenTemplates?.has(name) === true && templates.every((own) => own.name !== name)
    ? `${name} is already present on the server, and names of templates must be unique`
    : undefined
}

const artifacts = (
  { content, files }: InstallSource,
  kind: ArtifactKind,
  names: ReadonlyArray<string>,
  present: Present,
  force: boolean,
): ReadonlyArray<PlannedArtifact> => {
  const chosen = new Set(names)
  const copies = new Map(present[shippedLists[kind]].map((copy) => [copy.name, copy]))
  return content[shippedLists[kind]]
    .filter(({ name }) => chosen.has(name))
    .toSorted((a, b) => compareNames(a.name, b.name))
    .map((shipped): PlannedArtifact => {
      const { name, directory, description } = shipped
      const version = "version" in shipped ? shipped.version : undefined
      const planned = {
        kind,
        name,
        directory,
        ...(description === undefined ? {} : { description }),
        ...(version === undefined ? {} : { version }),
      }
      const problem =
        (kind === "template" ? templateProblem(name, present) : undefined) ?? (files && artifactProblem(kind, directory, files))
      if (problem !== undefined) return { ...planned, change: "refuse", because: problem }
      return { ...planned, ...changeOf(copies.get(name), version, force) }
    })
}

const refusedBlueprints = (source: string, broken: ReadonlyArray<BrokenItem>): ReadonlyArray<PlannedBlueprint> =>
  broken.flatMap(({ kind, name, problem }) =>
    kind === "blueprint"
      ? [{ publicId: `${source}/${name}`, blueprint: { id: name, version: "" }, change: "refuse", because: problem }]
      : [],
  )

const refusedArtifacts = (content: SourceContent, broken: ReadonlyArray<BrokenItem>): ReadonlyArray<PlannedArtifact> =>
  artifactKinds.flatMap((kind) => {
    const names = new Set(content[shippedLists[kind]].map(({ name }) => name))
    return broken
      .filter((item) => item.kind === kind)
      .map((item): PlannedArtifact => {
        // names in a plan must be unique
        const name = names.has(item.name) ? item.directory : item.name
        names.add(name)
        return { kind, name, directory: item.directory, change: "refuse", because: item.problem }
      })
  })

const changeOf = (
  copy: PresentCopy | undefined,
  version: string | undefined,
  force: boolean,
): Pick<PlannedArtifact, "change" | "because"> => {
  if (copy === undefined) return { change: "place" }
  if (copy.same === true) return { change: "keep" }
  if (force) return { change: "replace" }
  // compared as text: only whether the versions are the same matters, not which one is newer
  if (copy.version !== undefined && version !== undefined && copy.version !== version)
    return { change: "differs", because: `version ${copy.version} is installed` }
  return copy.same === false ? { change: "differs", because: "something else with this name exists" } : { change: "keep" }
}
