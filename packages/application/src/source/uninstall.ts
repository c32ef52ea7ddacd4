import {
  type BlueprintNeeds,
  type Fault,
  type PlannedRemoval,
  planUninstall,
  readReferences,
  readRequirements,
  type Source,
  type SourceContent,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  Blueprints,
  type ContentFetcher,
  type LibraryFault,
  type RunJournal,
  type SecretStore,
  Sources,
  type StorageFault,
  type Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { longWork } from "../operation/long-work.ts"
import type { Settings } from "../settings.ts"
import { contentOf } from "./fetch-source.ts"
import { removeBlueprints } from "./install-blueprint.ts"
import type { InstallTarget } from "./installation.ts"
import { type InstalledThing, installedThings, type UninstallSelection } from "./installed-items.ts"
import type { SourceContents } from "./source-contents.ts"
import { mayChangeRolesOf } from "./target-rights.ts"

/** What an uninstallation will do with each selected thing. */
export interface PlannedUninstall {
  readonly thing: InstalledThing
  readonly change: PlannedRemoval["change"]
  /** What needs it. */
  readonly because?: string
}

/**
 * Plans the removal of the selected things that were installed from a source, and changes nothing. What an installed blueprint names, or
 * another source brought too, stays unless `force` is set; either way the plan says what needs it.
 */
export const prepareUninstall = (
  source: Source,
  target: InstallTarget,
  selection: UninstallSelection,
  force: boolean,
): Effect.Effect<
  readonly PlannedUninstall[],
  Fault,
  Blueprints | ContentFetcher | SecretStore | Settings | SourceContents | Sources | Users
> =>
  Effect.gen(function* () {
    const things = yield* installedThings(source, target, selection)
    if (things.some(({ kind }) => kind !== "blueprint" && kind !== "template")) yield* mayChangeRolesOf(target)
    // A source whose content is lost can still be removed: only short names of roles are unknown then.
    const content = yield* contentOf(source).pipe(Effect.catch(() => Effect.succeed(undefined)))
    const removals = planUninstall(
      things.map((thing) => ({ ...thing, aliases: aliasesOf(thing, content?.content) })),
      yield* needsFor(target),
      force,
    )
    return things.flatMap((thing, at) => {
      const planned = removals[at]
      if (planned === undefined) return []
      const { change, because } = planned
      return [{ thing, change, ...(because === undefined ? {} : { because }) }]
    })
  })

/** Configurations may name a role by its directory in the source. */
const aliasesOf = ({ kind, name }: InstalledThing, content: SourceContent | undefined): readonly string[] =>
  kind !== "local_role"
    ? []
    : (content?.roles ?? []).flatMap((role) =>
        role.name === name ? [role.directory.slice(role.directory.lastIndexOf("/") + 1)] : [],
      )

/** Removes one thing; may be repeated. Copies are removed before the claims on them, so nothing stays without a claim. */
export const takeAway = (
  source: Pick<Source, "recordId">,
  removal: InstalledThing["removal"],
): Effect.Effect<void, LibraryFault | StorageFault, ArtifactLibrary | Blueprints | ContentFetcher | RunJournal | Sources> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const sources = yield* Sources
    if ("row" in removal) return yield* removeBlueprints(source.recordId, [removal.row])
    const { artifact, claims } = removal
    yield* library.remove(artifact)
    yield* sources.release(claims, artifact.name, artifact.scope)
  })

/**
 * The needs of blueprints whose deploys can use these copies: all blueprints for global copies, those that the user may read for the user's
 * own. A text that cannot be read needs nothing.
 */
const needsFor = ({ user, global }: InstallTarget): Effect.Effect<readonly BlueprintNeeds[], StorageFault, Blueprints> =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    return yield* Effect.forEach(yield* blueprints.ids(global ? {} : { for: user }), (id) =>
      Effect.gen(function* () {
        const config = (yield* blueprints.config(id)) ?? ""
        const required = (yield* blueprints.requirements(id)) ?? ""
        const references = yield* longWork(() => readReferences(config))
        return {
          id,
          references: Result.getOrElse(references, () => ({ templates: [], roles: [] })),
          requirements: (yield* longWork(() => readRequirements(required))).requirements,
        }
      }),
    )
  })
