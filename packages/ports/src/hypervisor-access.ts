import type { AccessChange, ObservedAccess, RangeId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { HypervisorFault } from "./faults.ts"

/** What a feature of the service needs of the service's own account. */
export interface FeatureRights {
  /** In words that follow "blocks": `consoles`. */
  readonly feature: string
  /** Each with its path, and whether it is held: `VM.Console on /vms`. */
  readonly privileges: ReadonlyMap<string, boolean>
}

/** Accounts, groups, pools and rights on the hypervisor. */
export class HypervisorAccess extends Context.Service<
  HypervisorAccess,
  {
    /**
     * All of them as they are now, in few calls however many there are. Fails with `forbidden` where the service's account may not see them all,
     * and all VNets of `zone`, where rights are given on them.
     */
    readonly observe: (zone: string | undefined) => Effect.Effect<ObservedAccess, HypervisorFault>
    /**
     * Makes one change. Repeating it is safe: what is there already is success, as is what is gone already. `password` is for the account that
     * is created, or given it; an account of a realm that is not the hypervisor's own is created without.
     * `remove-account` fails with `not-ours` for one that the service did not make, as does `set-password` where it would have to make one again
     * that it did not make, or that has tokens.
     */
    readonly apply: (change: AccessChange, password?: Redacted.Redacted) => Effect.Effect<void, HypervisorFault>
    readonly poolExists: (poolId: RangeId) => Effect.Effect<boolean, HypervisorFault>
    readonly ensurePool: (poolId: RangeId) => Effect.Effect<void, HypervisorFault>
    /** Fails with `failed` while the pool has members, and with `not-ours` while another pool lies below it. */
    readonly removePool: (poolId: RangeId) => Effect.Effect<void, HypervisorFault>
    /** What the service's own credentials may do, for `doctor`. Without the first feature there is no other. */
    readonly privileges: Effect.Effect<readonly FeatureRights[], HypervisorFault>
  }
>()("rangewright/HypervisorAccess") {}
