import type { NetworkSpec, RangeId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HypervisorFault } from "./faults.ts"

/** An account on the hypervisor, `name@realm`. */
export interface HypervisorAccount {
  readonly username: string
  readonly realm: string
}

/** Users, pools and rights. Every method is idempotent: what is there already is success, what is gone already is removed. */
export class HypervisorAccess extends Context.Service<
  HypervisorAccess,
  {
    readonly ensureUser: (
      account: HypervisorAccount,
      password: string,
      options: { readonly admin: boolean },
    ) => Effect.Effect<void, HypervisorFault>
    /** Puts the account among the administrators or takes it out. One that does not exist cannot be put there (`not-found`). */
    readonly setAdmin: (account: HypervisorAccount, admin: boolean) => Effect.Effect<void, HypervisorFault>
    readonly setPassword: (account: HypervisorAccount, password: string) => Effect.Effect<void, HypervisorFault>
    readonly removeUser: (account: HypervisorAccount) => Effect.Effect<void, HypervisorFault>
    readonly userExists: (account: HypervisorAccount) => Effect.Effect<boolean, HypervisorFault>
    readonly poolExists: (poolId: RangeId) => Effect.Effect<boolean, HypervisorFault>
    readonly ensurePool: (poolId: RangeId) => Effect.Effect<void, HypervisorFault>
    /** Fails with `failed` while the pool has members, and with `not-ours` while another pool lies below it. */
    readonly removePool: (poolId: RangeId) => Effect.Effect<void, HypervisorFault>
    /** Grants these accounts (and the administrators' group) the use of the range's pool and, in a cluster, of its VNet. */
    readonly grant: (
      poolId: RangeId,
      accounts: readonly HypervisorAccount[],
      network: NetworkSpec | undefined,
    ) => Effect.Effect<void, HypervisorFault>
    /** Whether `grant` with the same arguments would change nothing; one read. */
    readonly granted: (
      poolId: RangeId,
      accounts: readonly HypervisorAccount[],
      network: NetworkSpec | undefined,
    ) => Effect.Effect<boolean, HypervisorFault>
    readonly revoke: (
      poolId: RangeId,
      accounts: readonly HypervisorAccount[],
      network: NetworkSpec | undefined,
    ) => Effect.Effect<void, HypervisorFault>
    /** What the service's own credentials may do, for `doctor`: privilege -> held. */
    readonly privileges: Effect.Effect<ReadonlyMap<string, boolean>, HypervisorFault>
  }
>()("rangewright/HypervisorAccess") {}
