import { installItemKinds, type InstallChoice } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { syncResultFields } from "./sync-result.ts"

const names = Schema.optionalKey(Schema.Array(Schema.String))

/** Items of a source by name: blueprints by the IDs in their manifests. */
export const InstallSelection = Schema.Struct({
  blueprints: names,
  templates: names,
  localRoles: names,
  localCollections: names,
}).annotate({ identifier: "InstallSelection" })

/** What to install: everything without a selection, nothing with an empty one. */
export const InstallRequest = Schema.Struct({
  selection: Schema.optionalKey(Schema.NullOr(InstallSelection)),
  global: Schema.optionalKey(Schema.Boolean),
  force: Schema.optionalKey(Schema.Boolean),
  noDeps: Schema.optionalKey(Schema.Boolean),
  /** Ours: only plan it. */
  dryRun: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "InstallRequest" })

/** The request in the domain's form. */
export const installChoice = ({ selection, force, noDeps }: typeof InstallRequest.Type): InstallChoice => ({
  ...(selection === undefined || selection === null ? {} : { selection }),
  ...(force === undefined ? {} : { force }),
  ...(noDeps === undefined ? {} : { noDeps }),
})

/** The outcome of every item; with `dryRun` there are no outcomes, and the plan says what would be done. */
export const InstallResponse = Schema.Struct({
  ...syncResultFields,
  sourceName: Schema.optionalKey(Schema.String),
  blueprintIDs: names,
  templates: names,
  localRoles: names,
  localCollections: names,
  galaxyRoles: names,
  galaxyCollections: names,
  subscriptionRoles: names,
  prunedBlueprintIDs: names,
  items: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        kind: Schema.Literals(installItemKinds),
        name: Schema.String,
        version: Schema.optionalKey(Schema.String),
        change: Schema.Literals(["place", "replace", "keep", "differs", "refuse", "create", "refresh", "remove"]),
        reason: Schema.optionalKey(Schema.String),
      }),
    ),
  ),
}).annotate({ identifier: "InstallResponse" })

/**
 * Which items of a source to uninstall, by name: blueprints by the IDs in their manifests, the rest as the source's lists name them;
 * `roles`, `collections` and `subscriptionRoles` came from elsewhere with it.
 */
export const UninstallSelection = Schema.Struct({
  blueprints: names,
  templates: names,
  localRoles: names,
  localCollections: names,
  roles: names,
  collections: names,
  subscriptionRoles: names,
}).annotate({ identifier: "UninstallSelection" })

export const UninstallRequest = Schema.Struct({
  selection: UninstallSelection,
  global: Schema.optionalKey(Schema.Boolean),
  /** Removes what is still needed too. */
  force: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "UninstallRequest" })

/** What to upgrade to the version that the source ships now; without a selection everything that was installed from it. */
export const UpgradeRequest = Schema.Struct({
  selection: Schema.optionalKey(Schema.NullOr(InstallSelection)),
  global: Schema.optionalKey(Schema.Boolean),
  noDeps: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "UpgradeRequest" })
