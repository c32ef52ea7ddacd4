import {
  type AccessChange,
  type AccessPlan,
  changesOf,
  changesOfRange,
  type DesiredAccess,
  desiredAccess,
  type HeldAccess,
  isCluster,
  type ObservedAccess,
  planAccess,
  type RangeId,
  type RightsOnNetworks,
} from "@rangewright/domain"
import { AccessRecords, HypervisorAccess, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/**
 * Whether the installation is a cluster. Undefined: no nodes were seen yet, or only one although rights were given on VNets before, and a
 * single observation does not disprove that.
 */
const looksLikeCluster = Effect.gen(function* () {
  const machines = yield* Machines
  const records = yield* AccessRecords
  const nodes = (yield* machines.cluster)?.nodes ?? []
  if (nodes.length === 0) return undefined
  if (isCluster(undefined, nodes)) return true
  return (yield* records.held).held.vnets.length > 0 ? undefined : false
})

/** Whether the ranges' networks have rights, and in which zone. */
export const rightsOnNetworks = Effect.gen(function* () {
  const { clusterMode, sdnZone } = yield* Settings
  const inCluster = clusterMode ?? (yield* looksLikeCluster)
  const networks: RightsOnNetworks =
    inCluster === undefined ? { type: "unknown" } : inCluster ? { type: "vnets", zone: sdnZone } : { type: "bridges" }
  return networks
})

/** The desired access according to the store, without rights on single machines. */
export const readDesired = Effect.gen(function* () {
  const records = yield* AccessRecords
  return desiredAccess(yield* records.withoutMachines, yield* rightsOnNetworks)
})

/** The part of it that tells whether a change is wanted: a run makes many changes, and there may be thousands of machines. */
export const readDesiredFor = (change: AccessChange) => {
  const place = "place" in change ? change.place : undefined
  if (place?.type !== "machine") return readDesired
  return AccessRecords.use(({ storedOf }) => Effect.zipWith(storedOf(place.rangeId), rightsOnNetworks, desiredAccess))
}

/** The comparison of access on the hypervisor with what is stored. */
export interface ComparedAccess {
  readonly desired: DesiredAccess
  readonly held: HeldAccess
  readonly observed: ObservedAccess
  /** Version of `held`. */
  readonly version: number
  readonly plan: AccessPlan
  readonly changes: readonly AccessChange[]
}

/** How access to one range differs from what is stored; ignores the rest of the installation. */
export const compareRangeAccess = Effect.fnUntraced(function* (id: RangeId) {
  const records = yield* AccessRecords
  const access = yield* HypervisorAccess
  const { held } = yield* records.held
  const networks = yield* rightsOnNetworks
  const desired = desiredAccess(yield* records.storedOf(id), networks)
  const observed = yield* access.observe(networks.type === "vnets" ? networks.zone : undefined)
  return changesOfRange({ desired, held, observed }, id)
})

/** Compares the whole installation, in few calls. */
export const compareAccess = Effect.gen(function* () {
  const records = yield* AccessRecords
  const access = yield* HypervisorAccess
  const { held, version } = yield* records.held
  const networks = yield* rightsOnNetworks
  const desired = desiredAccess(yield* records.stored, networks)
  const observed = yield* access.observe(networks.type === "vnets" ? networks.zone : undefined)
  const plan = planAccess({ desired, held, observed })
  const compared: ComparedAccess = { desired, held, observed, version, plan, changes: changesOf(plan) }
  return compared
})
