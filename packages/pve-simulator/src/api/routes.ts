import type { Handler } from "../http/call.ts"
import { aclRoutes } from "./acl.ts"
import { agentRoutes } from "./agent.ts"
import { backupRoutes } from "./backups.ts"
import { clusterRoutes } from "./cluster.ts"
import { consoleRoutes } from "./console.ts"
import { cpuModelRoutes } from "./cpu-models.ts"
import { firewallRoutes } from "./firewall.ts"
import { guestCloneRoutes } from "./guest-clone.ts"
import { guestConfigRoutes } from "./guest-config.ts"
import { guestMigrateRoutes } from "./guest-migrate.ts"
import { haRuleRoutes } from "./ha-rules.ts"
import { haStatusRoutes } from "./ha-status.ts"
import { haRoutes } from "./ha.ts"
import { guestCreateRoutes } from "./guest-create.ts"
import { guestDiskRoutes } from "./guest-disks.ts"
import { guestMoveDiskRoutes } from "./guest-move-disk.ts"
import { guestPowerRoutes } from "./guest-power.ts"
import { guestSnapshotRoutes } from "./guest-snapshots.ts"
import { groupRoutes } from "./groups.ts"
import { guestTemplateRoutes } from "./guest-template.ts"
import { guestRoutes } from "./guests.ts"
import { networkRoutes } from "./network.ts"
import { nodeRoutes } from "./nodes.ts"
import { nodeReportRoutes } from "./node-reports.ts"
import { nodePowerRoutes } from "./node-power.ts"
import { poolRoutes } from "./pools.ts"
import { resourceRoutes } from "./resources.ts"
import { realmRoutes } from "./realms.ts"
import { roleRoutes } from "./roles.ts"
import { sdnNodeRoutes } from "./sdn-nodes.ts"
import { sdnRoutes } from "./sdn.ts"
import { sdnVnetRoutes } from "./sdn-vnets.ts"
import { sdnZoneRoutes } from "./sdn-zones.ts"
import { fileRoutes } from "./files.ts"
import { storageRoutes } from "./storage.ts"
import { storageDefinitionRoutes } from "./storage-definitions.ts"
import { taskRoutes } from "./tasks.ts"
import { ticketRoutes } from "./tickets.ts"
import { tokenRoutes } from "./tokens.ts"
import { userRoutes } from "./users.ts"

/** All calls that the simulator implements. Any other call of the schema answers "not implemented", like an unknown route. */
export const routes: ReadonlyMap<string, Handler> = new Map(
  [
    aclRoutes,
    agentRoutes,
    backupRoutes,
    clusterRoutes,
    consoleRoutes,
    cpuModelRoutes,
    firewallRoutes,
    guestCloneRoutes,
    guestConfigRoutes,
    guestCreateRoutes,
    guestDiskRoutes,
    guestMigrateRoutes,
    guestMoveDiskRoutes,
    guestPowerRoutes,
    groupRoutes,
    guestTemplateRoutes,
    guestRoutes,
    guestSnapshotRoutes,
    haRoutes,
    haRuleRoutes,
    haStatusRoutes,
    networkRoutes,
    nodePowerRoutes,
    nodeReportRoutes,
    nodeRoutes,
    poolRoutes,
    resourceRoutes,
    realmRoutes,
    roleRoutes,
    sdnRoutes,
    sdnNodeRoutes,
    sdnVnetRoutes,
    sdnZoneRoutes,
    storageRoutes,
    storageDefinitionRoutes,
    fileRoutes,
    taskRoutes,
    ticketRoutes,
    tokenRoutes,
    userRoutes,
  ].flatMap((group) => Object.entries(group)),
)
