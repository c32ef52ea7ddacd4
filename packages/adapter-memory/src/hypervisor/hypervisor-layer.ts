import type {
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  HypervisorTemplates,
  MachineConsole,
  NetworkMigration,
  NodeShell,
} from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { accessLayer } from "./access.ts"
import { consoleLayer } from "./console.ts"
import { guestLayer } from "./guest.ts"
import { hypervisorLayer } from "./hypervisor.ts"
import type { MemoryWorld } from "./memory-world.ts"
import { networkLayer } from "./network.ts"
import { networkMigrationLayer } from "./network-migration.ts"
import { noShellLayer } from "./shell.ts"
import { templatesLayer } from "./templates.ts"

/** All hypervisor ports over one world. Layers over the same world see the same machines: a new layer is like a restarted process. */
export const memoryHypervisorLayer = (
  world: MemoryWorld,
): Layer.Layer<
  | GuestAutomation
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | HypervisorTemplates
  | MachineConsole
  | NetworkMigration
  | NodeShell
> =>
  Layer.mergeAll(
    accessLayer(world),
    consoleLayer(world),
    guestLayer(world),
    hypervisorLayer(world),
    networkLayer(world),
    networkMigrationLayer(world),
    noShellLayer,
    templatesLayer(world),
  )
