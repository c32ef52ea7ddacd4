import { type Installation, type InstallationRange, type MigrationOptions, natNetworkName, type Range } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess, MigrationRecords, NetworkMigration, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** Nothing of an installation, for a single node: nobody looks at it. */
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

/** What the operator's settings mean for a migration. */
export const migrationOptions = (createZone: boolean) =>
  Effect.gen(function* () {
    const { clusterMode, sdnZone, vxlanTagBase, natNetwork, defaultNode } = yield* Settings
    const { groups } = yield* NetworkMigration
    const isCluster = clusterMode ?? (yield* (yield* Hypervisor).observe).nodes.length > 1
    const options: MigrationOptions = {
      clusterMode: isCluster,
      zone: sdnZone,
      vxlanTagBase,
      natBridge: natNetworkName(false),
      natVnet: natNetwork ?? natNetworkName(isCluster),
      natGroups: [groups.users],
      gatewayNode: defaultNode,
      createZone,
    }
    return options
  })

/** Everybody who has the range by any way, by their accounts on the hypervisor. */
const rangeRights = (range: Range, accounts: ReadonlyMap<string, string>, admins: string) =>
  Effect.gen(function* () {
    const grants = yield* (yield* Ranges).grants(range.id)
    const users = [...new Set(grants.map(({ userId }) => userId))].flatMap((id) => accounts.get(id) ?? [])
    const read: InstallationRange = { id: range.id, number: range.number, users, groups: [admins] }
    return read
  })

/** The users' accounts that the hypervisor has: one that is missing gets its rights when it is made. */
const presentAccounts = Effect.gen(function* () {
  const access = yield* HypervisorAccess
  const users = yield* (yield* Users).list
  const present = yield* Effect.forEach(
    users,
    ({ id, hypervisorUsername: username, hypervisorRealm: realm }) =>
      Effect.map(access.userExists({ username, realm }), (there) => (there ? [[id, `${username}@${realm}`] as const] : [])),
    { concurrency: 4 },
  )
  return new Map<string, string>(present.flat())
})

/** Our ranges; with accounts also who has them. */
export const readRanges = (accounts: ReadonlyMap<string, string> | undefined) =>
  Effect.gen(function* () {
    const { groups } = yield* NetworkMigration
    const ranges = yield* (yield* Ranges).list()
    if (accounts !== undefined) return yield* Effect.forEach(ranges, (range) => rangeRights(range, accounts, groups.admins))
    return ranges.map(({ id, number }): InstallationRange => ({ id, number, users: [], groups: [groups.admins] }))
  })

/** What of an installation costs calls, and is read only where it is needed. */
export interface InstallationLook {
  /** A call for each machine and each snapshot. */
  readonly snapshots: boolean
  /** A call for each user: who may use the networks is not read without. */
  readonly accounts: boolean
}

/** The whole installation as it is now: the hypervisor, our ranges, and what an earlier migration saved. */
export const readInstallation = (zone: string, { snapshots, accounts }: InstallationLook) =>
  Effect.gen(function* () {
    const migration = yield* NetworkMigration
    const ranges = yield* readRanges(accounts ? yield* presentAccounts : undefined)
    const record = yield* (yield* MigrationRecords).find
    const installation: Installation = { ...(yield* migration.observe({ zone, snapshots })), ranges, record }
    return installation
  })
