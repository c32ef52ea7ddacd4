import type { RecordId } from "@rangewright/domain"
import {
  ArtifactLibrary,
  type CredentialHasher,
  LicenseProvider,
  type RoleInstaller,
  type RunJournal,
  type StorageFault,
  type SubscriptionProvider,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { DiskServices } from "../disk/keeping.ts"
import { installSubscriptionRoles } from "../subscription/install-roles.ts"
import { claimItems } from "./claim-items.ts"
import { installArtifact } from "./install-artifact.ts"
import { installBlueprint, removeBlueprints } from "./install-blueprint.ts"
import { installRequirements } from "./install-requirements.ts"
import type { InstallStep } from "./install-steps.ts"
import { type ArtifactInstallation, type Installation, scopeFor } from "./installation.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"

/** The services that the steps of an installation need. */
export type StepServices = CredentialHasher | DiskServices | LicenseProvider | RoleInstaller | RunJournal | SubscriptionProvider

/** A step that installs something other than a blueprint. */
export type ArtifactStep = Extract<InstallStep, { readonly do: "artifact" | "roles" | "collections" | "subscription" }>

/** Performs such a step; also for blueprints without a source. */
export const performArtifactStep = (
  installation: ArtifactInstallation,
  step: ArtifactStep,
  output?: (text: string) => Effect.Effect<void>,
): Effect.Effect<readonly ItemOutcome[], StorageFault, StepServices> => {
  const { source } = installation
  switch (step.do) {
    case "artifact":
      return Effect.map(installArtifact(installation, step.artifact, step.force), (outcome) =>
        step.required && outcome.ok ? [outcome, { ...outcome, kind: "role" }] : [outcome],
      )
    case "roles":
      return installRequirements(
        source.recordId,
        scopeFor("role", installation),
        { type: "role", planned: step.planned },
        step.force,
        output,
      )
    case "collections":
      return installRequirements(
        source.recordId,
        scopeFor("collection", installation),
        { type: "collection", planned: step.planned },
        step.force,
        output,
      )
    case "subscription":
      return subscriptionRoles(source.recordId, step.names)
  }
}

/** Performs one step; returns the outcome of each item in it. `output` is called with the output of tools. */
export const performInstallStep = (
  installation: Installation,
  step: Exclude<InstallStep, { readonly do: "check" }>,
  output?: (text: string) => Effect.Effect<void>,
): Effect.Effect<readonly ItemOutcome[], StorageFault, StepServices> => {
  switch (step.do) {
    case "prune":
      return Effect.as(removeBlueprints(installation.source.recordId, step.rows), [])
    case "blueprint":
      return Effect.map(shippedBlueprint(installation, step), (outcome) => [outcome])
    case "artifact":
    case "roles":
    case "collections":
    case "subscription":
      return performArtifactStep(installation, step, output)
  }
}

const shippedBlueprint = (
  installation: Installation,
  { id, recordId, ...planned }: Extract<InstallStep, { readonly do: "blueprint" }>,
) => {
  const blueprint = installation.content.content.blueprints.find((shipped) => shipped.id === id)
  return blueprint === undefined
    ? Effect.succeed(itemFailed("blueprint", planned.publicId, planned.because ?? "the source does not ship it"))
    : installBlueprint(installation, { ...planned, blueprint }, recordId)
}

/** They are global and never replaced: one that is installed needs no licence. Without a licence only the others fail. */
const subscriptionRoles = (source: RecordId, names: readonly string[]) =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const licenses = yield* LicenseProvider
    const scope = { type: "global" } as const
    const copies = new Map((yield* library.list(scope)).roles.map(({ name, version = "" }) => [name, version]))
    const there = names.flatMap((name): readonly ItemOutcome[] => {
      const version = copies.get(name)
      if (version === undefined) return []
      const text = `${name} is already installed, skipping`
      return [{ kind: "subscription_role", name, ...(version === "" ? {} : { version }), ok: true, text }]
    })
    const license = yield* licenses.current
    const missing = names.filter((name) => !copies.has(name))
    const brought = (yield* installSubscriptionRoles(missing, license, { scope, force: false })).map((outcome): ItemOutcome =>
      "refused" in outcome
        ? itemFailed("subscription_role", outcome.role, outcome.refused)
        : { kind: "subscription_role", name: outcome.role, version: outcome.version, ok: true },
    )
    const claimed = [...there, ...brought].filter(({ ok }) => ok)
    yield* claimItems(
      source,
      claimed.map(({ name, version = "" }) => ({ kind: "subscription-role", name, version, scope })),
    )
    return [...there, ...brought]
  }).pipe(
    Effect.catchTags({
      SubscriptionFault: ({ message }) => Effect.succeed([itemFailed("subscription_role", "", message)]),
      LibraryFault: ({ message }) => Effect.succeed([itemFailed("subscription_role", "", message)]),
    }),
  )
