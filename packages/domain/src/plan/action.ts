import type { RangeId, UserId, Vmid } from "../access/ids.ts"
import type { Disguises } from "../machine/disguise.ts"
import type { Hardware } from "../machine/hardware.ts"
import type { MachineMark } from "../machine/mark.ts"
import type { Nic } from "../machine/observed.ts"
import type { TestingState } from "../range/range.ts"

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The layer-2 network of a range: a VLAN-aware Linux bridge on one node, or a VLAN-aware VNet of a VXLAN zone in a cluster. */
export type NetworkSpec =
  | { readonly type: "bridge"; readonly name: string; readonly node: string; readonly comment: string }
  | { readonly type: "vnet"; readonly name: string; readonly zone: string; readonly tag: number; readonly alias: string }

/** The VM that an action changes: the adapter refuses when the VM does not carry this mark. */
export interface MachineRef {
  readonly vmid: Vmid
  readonly node: string
  readonly mark: MachineMark
}

/** The settings of a VM, written in one call. */
export interface MachineSettings {
  readonly cpus: number
  readonly memoryMiB: number
  readonly balloonMiB: number | undefined
  readonly nics: readonly Nic[]
  /** Our line of the description: groups and mark. It is merged into the notes that the VM has when it is written (`descriptionWith`). */
  readonly description: string
  readonly tags: readonly string[]
  readonly tablet: boolean
  /** The hardware that it shows. Disks that are not listed stay as they are; absent: all of it stays. */
  readonly hardware?: Hardware
}

/** Stages inside a machine. Each is idempotent: the same input again changes nothing. */
export const guestStages = [
  "address",
  "router",
  "firewall",
  "dns",
  "sysprep",
  "windows-base",
  "primary-dc",
  "alt-dc",
  "domain-join",
  "packages",
  "additional-tools",
  "chocolatey",
  "office",
  "visual-studio",
  "windows-update",
  "inspect-router",
  "inspect-windows",
  "activate-windows",
  "kms-server",
  "anti-sandbox",
  "role",
] as const
export type GuestStage = (typeof guestStages)[number]

export type GuestOs = "windows" | "linux" | "macos"

/** One effect on the world, with everything already chosen. Plans are made of these; execution makes no choices. */
export type Action =
  | { readonly kind: "create-pool"; readonly poolId: RangeId }
  | { readonly kind: "remove-pool"; readonly poolId: RangeId }
  /** `nodes`: where a VNet has to exist in the end; absent: on every online node of its zone. */
  | { readonly kind: "create-network"; readonly network: NetworkSpec; readonly nodes?: readonly string[] }
  | { readonly kind: "remove-network"; readonly network: NetworkSpec }
  | {
      readonly kind: "grant-access"
      readonly rangeId: RangeId
      readonly userIds: readonly UserId[]
      readonly network: NetworkSpec
    }
  | {
      readonly kind: "clone"
      readonly machine: MachineRef
      readonly name: string
      readonly template: { readonly vmid: Vmid; readonly node: string; readonly name: string }
      readonly pool: RangeId
      readonly full: boolean
      readonly storage: string | undefined
      /** Written by the clone call itself, so that a VM never exists without our mark. */
      readonly description: string
    }
  | { readonly kind: "configure"; readonly machine: MachineRef; readonly settings: MachineSettings }
  /** With `untilAgent`, settled only once the guest agent answers, when the boot is over. */
  | { readonly kind: "start"; readonly machine: MachineRef; readonly untilAgent: boolean }
  | { readonly kind: "stop"; readonly machine: MachineRef }
  | { readonly kind: "shutdown"; readonly machine: MachineRef; readonly timeoutSeconds: number }
  | { readonly kind: "delete"; readonly machine: MachineRef }
  /** `description`: contains the mark of its request (`writeSnapshotText`). Memory is saved for a running VM only. */
  | {
      readonly kind: "take-snapshot"
      readonly machine: MachineRef
      readonly snapshot: { readonly name: string; readonly description: string; readonly memory: boolean }
    }
  /**
   * Stops the VM and rolls it back; it runs afterwards only if the snapshot has memory. `takenAt`: time of the snapshot that was meant;
   * another one with its name is never used. `generation` and `digest`: of the VM before, where known; they tell whether it was rolled back
   * already. `settings`: what the VM is set to before the step is over; absent in plans of an older version, which have a step of its own
   * for that. `wasOn`: the VM is not left off when it cannot be rolled back.
   */
  | {
      readonly kind: "roll-back"
      readonly machine: MachineRef
      readonly snapshot: string
      readonly takenAt?: number | undefined
      readonly generation?: string | undefined
      readonly digest: string | undefined
      readonly settings?: MachineSettings
      readonly wasOn?: boolean
    }
  /**
   * With `description`, removes only a snapshot that has exactly this one: another is not ours. With `takenAt`, removes only the snapshot
   * taken then; one with its name that was taken at another time means that the right one is gone already.
   */
  | {
      readonly kind: "remove-snapshot"
      readonly machine: MachineRef
      readonly snapshot: string
      readonly takenAt?: number | undefined
      readonly description?: string
    }
  /** Stores this testing state for the range. */
  | { readonly kind: "record-testing"; readonly rangeId: RangeId; readonly testing: TestingState }
  /** Stores which machines of the range are disguised, and as what. */
  | { readonly kind: "record-disguises"; readonly rangeId: RangeId; readonly disguises: Disguises }
  /** The request cannot be carried out for this VM: fails at once, so that the run reports it. */
  | { readonly kind: "refuse"; readonly vmid: Vmid; readonly because: string }
  /** Waits until the guest agent reports an address. With `expect`, until it reports exactly that one. */
  | { readonly kind: "await-address"; readonly machine: MachineRef; readonly expect: string | undefined; readonly within: string }
  | {
      readonly kind: "guest"
      readonly machine: MachineRef
      readonly os: GuestOs
      readonly stage: GuestStage
      readonly input: Json
    }
  /**
   * Work of another run kind (`fetch`, `install-role`), which knows what it means and does it. The input is journaled: it refers to secrets
   * but never contains one.
   */
  | { readonly kind: "work"; readonly work: string; readonly input: Json }

export type ActionKind = Action["kind"]
