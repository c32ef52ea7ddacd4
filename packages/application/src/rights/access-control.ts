import type { AccessChange, AccountId, Fault, ObservedAccount, RangeId } from "@rangewright/domain"
import { HypervisorAccess, type HypervisorFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { compareAccess, type ComparedAccess, compareRangeAccess } from "./compare.ts"

/** Queries about access on the hypervisor, for operations. Only runs change it. */
export class AccessControl extends Context.Service<
  AccessControl,
  {
    /** Compares access on the hypervisor with what is stored. */
    readonly compare: Effect.Effect<ComparedAccess, Fault>
    /** The changes that concern one range. */
    readonly compareRange: (id: RangeId) => Effect.Effect<readonly AccessChange[], Fault>
    /** The account on the hypervisor; undefined: there is none. */
    readonly account: (id: AccountId) => Effect.Effect<ObservedAccount | undefined, HypervisorFault>
    readonly poolExists: (id: RangeId) => Effect.Effect<boolean, HypervisorFault>
  }
>()("rangewright/AccessControl") {}

export const accessControlLayer = Layer.effect(
  AccessControl,
  Effect.gen(function* () {
    const services = yield* Effect.context<Effect.Services<typeof compareAccess>>()
    const access = yield* HypervisorAccess
    return {
      compare: Effect.provideContext(compareAccess, services),
      compareRange: (id) => Effect.provideContext(compareRangeAccess(id), services),
      account: (id) => Effect.map(access.observe(undefined), ({ accounts }) => accounts.get(id)),
      poolExists: access.poolExists,
    }
  }),
)
