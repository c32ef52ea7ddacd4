import { type Installation, type InstallationRange, type MigrationOptions, natNetworkName, type Range } from "@rangewright/domain"
import { Hypervisor, MigrationRecords, NetworkMigration, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** What the operator's settings mean for a migration. */
export const migrationOptions = (createZone: boolean) =>
  Effect.gen(function* () {
    const { clusterMode, sdnZone, vxlanTagBase, natNetwork } = yield* Settings
    const { groups } = yield* NetworkMigration
    const isCluster = clusterMode ?? (yield* (yield* Hypervisor).observe).nodes.length > 1
    const options: MigrationOptions = {
      clusterMode: isCluster,
      zone: sdnZone,
      vxlanTagBase,
      natBridge: natNetworkName(false),
      natVnet: natNetwork ?? natNetworkName(isCluster),
      natGroups: [groups.users],
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

/** The whole installation as it is now: the hypervisor, our ranges, and what an earlier migration saved. Snapshots cost calls. */
export const readInstallation = (zone: string, look: { readonly snapshots: boolean }) =>
  Effect.gen(function* () {
    const migration = yield* NetworkMigration
    const users = yield* (yield* Users).list
    const accounts = new Map(users.map((user) => [user.id, `${user.hypervisorUsername}@${user.hypervisorRealm}`]))
    const ranges = yield* Effect.forEach(yield* (yield* Ranges).list(), (range) =>
      rangeRights(range, accounts, migration.groups.admins),
    )
    const record = yield* (yield* MigrationRecords).find
    const installation: Installation = { ...(yield* migration.observe({ zone, ...look })), ranges, record }
    return installation
  })
