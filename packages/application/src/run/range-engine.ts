import {
  AccessRecords,
  ArtifactLibrary,
  Blueprints,
  Groups,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  HypervisorTemplates,
  Machines,
  MigrationRecords,
  NetworkMigration,
  NodePackages,
  NodeShell,
  Notifications,
  Ranges,
  RoleInstaller,
  Sources,
  TemplateBuilder,
  Users,
} from "@rangewright/ports"
import { runEngineLayer, type RunEngineOptions, type RunKind } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../settings.ts"
import { rangeKinds } from "./range-kinds.ts"

/** Ports through which work changes things. */
const fenced = [
  AccessRecords,
  ArtifactLibrary,
  Blueprints,
  Groups,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  HypervisorTemplates,
  Machines,
  MigrationRecords,
  NetworkMigration,
  NodePackages,
  NodeShell,
  Notifications,
  Ranges,
  RoleInstaller,
  Sources,
  TemplateBuilder,
  Users,
] as const

/** Finished runs kept when the setting is not positive. */
const historyAtLeast = 10

export interface RangeEngineOptions extends Pick<RunEngineOptions, "owner" | "leaseSeconds"> {
  /**
   * Minimum seconds from the opening of a deploy to its end, unless it is aborted: clients that poll its range wait until they have seen it
   * deploying, even if there was nothing to do. Default 0.
   */
  readonly deployShownSeconds?: number
}

/** The run engine for runs of ranges and of these other kinds. */
export const rangeEngineLayer = <const K extends readonly RunKind<unknown>[] = readonly []>(
  { deployShownSeconds, ...options }: RangeEngineOptions,
  kinds?: K,
) =>
  Layer.unwrap(
    Effect.map(Settings, ({ maxLogHistory }) =>
      runEngineLayer(
        {
          ...options,
          ...(deployShownSeconds === undefined ? {} : { shownSeconds: deployShownSeconds }),
          runsKept: maxLogHistory > 0 ? maxLogHistory : historyAtLeast,
          fenced,
        },
        [...rangeKinds, ...((kinds ?? []) as K)],
      ),
    ),
  )
