import {
  accountIdOf,
  groupOfAccount,
  isCluster,
  type Installation,
  type InstallationRange,
  type MigrationOptions,
  natNetworkName,
  type Range,
  type UserId,
} from "@rangewright/domain"
import { Hypervisor, HypervisorAccess, MigrationRecords, NetworkMigration, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** An empty installation, for a single node, which is not read. */
export const emptyInstallation: Installation = {
  quorate: true,
  nodes: [],
  zones: [],
  vnets: [],
  otherPending: [],
  bridges: [],
  ranges: [],
  machines: [],
  rights: [],
  record: undefined,
}

/** The migration options from the operator's settings. */
export const migrationOptions = (createZone: boolean) =>
  Effect.gen(function* () {
    const { clusterMode, sdnZone, vxlanTagBase, natNetwork, defaultNode } = yield* Settings
    const { groups } = yield* NetworkMigration
    const hypervisor = yield* Hypervisor
    const inCluster = clusterMode ?? isCluster(undefined, (yield* hypervisor.observe).nodes)
    const options: MigrationOptions = {
      clusterMode: inCluster,
      zone: sdnZone,
      vxlanTagBase,
      natBridge: natNetworkName(false),
      natVnet: natNetwork ?? natNetworkName(inCluster),
      natGroups: [groups.users],
      gatewayNode: defaultNode,
      createZone,
    }
    return options
  })

/** The groups with an account's rights that exist on the hypervisor: a missing one gets its rights when it is created. */
const presentGroups = Effect.gen(function* () {
  const access = yield* HypervisorAccess
  const userStore = yield* Users
  const { groups } = yield* access.observe(undefined)
  const users = yield* userStore.list
  return new Map(
    users.flatMap((user) => {
      const group = groupOfAccount(accountIdOf(user))
      return groups.has(group) ? [[user.id, group] as const] : []
    }),
  )
})

/** Everybody who has the range by any path, as their groups on the hypervisor. */
const rangeRights = (range: Range, groupOf: ReadonlyMap<UserId, string>, admins: string) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const grants = yield* ranges.grants(range.id)
    const people = [...new Set(grants.map(({ userId }) => userId))].flatMap((id) => groupOf.get(id) ?? [])
    const read: InstallationRange = { id: range.id, number: range.number, groups: [admins, ...people] }
    return read
  })

/** Our ranges; with `groupOf` also who has them. */
export const readRanges = (groupOf: ReadonlyMap<UserId, string> | undefined) =>
  Effect.gen(function* () {
    const { groups } = yield* NetworkMigration
    const rangeStore = yield* Ranges
    const ranges = yield* rangeStore.list()
    if (groupOf !== undefined) return yield* Effect.forEach(ranges, (range) => rangeRights(range, groupOf, groups.admins))
    return ranges.map(({ id, number }): InstallationRange => ({ id, number, groups: [groups.admins] }))
  })

/** The parts of an installation that cost calls, and are read only where needed. */
export interface InstallationLook {
  /** A call for each machine and each snapshot. */
  readonly snapshots: boolean
  /** Without this, who may use the networks is not read. */
  readonly accounts: boolean
}

/** The whole installation as it is now: the hypervisor, our ranges, and what an earlier migration saved. */
export const readInstallation = (zone: string, { snapshots, accounts }: InstallationLook) =>
  Effect.gen(function* () {
    const migration = yield* NetworkMigration
    const records = yield* MigrationRecords
    const ranges = yield* readRanges(accounts ? yield* presentGroups : undefined)
    const record = yield* records.find
    const installation: Installation = { ...(yield* migration.observe({ zone, snapshots })), ranges, record }
    return installation
  })
