import type { Installation, Json, MigrationAction } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HypervisorFault } from "./faults.ts"
import type { Dispatched } from "./hypervisor.ts"

/** The part of an installation that is read from the hypervisor. */
export type HypervisorInstallation = Omit<Installation, "ranges" | "record">

/** The migration actions that change the hypervisor, or verify something on it. */
export type NetworkMigrationAction = Exclude<MigrationAction, { readonly kind: "save-record" | "drop-record" }>

/**
 * What a migration between bridges and VNets needs from the hypervisor beyond what deploys need. Dispatching an action whose effect is
 * already there succeeds. A mutating action first identifies its object: VNets by their alias, machines by mark or by pool and name,
 * bridges by having neither ports nor an address; otherwise it fails with `not-ours` and changes nothing. Applying and reloading fail with
 * `failed` while somebody else's changes are pending, and put none of them into force. After `unknown-effect`, dispatching again is safe.
 */
export class NetworkMigration extends Context.Service<
  NetworkMigration,
  {
    /**
     * The whole current installation; changes nothing. VNets of `zone` are looked up on every node. Snapshots cost one call per machine and
     * per snapshot; none are read without `snapshots`.
     */
    readonly observe: (look: {
      readonly zone: string
      readonly snapshots: boolean
    }) => Effect.Effect<HypervisorInstallation, HypervisorFault>
    /**
     * The same without snapshots, for status displays: at most some seconds old, concurrent callers share one read, and machines that
     * cannot be read now are returned as last seen (`unseen`). Never older than what was dispatched here.
     */
    readonly observeCached: (zone: string) => Effect.Effect<HypervisorInstallation, HypervisorFault>
    /** Names of the hypervisor groups of all administrators and of all users. */
    readonly groups: { readonly admins: string; readonly users: string }
    readonly dispatch: (action: NetworkMigrationAction) => Effect.Effect<Dispatched, HypervisorFault>
    /** Waits until the effect was observed. Can be called again with the same token, even after a restart. */
    readonly settle: (action: NetworkMigrationAction, token: Json) => Effect.Effect<void, HypervisorFault>
  }
>()("rangewright/NetworkMigration") {}
