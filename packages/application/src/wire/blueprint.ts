import {
  type Blueprint,
  type BlueprintAccess,
  type BlueprintReader,
  type BlueprintText,
  type GroupMember,
  homepageOf,
  type Source,
} from "@rangewright/domain"
import * as Schema from "effect/Schema"
import type { Readiness } from "../blueprint/readiness.ts"
import type { ItemOutcome } from "../source/item-outcome.ts"
import { TemplateStatusEntry } from "./needed-template.ts"
import { AnsibleInstallResult, ansibleResults } from "./sync-result.ts"

/** A blueprint in lists; empty members are left out. */
export const BlueprintListItem = Schema.Struct({
  blueprintID: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  thumbnailUrl: Schema.optionalKey(Schema.String),
  /** Empty once the owner was removed. */
  ownerUserID: Schema.String,
  sharedUsers: Schema.optionalKey(Schema.Array(Schema.String)),
  sharedGroups: Schema.optionalKey(Schema.Array(Schema.String)),
  accessType: Schema.optionalKey(Schema.Literals(["admin", "owner", "direct", "group", "unknown"])),
  sourceID: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  created: Schema.String,
  updated: Schema.String,
}).annotate({ identifier: "BlueprintListItem" })

const unlessEmpty = <K extends string, A extends { readonly length: number }>(key: K, value: A): { readonly [P in K]?: A } =>
  value.length === 0 ? {} : ({ [key]: value } as { readonly [P in K]?: A })

/** `sourceID`: undefined for a blueprint without a source, or whose source was removed. */
export const blueprintListItem = (
  blueprint: Blueprint,
  access: BlueprintAccess,
  sourceID: string | undefined,
): typeof BlueprintListItem.Type => ({
  blueprintID: blueprint.id,
  name: blueprint.name,
  ...unlessEmpty("description", blueprint.description),
  ...(blueprint.thumbnail === undefined
    ? {}
    : { thumbnailUrl: `/api/files/blueprints/${blueprint.recordId}/${encodeURIComponent(blueprint.thumbnail)}` }),
  ownerUserID: blueprint.owner ?? "",
  ...unlessEmpty("sharedUsers", blueprint.sharedUsers),
  ...unlessEmpty("sharedGroups", blueprint.sharedGroups),
  accessType: access,
  ...(sourceID === undefined ? {} : { sourceID }),
  ...unlessEmpty("tags", blueprint.tags),
  created: blueprint.createdAt.toISOString(),
  updated: blueprint.updatedAt.toISOString(),
})

/** A blueprint with what it needs. */
export const BlueprintDetail = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  version: Schema.String,
  min_ludus_version: Schema.String,
  tags: Schema.Array(Schema.String),
  templateStatus: Schema.Array(TemplateStatusEntry),
  roleStatus: Schema.Array(
    Schema.Struct({ name: Schema.String, installed: Schema.Boolean, subscription: Schema.Boolean }).annotate({
      identifier: "RoleStatusEntry",
    }),
  ),
  lastInstallStatus: Schema.Literals(["", "ok", "error", "partial"]),
  lastInstallError: Schema.String,
  lastInstalledAt: Schema.String,
  authors: Schema.optionalKey(Schema.Array(Schema.String)),
  homepage: Schema.optionalKey(Schema.String),
  license: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "BlueprintDetail" })

/** The last installation of a blueprint's requirements, in wire format; the time without fractions of a second. */
export const lastInstallation = ({ installation: { status, error, at } }: Blueprint) => ({
  lastInstallStatus: status,
  lastInstallError: error,
  lastInstalledAt: at === undefined ? "" : at.toISOString().replace(/\.\d+Z$/u, "Z"),
})

/** What the source says about itself, for blueprints from it; missing parts are left out. */
const publisher = (source: Source) => ({
  ...unlessEmpty("authors", source.authors),
  ...unlessEmpty("homepage", homepageOf(source)),
  ...unlessEmpty("license", source.license),
})

/** `source`: undefined for a blueprint without a source, or whose source was removed. */
export const blueprintDetail = (
  blueprint: Blueprint,
  { templates, roles }: Readiness,
  source: Source | undefined,
): typeof BlueprintDetail.Type => ({
  id: blueprint.id,
  name: blueprint.name,
  description: blueprint.description,
  version: blueprint.version,
  min_ludus_version: blueprint.minVersion,
  tags: blueprint.tags,
  templateStatus: templates,
  roleStatus: roles,
  ...lastInstallation(blueprint),
  ...(source === undefined ? {} : publisher(source)),
})

/** What clients may set on a blueprint. */
export const blueprintFields = {
  name: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  version: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  min_ludus_version: Schema.optionalKey(Schema.String),
}

/** The same in the domain's form; members that were not sent are absent. */
export const blueprintText = (said: Schema.Struct<typeof blueprintFields>["Type"]): Partial<BlueprintText> => ({
  ...(said.name === undefined ? {} : { name: said.name }),
  ...(said.description === undefined ? {} : { description: said.description }),
  ...(said.version === undefined ? {} : { version: said.version }),
  ...(said.tags === undefined ? {} : { tags: said.tags }),
  ...(said.min_ludus_version === undefined ? {} : { minVersion: said.min_ludus_version }),
})

/** The new blueprint: `id` is its record ID, `ansibleResults` the outcome of each requirement. */
export const BlueprintCreated = Schema.Struct({
  result: Schema.optionalKey(Schema.String),
  blueprintID: Schema.String,
  id: Schema.optionalKey(Schema.String),
  ansibleResults: Schema.optionalKey(Schema.Array(AnsibleInstallResult)),
}).annotate({ identifier: "BlueprintCreated" })

/** The outcomes of a new blueprint's requirements; absent if it has none. */
export const installedForNew = (outcomes: readonly ItemOutcome[]): Pick<typeof BlueprintCreated.Type, "ansibleResults"> =>
  outcomes.length === 0 ? {} : { ansibleResults: ansibleResults(outcomes) }

/** A user who reads a blueprint, and why. */
export const BlueprintAccessUser = Schema.Struct({
  userID: Schema.String,
  name: Schema.optionalKey(Schema.String),
  access: Schema.optionalKey(Schema.Array(Schema.Literals(["owner", "direct", "group-manager", "group-member"]))),
  groups: Schema.optionalKey(Schema.Array(Schema.String)),
}).annotate({ identifier: "BlueprintAccessUser" })

export const blueprintAccessUser = (
  { userId, paths, groups }: BlueprintReader,
  name: string,
): typeof BlueprintAccessUser.Type => ({
  userID: userId,
  ...unlessEmpty("name", name),
  access: paths,
  ...unlessEmpty("groups", groups),
})

/** A group that a blueprint is shared with, and its people. */
export const BlueprintAccessGroup = Schema.Struct({
  groupName: Schema.String,
  managers: Schema.optionalKey(Schema.Array(Schema.String)),
  members: Schema.optionalKey(Schema.Array(Schema.String)),
}).annotate({ identifier: "BlueprintAccessGroup" })

export const blueprintAccessGroup = (groupName: string, people: readonly GroupMember[]): typeof BlueprintAccessGroup.Type => {
  const inRole = (role: GroupMember["role"]) => people.flatMap((member) => (member.role === role ? [member.userId] : [])).sort()
  return { groupName, ...unlessEmpty("managers", inRole("manager")), ...unlessEmpty("members", inRole("member")) }
}
