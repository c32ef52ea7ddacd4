import type { InstallPlan, PlannedArtifact, PlannedBlueprint, RecordId } from "@rangewright/domain"
import type {
  ArtifactLibrary,
  Blueprints,
  ContentFetcher,
  CredentialHasher,
  RoleInstaller,
  Sources,
  StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { installArtifact } from "./install-artifact.ts"
import { installBlueprint, removeBlueprints, type SourceRow } from "./install-blueprint.ts"
import { installRequirements, type RequirementsOfKind } from "./install-requirements.ts"
import { type Installation, scopeFor } from "./installation.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"
import type { PreparedInstall } from "./prepare-install.ts"

/** One part of an installation, as plain data. Each may be repeated, and fails alone. */
export type InstallStep =
  | { readonly do: "prune"; readonly rows: readonly SourceRow[] }
  | {
      readonly do: "blueprint"
      readonly id: string
      readonly recordId: RecordId
      readonly planned: Omit<PlannedBlueprint, "blueprint">
    }
  | { readonly do: "artifact"; readonly artifact: PlannedArtifact; readonly force: boolean }
  | { readonly do: "requirements"; readonly wanted: RequirementsOfKind; readonly force: boolean }
  | { readonly do: "subscription"; readonly roles: InstallPlan["subscriptionRoles"] }

/** All that is to be done, in order: what takes longest and fails most comes last (contract C 6.1). */
export const installStepsOf = ({ plan, records, pruned }: PreparedInstall, force: boolean): readonly InstallStep[] => [
  ...(pruned.length === 0 ? [] : [{ do: "prune", rows: pruned } as const]),
  ...plan.blueprints.flatMap(({ blueprint: { id }, ...planned }): readonly InstallStep[] => {
    const recordId = records.get(id)
    return recordId === undefined ? [] : [{ do: "blueprint", id, recordId, planned }]
  }),
  ...plan.artifacts.map((artifact) => ({ do: "artifact", artifact, force }) as const),
  ...(plan.roles.length === 0 ? [] : [{ do: "requirements", wanted: { type: "role", planned: plan.roles }, force } as const]),
  ...(plan.collections.length === 0
    ? []
    : [{ do: "requirements", wanted: { type: "collection", planned: plan.collections }, force } as const]),
  ...(plan.subscriptionRoles.length === 0 ? [] : [{ do: "subscription", roles: plan.subscriptionRoles } as const]),
]

export type InstallServices = ArtifactLibrary | Blueprints | ContentFetcher | CredentialHasher | RoleInstaller | Sources

/** Does one step; says what became of each item in it. */
export const performInstallStep = (
  installation: Installation,
  step: InstallStep,
): Effect.Effect<readonly ItemOutcome[], StorageFault, InstallServices> => {
  switch (step.do) {
    case "prune":
      return Effect.as(removeBlueprints(installation.source.recordId, step.rows), [])
    case "blueprint": {
      const blueprint = installation.content.content.blueprints.find(({ id }) => id === step.id)
      return blueprint === undefined
        ? Effect.succeed([itemFailed("blueprint", step.planned.publicId, "the source does not ship it")])
        : Effect.map(installBlueprint(installation, { ...step.planned, blueprint }, step.recordId), (outcome) => [outcome])
    }
    case "artifact":
      return Effect.map(installArtifact(installation, step.artifact, step.force), (outcome) => [outcome])
    case "requirements":
      return installRequirements(installation.source.recordId, scopeFor(step.wanted.type, installation), step.wanted, step.force)
    case "subscription":
      return Effect.succeed([])
  }
}
