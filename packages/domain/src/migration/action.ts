import type { Vmid } from "../access/ids.ts"
import type { InstallationBridge, MigrationRecord } from "./installation.ts"
import type { MoveGuard } from "./machines.ts"

/** The way of a node to the network of one range: through the outside address of its router. */
export interface RangeRoute {
  /** 10.N.0.0/16. */
  readonly network: string
  /** 192.0.2.(100+N). */
  readonly router: string
}

/** One card of a machine goes from one network to the other. */
export interface NicMove {
  readonly nic: string
  readonly from: string
  readonly to: string
}

/** A VXLAN zone to be made, exactly. */
export interface ZoneToMake {
  readonly name: string
  /** Addresses of all nodes. */
  readonly peers: readonly string[]
  /** Bytes of a packet. */
  readonly mtu: number
}

export interface VnetToMake {
  readonly name: string
  readonly zone: string
  readonly tag: number
  readonly alias: string
}

/**
 * One effect of a migration, with everything chosen. Each may be repeated: what is there already is there, what is gone is gone. What has
 * to be applied is only written; applying is a step of its own, so that one serves all.
 */
export type MigrationAction =
  /** Keeps how things are now, before anything changes. */
  | { readonly kind: "save-record"; readonly record: MigrationRecord }
  /** The installation is as the record says again: it has served. */
  | { readonly kind: "drop-record" }
  /** Refused where a zone of the name came into force meanwhile: it is somebody else's. The same for bridges. */
  | { readonly kind: "create-zone"; readonly zone: ZoneToMake }
  /**
   * Refused where the zone is not the one meant, by its type and its peers. `unapplied`: only while it waits for an apply; one that is in
   * force then was made by somebody else.
   */
  | {
      readonly kind: "remove-zone"
      readonly zone: string
      readonly peers: readonly string[]
      readonly unapplied?: boolean | undefined
    }
  | { readonly kind: "create-vnet"; readonly vnet: VnetToMake }
  | { readonly kind: "remove-vnet"; readonly vnet: string; readonly zone: string; readonly alias: string }
  /** Puts all SDN changes that wait into force, on every node. Refused where others than these wait. */
  | {
      readonly kind: "apply-sdn"
      readonly zone: string
      /** VNets that stand on every node of the zone then, and VNets that are gone. */
      readonly present: readonly string[]
      readonly absent: readonly string[]
    }
  /** Lets groups use a VNet; one call. Plans of older versions also name users, who have their rights by groups now. */
  | {
      readonly kind: "grant-vnet"
      readonly zone: string
      readonly vnet: string
      readonly groups: readonly string[]
    }
  /** Proves that every one of these networks is usable on each of these nodes. The last step before machines move. */
  | {
      readonly kind: "verify-networks"
      /** The zone of the networks; undefined: they are bridges. */
      readonly zone?: string | undefined
      readonly networks: readonly NetworkOnNodes[]
    }
  /** Moves cards of one machine, in one call. A card that is where it should be stays; one that is elsewhere is a failure. */
  | {
      readonly kind: "move-nics"
      readonly vmid: Vmid
      readonly node: string
      readonly name: string
      readonly guard: MoveGuard
      readonly nics: readonly NicMove[]
    }
  /**
   * Gives a node an address on a device, and keeps it with the routes to all ranges for the time when the device comes up. This and the
   * other actions on a host go through a shell.
   */
  | {
      readonly kind: "host-address"
      readonly node: string
      readonly device: string
      /** With its prefix. */
      readonly address: string
      readonly routes: readonly RangeRoute[]
      /** The device had nothing of it before: a way back takes all of it. */
      readonly fresh: boolean
    }
  /** Leads from a node to a range through a device. */
  | {
      readonly kind: "range-route"
      readonly node: string
      readonly device: string
      readonly network: string
      readonly router: string
    }
  /** Takes an address from a device, and forgets what was kept for it. */
  | { readonly kind: "leave-host"; readonly node: string; readonly device: string; readonly address: string }
  /** Writes the node's own address to a bridge, or takes it away; a reload puts it into force. */
  | { readonly kind: "bridge-address"; readonly node: string; readonly bridge: string; readonly address?: string | undefined }
  /** Makes the bridge again as it was. */
  | { readonly kind: "create-bridge"; readonly bridge: InstallationBridge }
  /**
   * Refused while the bridge has ports or an address, or a guest hangs on it. `unapplied`: only while it waits for a reload; one that is in
   * force then was made by somebody else.
   */
  | { readonly kind: "remove-bridge"; readonly node: string; readonly bridge: string; readonly unapplied?: boolean | undefined }
  /** Drops removals of these bridges that wait for a reload of the node. Refused where edits of others wait beside them. */
  | { readonly kind: "revert-network"; readonly node: string; readonly bridges: readonly string[] }
  /** Puts the changes of a node's own network into force. Refused where others than these wait, or a machine hangs on a bridge that goes. */
  | {
      readonly kind: "reload-network"
      readonly node: string
      /** Bridges that stand then, and bridges that are gone. */
      readonly present: readonly string[]
      readonly absent: readonly string[]
    }
  /** Proves that none of these machines of a node hangs on any of these networks. */
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
 * `prepare`: nothing that a machine uses changes, and a failure undoes it. `move`: from the first of these on a run goes forward only.
 * `clean`: what no machine uses any more goes.
 */
export type MigrationPhase = "prepare" | "move" | "clean"
