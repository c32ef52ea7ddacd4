import { type MachineRef, macOf, type RangeId, type Vmid, writeDescription, writeSnapshotText } from "@rangewright/domain"
import {
  type GuestAutomation,
  Hypervisor,
  type HypervisorAccess,
  type HypervisorNetwork,
  type MachineConsole,
  type NetworkMigration,
  type MachineAction,
  type NodeShell,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Others } from "./others.ts"

export type HypervisorPorts =
  | Hypervisor
  | HypervisorNetwork
  | HypervisorAccess
  | GuestAutomation
  | MachineConsole
  | NetworkMigration
  | NodeShell

/** A hypervisor with one Linux template, as the contracts see it. */
export interface World {
  readonly run: <A, E>(effect: Effect.Effect<A, E, HypervisorPorts>) => Promise<A>
  /** The same as a new process sees it: nothing remembered. */
  readonly restarted: () => World
  readonly node: string
  readonly template: { readonly vmid: Vmid; readonly node: string; readonly name: string }
  /** Creates a stopped VM that is not ours. */
  readonly stranger: (vmid: number) => Promise<void>
  /** Removes a VM without the adapter. */
  readonly remove: (vmid: number) => Promise<void>
  /** Whether the VM exists, by the world itself. */
  readonly exists: (vmid: number) => boolean
  readonly others: Others
  readonly close: () => Promise<void>
}

/** An adapter of the hypervisor ports. */
export interface HypervisorUnderTest {
  readonly name: string
  readonly make: () => Promise<World>
}

export const rangeId = "LAB1" as RangeId
export const vmidOf = (n: number): Vmid => n as Vmid

export type ActionOf<K extends MachineAction["kind"]> = Extract<MachineAction, { readonly kind: K }>

export const refOf = (world: Pick<World, "node">, vmid = 20_001, machine = `LAB1-vm${vmid}`): MachineRef => ({
  vmid: vmidOf(vmid),
  node: world.node,
  mark: { range: rangeId, machine },
})

export const cloneOf = (world: Pick<World, "template">, ref: MachineRef): ActionOf<"clone"> => ({
  kind: "clone",
  machine: ref,
  name: ref.mark.machine,
  template: world.template,
  pool: rangeId,
  full: false,
  storage: undefined,
  description: writeDescription(ref.mark, ["linux"]),
})

export const configureOf = (ref: MachineRef): ActionOf<"configure"> => ({
  kind: "configure",
  machine: ref,
  settings: {
    cpus: 3,
    memoryMiB: 4096,
    balloonMiB: undefined,
    nics: [{ index: 0, model: "virtio", mac: macOf(ref.vmid, 0), bridge: "vmbr1000", tag: 10, firewall: false }],
    description: writeDescription(ref.mark, ["linux", "server"]),
    tags: ["rangewright"],
    tablet: false,
  },
})

export const startOf = (ref: MachineRef, untilAgent = false): ActionOf<"start"> => ({ kind: "start", machine: ref, untilAgent })
export const stopOf = (ref: MachineRef): ActionOf<"stop"> => ({ kind: "stop", machine: ref })
export const deleteOf = (ref: MachineRef): ActionOf<"delete"> => ({ kind: "delete", machine: ref })

export const takeOf = (ref: MachineRef, name = "clean", memory = false): ActionOf<"take-snapshot"> => ({
  kind: "take-snapshot",
  machine: ref,
  snapshot: { name, description: writeSnapshotText("As it was delivered", "test1"), memory },
})
/** `of`: what the plan knew of the machine and the snapshot. */
export const rollBackOf = (
  ref: MachineRef,
  snapshot = "clean",
  of: Partial<Pick<ActionOf<"roll-back">, "digest" | "generation" | "takenAt">> = {},
): ActionOf<"roll-back"> => ({ kind: "roll-back", machine: ref, snapshot, digest: undefined, ...of })
export const removeOf = (ref: MachineRef, snapshot = "clean", takenAt?: number): ActionOf<"remove-snapshot"> => ({
  kind: "remove-snapshot",
  machine: ref,
  snapshot,
  ...(takenAt === undefined ? {} : { takenAt }),
})

/** Dispatches and settles. */
export const perform = (action: MachineAction) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const { token } = yield* hypervisor.dispatch(action)
    yield* hypervisor.settle(action, token)
    return token
  })

/** The reason for its failure. */
export const reasonOf = <A, E extends { readonly facts: { readonly reason: string } }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onSuccess: () => "no failure", onFailure: (fault) => fault.facts.reason })

/** Runs the test's body on a fresh world and closes it. */
export const onWorld = (hypervisor: HypervisorUnderTest, body: (world: World) => Promise<void>) => async () => {
  const world = await hypervisor.make()
  try {
    await body(world)
  } finally {
    await world.close()
  }
}
