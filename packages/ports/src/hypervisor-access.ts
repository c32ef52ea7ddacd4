import type { AccessChange, ObservedAccess, RangeId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { HypervisorFault } from "./faults.ts"

/** The rights that a feature needs from the service's own account. */
export interface FeatureRights {
  /** In words that can follow "blocks": `consoles`. */
  readonly feature: string
  /** Privilege with its path -> whether the account has it: `VM.Console on /vms`. */
  readonly privileges: ReadonlyMap<string, boolean>
}

/** Accounts, groups, pools and rights on the hypervisor. */
export class HypervisorAccess extends Context.Service<
  HypervisorAccess,
  {
    /**
     * The current state, in a few calls however much there is. Fails with `forbidden` if the service's account cannot see everything,
     * including all VNets of `zone` where rights are given on them.
     */
    readonly observe: (zone: string | undefined) => Effect.Effect<ObservedAccess, HypervisorFault>
    /**
     * Makes one change. Safe to repeat: something that already exists, or is already gone, counts as success. `password` is for the account
     * that is created or whose password is set; an account in a realm other than the hypervisor's own is created without one.
     * `remove-account` fails with `not-ours` for an account that the service did not create. So does `set-password` if it would have to
     * recreate an account that the service did not create, or that has tokens.
     */
    readonly apply: (change: AccessChange, password?: Redacted.Redacted) => Effect.Effect<void, HypervisorFault>
    readonly poolExists: (poolId: RangeId) => Effect.Effect<boolean, HypervisorFault>
    readonly ensurePool: (poolId: RangeId) => Effect.Effect<void, HypervisorFault>
    /** Fails with `failed` while the pool has members, and with `not-ours` while it has a nested pool. */
    readonly removePool: (poolId: RangeId) => Effect.Effect<void, HypervisorFault>
    /** The rights of the service's own credentials, for `doctor`. Without the first feature, none of the others works. */
    readonly privileges: Effect.Effect<readonly FeatureRights[], HypervisorFault>
  }
>()("rangewright/HypervisorAccess") {}
