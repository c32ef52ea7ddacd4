import {
  type BlueprintNeeds,
  type Fault,
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
  type SecretStore,
  Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { contentOf } from "./fetch-source.ts"
import { removeBlueprints } from "./install-blueprint.ts"
import type { InstallTarget } from "./installation.ts"
import { type InstalledThing, installedThings, type UninstallSelection } from "./installed-items.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"
import type { SourceContents } from "./source-contents.ts"

/**
 * Takes away what is selected of what was installed from a source. What an installed blueprint names, or another source brought too, stays
 * unless `force` is set; either way the outcome says who needs it. May be repeated with what is left. What is gone is claimed by nobody.
 */
export const uninstallFrom = (
  source: Source,
  target: InstallTarget,
  selection: UninstallSelection,
  force: boolean,
): Effect.Effect<
  readonly ItemOutcome[],
  Fault,
  ArtifactLibrary | Blueprints | ContentFetcher | SecretStore | SourceContents | Sources
> =>
  Effect.gen(function* () {
    const things = yield* installedThings(source, target, selection)
    // A source whose content is lost can be cleared away all the same: only short names of roles are not known then.
    const content = yield* contentOf(source).pipe(Effect.catch(() => Effect.succeed(undefined)))
    const removals = planUninstall(
      things.map((thing) => ({ ...thing, aliases: aliasesOf(thing, content?.content) })),
      yield* needsFor(target),
      force,
    )
    return yield* Effect.forEach(removals, ({ item: { kind, name }, change, because }, at) => {
      const thing = things[at]
      if (change === "refuse" || thing === undefined)
        return Effect.succeed(itemFailed(kind, name, `${because ?? "it is needed"}; use force to remove it`))
      return Effect.as(remove(source, thing), { kind, name, ok: true, ...(because === undefined ? {} : { text: because }) }).pipe(
        Effect.catchTag("LibraryFault", (fault) => Effect.succeed(itemFailed(kind, name, fault.message))),
      )
    })
  })

/** Configurations may name a role by its directory in the source. */
const aliasesOf = ({ kind, name }: InstalledThing, content: SourceContent | undefined): readonly string[] =>
  kind !== "local_role"
    ? []
    : (content?.roles ?? []).flatMap((role) =>
        role.name === name ? [role.directory.slice(role.directory.lastIndexOf("/") + 1)] : [],
      )

/** Copies go before the claim on them: what dies in between can be repeated. */
const remove = (source: Source, thing: InstalledThing) =>
  Effect.gen(function* () {
    if ("row" in thing) return yield* removeBlueprints(source.recordId, [thing.row])
    yield* (yield* ArtifactLibrary).remove(thing.artifact)
    yield* (yield* Sources).release(thing.claims, thing.name, thing.artifact.scope)
  })

/**
 * What the blueprints name that deploys with these copies can use: for everybody's copies all blueprints, for a user's own those that the
 * user may read. Of a text that cannot be read, nothing.
 */
const needsFor = ({ user, global }: InstallTarget): Effect.Effect<readonly BlueprintNeeds[], StorageFault, Blueprints> =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    return yield* Effect.forEach(yield* blueprints.list(global ? {} : { for: user }), ({ id }) =>
      Effect.gen(function* () {
        const references = readReferences((yield* blueprints.config(id)) ?? "")
        return {
          id,
          references: Result.getOrElse(references, () => ({ templates: [], roles: [] })),
          requirements: readRequirements((yield* blueprints.requirements(id)) ?? "").requirements,
        }
      }),
    )
  })
