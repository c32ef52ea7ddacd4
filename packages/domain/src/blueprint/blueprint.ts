import { howTo } from "../fault/calls.ts"
import type { GroupName } from "../access/group.ts"
import type { RecordId, UserId } from "../access/ids.ts"
import { defineFault, type FaultIssue } from "../fault/fault.ts"
import { isShippedBlueprintId } from "../source/names.ts"
import { isShownText } from "../source/shown-text.ts"
import {
  type BlueprintBundle,
  type BlueprintId,
  type BlueprintOrigin,
  type DependencyInstallation,
  neverInstalled,
} from "./origin.ts"

/** Whether users may choose this id. It has the same form as an id in a manifest, so that every blueprint can be shipped. */
export const isBlueprintId = (text: string): text is BlueprintId => isShippedBlueprintId(text)

/** The descriptive fields of a blueprint. */
export interface BlueprintText {
  readonly name: string
  readonly description: string
  /** As its owner wrote it, in any form. */
  readonly version: string
  readonly tags: readonly string[]
  /** The oldest server version that the configuration supports; empty if unspecified. */
  readonly minVersion: string
}

/** A range configuration that can be applied to ranges. The configuration itself and its requirements are stored separately. */
export interface Blueprint extends BlueprintText {
  readonly id: BlueprintId
  readonly recordId: RecordId
  /** Undefined after the owner was removed: then only administrators may change it. */
  readonly owner: UserId | undefined
  /** Name of its picture, which is stored separately; undefined if it has none. */
  readonly thumbnail: string | undefined
  /** Undefined if it was created here. */
  readonly origin: BlueprintOrigin | undefined
  /** Undefined if it has no files besides the ones stored with it. */
  readonly bundle: BlueprintBundle | undefined
  readonly installation: DependencyInstallation
  /** Ascending. */
  readonly sharedUsers: readonly UserId[]
  /** Ascending. */
  readonly sharedGroups: readonly GroupName[]
  readonly createdAt: Date
  /** When its text, picture, configuration or files last changed; sharing it or installing its requirements does not count. */
  readonly updatedAt: Date
}

/** The given properties of a new blueprint; the others have initial values. */
export interface BlueprintDraft extends BlueprintText, Pick<Blueprint, "id" | "recordId" | "bundle" | "createdAt"> {
  readonly owner: UserId
}

/** `thumbnail`: the name of its picture. */
export const newlyMadeBlueprint = (
  draft: BlueprintDraft,
  thumbnail: string | undefined,
  origin: BlueprintOrigin | undefined,
): Blueprint => ({
  ...draft,
  thumbnail,
  origin,
  installation: neverInstalled,
  sharedUsers: [],
  sharedGroups: [],
  updatedAt: draft.createdAt,
})

/** The default version of a blueprint. */
export const firstBlueprintVersion = "1.0.0"

const longest = { name: 255, description: 5000, version: 255, minVersion: 255 } as const
const longestTag = 64
const mostTags = 100
/** Names of the fields on the wire. */
const spelled = { name: "name", description: "description", version: "version", minVersion: "min_ludus_version" } as const

const notShown = "it contains a control character"

/** All problems in these fields; absent fields are not checked. */
export const blueprintTextIssues = (text: Partial<BlueprintText>): readonly FaultIssue[] => {
  const unshown = (["name", "description", "version", "minVersion"] as const).flatMap((member) =>
    isShownText(text[member] ?? "") ? [] : [{ path: spelled[member], message: notShown }],
  )
  const tooLong = (["name", "description", "version", "minVersion"] as const).flatMap((member) =>
    (text[member] ?? "").length > longest[member]
      ? [{ path: spelled[member], message: `at most ${longest[member]} characters` }]
      : [],
  )
  const tags = text.tags ?? []
  const badTags = tags.flatMap((tag, at) =>
    tag.trim() === "" || tag.length > longestTag
      ? [{ path: `tags[${at}]`, message: `1 to ${longestTag} characters` }]
      : isShownText(tag)
        ? []
        : [{ path: `tags[${at}]`, message: notShown }],
  )
  return [
    ...(text.name?.trim() === "" ? [{ path: "name", message: "a name is needed" }] : []),
    ...tooLong,
    ...unshown,
    ...(tags.length > mostTags ? [{ path: "tags", message: `at most ${mostTags} tags` }] : badTags),
  ]
}

const room = "-copy-9999".length

/**
 * The first id of `<id>-copy`, `<id>-copy-2`, … that is not taken. If the original is not an id that users may choose, `blueprint` takes
 * its place.
 */
export const copyIdOf = (original: string, taken: ReadonlySet<string>): BlueprintId => {
  const base = `${isBlueprintId(original) ? original.slice(0, 255 - room) : "blueprint"}-copy`
  let id = base
  for (let n = 2; taken.has(id); n++) id = `${base}-${n}`
  return id as BlueprintId
}

export class BlueprintNotFound extends defineFault("BlueprintNotFound", "not-found", (f: { readonly blueprint: string }) => ({
  message: `Blueprint ${f.blueprint} not found`,
  hint: `List the blueprints you may use: ${howTo("GET /blueprints")}.`,
})) {}

export class BlueprintExists extends defineFault("BlueprintExists", "conflict", (f: { readonly blueprint: string }) => ({
  message: `Blueprint ID ${f.blueprint} is already in use`,
  hint: "Choose another ID.",
})) {}
