import {
  type AccessChange,
  type AccessPlan,
  changesOf,
  type DesiredAccess,
  desiredAccess,
  type HeldAccess,
  isCluster,
  type ObservedAccess,
  planAccess,
  type RightsOnNetworks,
} from "@rangewright/domain"
import { AccessRecords, HypervisorAccess, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** Whether there are several nodes; undefined: nothing was seen yet, or fewer than when rights were given on VNets, which one look does not prove. */
const looksLikeCluster = Effect.gen(function* () {
  const nodes = (yield* (yield* Machines).cluster)?.nodes ?? []
  if (nodes.length === 0) return undefined
  if (isCluster(undefined, nodes)) return true
  return (yield* (yield* AccessRecords).held).held.vnets.length > 0 ? undefined : false
})

/** Whether the ranges' networks know rights, and where. */
export const rightsOnNetworks = Effect.gen(function* () {
  const { clusterMode, sdnZone } = yield* Settings
  const inCluster = clusterMode ?? (yield* looksLikeCluster)
  const networks: RightsOnNetworks =
    inCluster === undefined ? { type: "unknown" } : inCluster ? { type: "vnets", zone: sdnZone } : { type: "bridges" }
  return networks
})

/** Access as the store says that it should be. */
export const readDesired = Effect.gen(function* () {
  return desiredAccess(yield* (yield* AccessRecords).stored, yield* rightsOnNetworks)
})

/** How access on the hypervisor differs from what is stored. */
export interface ComparedAccess {
  readonly desired: DesiredAccess
  readonly held: HeldAccess
  readonly observed: ObservedAccess
  /** Of what is held. */
  readonly version: number
  readonly plan: AccessPlan
  readonly changes: readonly AccessChange[]
}

/** Compares the whole installation, in few calls. */
export const compareAccess = Effect.gen(function* () {
  const { held, version } = yield* (yield* AccessRecords).held
  const networks = yield* rightsOnNetworks
  const desired = desiredAccess(yield* (yield* AccessRecords).stored, networks)
  const observed = yield* (yield* HypervisorAccess).observe(networks.type === "vnets" ? networks.zone : undefined)
  const plan = planAccess({ desired, held, observed })
  const compared: ComparedAccess = { desired, held, observed, version, plan, changes: changesOf(plan) }
  return compared
})
