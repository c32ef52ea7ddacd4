import {
  type CollectionRequirement,
  guessCollection,
  type PlannedRequirement,
  type RecordId,
  type RoleRequirement,
  unmetDeclarations,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  type InstallOutcome,
  type LibraryScope,
  RoleInstaller,
  type SourceClaim,
  type Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { claimItems } from "./claim-items.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"

/** Requirements of one kind that are fetched together. */
export type RequirementsOfKind =
  | { readonly type: "role"; readonly planned: readonly PlannedRequirement<RoleRequirement>[] }
  | { readonly type: "collection"; readonly planned: readonly PlannedRequirement<CollectionRequirement>[] }

/**
 * Fetches all requirements of one kind that blueprints have from elsewhere, in one call for all blueprints, and records that the source
 * brought them. Returns an outcome for each and for what came with them, and another one for each blueprint that requires a different
 * version than the installed one. A tool that does not work at all is a failure of each.
 */
export const installRequirements = (
  source: RecordId,
  scope: LibraryScope,
  { type, planned }: RequirementsOfKind,
  force: boolean,
  output?: (text: string) => Effect.Effect<void>,
): Effect.Effect<readonly ItemOutcome[], StorageFault, ArtifactLibrary | RoleInstaller | Sources> =>
  Effect.gen(function* () {
    const installer = yield* RoleInstaller
    if (planned.length === 0) return []
    const wanted = new Map<string, PlannedRequirement<RoleRequirement & CollectionRequirement>>(
      planned.map((requirement) => [nameOf(requirement.requirement), requirement]),
    )
    const told = yield* installer.install({
      scope,
      roles: type === "role" ? planned.map(({ requirement }) => requirement) : [],
      collections: type === "collection" ? planned.map(({ requirement }) => requirement) : [],
      force,
      ...(output === undefined ? {} : { output }),
    })
    const outcomes = yield* withVersions(scope, told)
    yield* claimItems(
      source,
      outcomes.flatMap((outcome) => (isThere(outcome) ? [claimOf(scope, outcome)] : [])),
    )
    return outcomes.flatMap((outcome) => [
      requirementOutcome(outcome),
      ...(isThere(outcome) ? unmet(wanted.get(outcome.name), outcome) : []),
    ])
  }).pipe(
    Effect.catchTag("InstallerFault", (fault) =>
      Effect.succeed(planned.map(({ requirement }) => itemFailed(type, nameOf(requirement), fault.message, requirement.version))),
    ),
  )

/** Adds the versions that the copies themselves declare, where the tool reported none. */
const withVersions = (scope: LibraryScope, outcomes: readonly InstallOutcome[]) =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const isUntold = (outcome: InstallOutcome) => isThere(outcome) && !outcome.version
    if (!outcomes.some(isUntold)) return outcomes
    const { roles, collections } = yield* library.list(scope)
    return outcomes.map((outcome): InstallOutcome => {
      const { type, name } = outcome
      const copies = type === "role" ? roles : collections
      const copy = copies.find((candidate) => candidate.name === (type === "role" ? name : (guessCollection(name) ?? name)))
      return isUntold(outcome) && copy?.version !== undefined ? { ...outcome, version: copy.version } : outcome
    })
    // versions are only additional information, so a failure to read them is ignored
  }).pipe(Effect.catchTag("LibraryFault", () => Effect.succeed(outcomes)))

const nameOf = ({ name, src }: RoleRequirement): string => name ?? src ?? ""

const isThere = ({ outcome }: InstallOutcome): boolean => outcome === "installed" || outcome === "present"

/** A repository is claimed as the collection that it provided. */
const claimOf = (scope: LibraryScope, { type, name, version = "" }: InstallOutcome): SourceClaim =>
  type === "role"
    ? { kind: "galaxy-role", name, version, scope }
    : { kind: "galaxy-collection", name: guessCollection(name) ?? name, version, scope }

/** The outcome in wire format: an item that is already installed is not a failure and says so. */
export const requirementOutcome = ({ type, name, version, outcome, because }: InstallOutcome): ItemOutcome => {
  switch (outcome) {
    case "installed":
    case "present": {
      const text = outcome === "present" ? { text: `${name} is already installed, skipping` } : {}
      return { kind: type, name, ...(version ? { version } : {}), ok: true, ...text }
    }
    case "other-version":
      return itemFailed(type, name, `${because ?? "another version is installed"}; use force to change it`, version)
    case "failed":
      return itemFailed(type, name, because ?? "it is not available", version)
  }
}

const unmet = (
  requirement: PlannedRequirement<RoleRequirement & CollectionRequirement> | undefined,
  { type, name, version: installed }: InstallOutcome,
): readonly ItemOutcome[] =>
  requirement === undefined
    ? []
    : unmetDeclarations(requirement, installed).map(({ blueprint, requirement: { version } }) => {
        const [wanted, found] = [version ?? "it from another place", installed ?? "another one"]
        return itemFailed(type, name, `blueprint ${blueprint} requires ${wanted}, but ${found} is installed`, version)
      })
