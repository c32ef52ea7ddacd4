import type { Installation, Json, MigrationAction } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HypervisorFault } from "./faults.ts"
import type { Dispatched } from "./hypervisor.ts"

/** The part of an installation that the hypervisor shows. */
export type HypervisorInstallation = Omit<Installation, "ranges" | "record">

/** The actions of a migration that change the hypervisor, or prove something about it. */
export type NetworkMigrationAction = Exclude<MigrationAction, { readonly kind: "save-record" | "drop-record" }>

/**
 * What a migration between bridges and VNets needs of the hypervisor beyond what deploys need. Dispatching an action whose effect is
 * there already is success. A mutating action first makes sure of whom it meets: VNets by their alias, machines by mark or by pool and
 * name, bridges by having neither ports nor an address; else it fails with `not-ours` and nothing was done. Applying and reloading fail
 * with `failed` while changes of others wait, and put nothing of them into force. After `unknown-effect` dispatching again is safe.
 */
export class NetworkMigration extends Context.Service<
  NetworkMigration,
  {
    /**
     * The whole installation as it is now; changes nothing. `zone` is the one whose VNets are looked for on every node. Snapshots cost a
     * call for each machine and each snapshot: without `snapshots` none are read.
     */
    readonly observe: (look: {
      readonly zone: string
      readonly snapshots: boolean
    }) => Effect.Effect<HypervisorInstallation, HypervisorFault>
    /**
     * The same without snapshots, for those who only want to know how things stand: some seconds old at most, one look for all who ask
     * meanwhile, and machines that cannot be read now as they were last seen (`unseen`). Never older than what was dispatched here.
     */
    readonly observeCached: (zone: string) => Effect.Effect<HypervisorInstallation, HypervisorFault>
    /** Names of the groups on the hypervisor that hold all administrators, and everybody. */
    readonly groups: { readonly admins: string; readonly users: string }
    readonly dispatch: (action: NetworkMigrationAction) => Effect.Effect<Dispatched, HypervisorFault>
    /** Waits until the effect was observed. May be called again with the same token, also after a restart. */
    readonly settle: (action: NetworkMigrationAction, token: Json) => Effect.Effect<void, HypervisorFault>
  }
>()("rangewright/NetworkMigration") {}
