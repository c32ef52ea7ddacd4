import type { Vmid } from "../access/ids.ts"
import type { InstallationBridge, MigrationRecord } from "./installation.ts"
import type { MoveGuard } from "./machines.ts"

/** A node's route to the network of one range, through the outside address of the range's router. */
export interface RangeRoute {
  /** 10.N.0.0/16. */
  readonly network: string
  /** 192.0.2.(100+N). */
  readonly router: string
}

/** One network card of a machine moves from one network to another. */
export interface NicMove {
  readonly nic: string
  readonly from: string
  readonly to: string
}

/** A VXLAN zone to create, with every setting. */
export interface ZoneToMake {
  readonly name: string
  /** Addresses of all nodes. */
  readonly peers: readonly string[]
  /** In bytes. */
  readonly mtu: number
}

export interface VnetToMake {
  readonly name: string
  readonly zone: string
  readonly tag: number
  readonly alias: string
}

/**
 * One effect of a migration, with everything chosen. Actions are idempotent: they accept what exists or is gone already. Changes that
 * need an apply or a reload are only written; applying them is a step of its own, so that one serves all.
 */
export type MigrationAction =
  /** Saves the current state before anything changes. */
  | { readonly kind: "save-record"; readonly record: MigrationRecord }
  /** Deletes the record once the installation matches it again. */
  | { readonly kind: "drop-record" }
  /** Refused when a zone of that name has come into force meanwhile: it is somebody else's. The same holds for bridges. */
  | { readonly kind: "create-zone"; readonly zone: ZoneToMake }
  /**
   * Refused when the zone's type or peers are not the expected ones. `unapplied`: removed only while it waits for an apply; a zone that
   * is in force was then made by somebody else.
   */
  | {
      readonly kind: "remove-zone"
      readonly zone: string
      readonly peers: readonly string[]
      readonly unapplied?: boolean | undefined
    }
  | { readonly kind: "create-vnet"; readonly vnet: VnetToMake }
  | { readonly kind: "remove-vnet"; readonly vnet: string; readonly zone: string; readonly alias: string }
  /** Applies all pending SDN changes on every node. Refused when changes other than these are pending. */
  | {
      readonly kind: "apply-sdn"
      readonly zone: string
      /** VNets that must exist on every node of the zone afterwards, and VNets that must be gone. */
      readonly present: readonly string[]
      readonly absent: readonly string[]
    }
  /** Lets groups use a VNet, in one call. Plans of older versions also name users, who now get their rights through groups. */
  | {
      readonly kind: "grant-vnet"
      readonly zone: string
      readonly vnet: string
      readonly groups: readonly string[]
    }
  /** Verifies that each network is usable on each of its nodes. The last step before machines move. */
  | {
      readonly kind: "verify-networks"
      /** The zone of the networks; undefined: they are bridges. */
      readonly zone?: string | undefined
      readonly networks: readonly NetworkOnNodes[]
    }
  /** Moves network cards of one machine, in one call. A card on its target stays; a card on a third network is a failure. */
  | {
      readonly kind: "move-nics"
      readonly vmid: Vmid
      readonly node: string
      readonly name: string
      readonly guard: MoveGuard
      readonly nics: readonly NicMove[]
    }
  /**
   * Adds an address to a device of a node, and saves it with the routes to all ranges, so that they come back with the device. This,
   * `range-route` and `leave-host` go through a shell.
   */
  | {
      readonly kind: "host-address"
      readonly node: string
      readonly device: string
      /** With its prefix. */
      readonly address: string
      readonly routes: readonly RangeRoute[]
      /** The device had neither address nor file of ours before, so that undoing removes both. */
      readonly fresh: boolean
    }
  /** Routes a range's network through a device of a node. */
  | {
      readonly kind: "range-route"
      readonly node: string
      readonly device: string
      readonly network: string
      readonly router: string
    }
  /** Removes an address from a device, and the file that saved it. */
  | { readonly kind: "leave-host"; readonly node: string; readonly device: string; readonly address: string }
  /** Writes the node's own address to the configuration of a bridge, or removes it; a reload applies that. */
  | { readonly kind: "bridge-address"; readonly node: string; readonly bridge: string; readonly address?: string | undefined }
  /** Creates the bridge as it was before, or a plain one for a range made since. */
  | { readonly kind: "create-bridge"; readonly bridge: InstallationBridge }
  /**
   * Refused while the bridge has ports or an address, or a guest is attached to it. `unapplied`: removed only while it waits for a reload;
   * a bridge that is in force was then made by somebody else.
   */
  | { readonly kind: "remove-bridge"; readonly node: string; readonly bridge: string; readonly unapplied?: boolean | undefined }
  /** Reverts pending removals of these bridges on the node. Refused when other edits are pending there, which would be lost. */
  | { readonly kind: "revert-network"; readonly node: string; readonly bridges: readonly string[] }
  /** Applies a node's pending network changes. Refused when others than these are pending, or a machine is on a bridge that goes. */
  | {
      readonly kind: "reload-network"
      readonly node: string
      /** Bridges that must exist afterwards, and bridges that must be gone. */
      readonly present: readonly string[]
      readonly absent: readonly string[]
    }
  /** Verifies that none of these machines of a node is attached to any of these networks. */
  | {
      readonly kind: "verify-machines"
      readonly node: string
      readonly machines: readonly Vmid[]
      readonly leaving: readonly string[]
    }

export type MigrationActionKind = MigrationAction["kind"]

export interface NetworkOnNodes {
  readonly network: string
  readonly nodes: readonly string[]
}

/**
 * `prepare`: changes nothing that a machine uses, and a failure undoes it. `move`: once the first of these has begun, a run only goes
 * forward. `clean`: removes what no machine uses any more.
 */
export type MigrationPhase = "prepare" | "move" | "clean"
