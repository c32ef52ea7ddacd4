import type { Operation } from "@rangewright/application"
import { type Caller, callers } from "./callers.ts"

/**
 * The access matrix: which status each of `callers` gets for the sample request, `+` for success. Written down, and not derived from the
 * operations: an operation that declares too little is caught here. A new operation is put where it belongs.
 */
const rows: readonly (readonly [outcomes: string, operations: readonly string[]])[] = [
  // callers who may use the range, blueprint, group or run; an administrator has the rights of the user they act as
  [
    "403 + + 403 + 403 +",
    [
      "listRange",
      "deleteRange",
      "abortRange",
      "deleteRangeVMs",
      "getConfig",
      "putConfig",
      "validateConfig",
      "deployRange",
      "planRange",
      "getRangeDrift",
      "getTopology",
      "getLogs",
      "getEtcHosts",
      "getSSHConfig",
      "getRDP",
      "getAnsibleInventory",
      "getRangeCredentials",
      "getRangeWireguard",
      "getRangeLogHistory",
      "getRangeLogHistoryByID",
      "getTemplateLogHistoryByID",
      "getAutoShutdown",
      "updateAutoShutdown",
      "extendAutoShutdown",
      "setGroupNotice",
      "removeGroupNotice",
      "addUsersToGroup",
      "removeUsersFromGroup",
      "addRangesToGroup",
      "removeRangesFromGroup",
      "createBlueprintFromRange",
      "getBlueprintDetail",
      "updateBlueprintMetadata",
      "deleteBlueprint",
      "copyBlueprint",
      "exportBlueprint",
      "installBlueprintDeps",
      "applyBlueprintToRange",
      "getBlueprintConfig",
      "updateBlueprintConfig",
      "listBlueprintAccessUsers",
      "shareBlueprintWithUsers",
      "unshareBlueprintWithUsers",
      "listBlueprintAccessGroups",
      "shareBlueprintWithGroups",
      "unshareBlueprintWithGroups",
      "powerOnRange",
      "powerOffRange",
      "shutDownRange",
      "rebootRange",
      "resetRange",
      "getSnapshots",
      "getSnapshotSets",
      "snapshotsTake",
      "snapshotsRollback",
      "snapshotsRemove",
      "startTesting",
      "getTestingBlocked",
      "stopTesting",
      "allow",
      "deny",
      "update",
      "kmsLicense",
      "antiSandboxEnable",
      "antiSandboxDisable",
      "getMachine",
      "destroyVM",
      "getConsoleWebsocketTicket",
      "getRun",
      "getRunLog",
      "streamRunEvents",
      "cancelRun",
      "resumeRun",
    ],
  ],
  // every user
  [
    "+ + + 403 + + +",
    [
      "index",
      "getCapabilities",
      "changeManyRanges",
      "getLicense",
      "getOpenAPISpec",
      "whoami",
      "recordRefresh",
      "createRange",
      "listRangeTags",
      "listAllRange",
      "getConfigExample",
      "getConfigSchema",
      "listUserAccessibleRanges",
      "recordListRanges",
      "listGroups",
      "listNotices",
      "listBlueprints",
      "createBlueprint",
      "importBlueprint",
      "recordListBlueprints",
      "listSources",
      "createSource",
      "getCatalog",
      "getRolesAndCollections",
      "getTemplates",
      "checkTemplates",
      "buildTemplates",
      "addTemplateFromTar",
      "getTemplateLogHistory",
      "getTemplatesStatus",
      "antiSandboxStatus",
      "GetRoleVars",
      "InstallRoleTar",
      "getSubscriptionRoles",
      "getSDNMigrationStatus",
      "kmsStatus",
      "listRuns",
      "streamEvents",
    ],
  ],
  // the same, but others do not learn that it exists
  [
    "404 + + 403 + 404 +",
    [
      "recordUpdateRange",
      "recordUpdateBlueprint",
      "getSource",
      "updateSource",
      "deleteSource",
      "syncSource",
      "getSourceCatalog",
      "upgradeFromSource",
      "uninstallFromSource",
      "listSourceBlueprints",
      "listSourceTemplates",
      "listSourceRoles",
      "listSourceCollections",
    ],
  ],
  // administrators, whoever they act as
  [
    "403 403 + 403 + + +",
    [
      "diagnostics",
      "getDoctor",
      "listNodes",
      "listAudit",
      "getAccess",
      "getVPNStatus",
      "reconcileAccess",
      "kmsInstall",
      "antiSandboxInstallCustom",
      "antiSandboxInstallStandard",
      "recordListLogs",
      "createGroup",
      "deleteGroup",
      "MoveRoleScope",
      "migrateToSDN",
      "rollbackSDNMigration",
      "getSDNMigrationReport",
      "getGroupQuotas",
      "setGroupQuota",
    ],
  ],
  // every caller with valid credentials, including ROOT
  [
    "+ + + + + + +",
    [
      "recordHealth",
      "listUser",
      "getQuotaStatus",
      "getDiskUse",
      "recordListUsers",
      "getAPIKey",
      "startSession",
      "getSingleSignOn",
      "beginSingleSignOn",
      "getIdentity",
      "endSession",
      "getSession",
      "listSessions",
      "endAllSessions",
      "getUserMemberships",
      "createScopedKey",
      "listScopedKeys",
      "recordLogin",
      "recordOAuth2Login",
      "recordAuthMethods",
      "recordFile",
      "vmConsoleWebsocketHandler",
    ],
  ],
  ["404 + + + + 404 +", ["recordUpdateUser", "endOneSession"]],
  // administrators and ROOT
  [
    "403 403 + + + + +",
    [
      "listAllUsers",
      "deleteUser",
      "setUserAdmin",
      "createInvites",
      "setUserQuota",
      "getAllQuotaStatus",
      "getQuotaDefaults",
      "migrateSQLiteToPostgreSQL",
    ],
  ],
  // administrators, who have the range even when they act as somebody else
  ["403 403 + 403 + 403 +", ["getCapacity", "assignRangeToUser", "revokeRangeFromUser", "listRangeUsers"]],
  ["+ + + 403 403 + +", ["InstallCollection", "InstallRole", "installSubscriptionRoles"]],
  // managers of the group, and administrators, whoever they act as
  ["403 + + 403 + + +", ["listGroupMembers", "listGroupRanges"]],
  // the same; clients expect 401 here
  ["401 401 + + + + +", ["addUser"]],
  ["+ + + 404 404 + +", ["getCredentials", "getWireguardConfig", "rotateWireguardKey"]],
  ["500 + + 403 500 500 +", ["getPackerLogs", "abortTemplates"]],
  ["400 + + 403 + 400 +", ["deleteTemplate"]],
  ["+ + + 400 400 + +", ["postCredentials"]],
  // the owner, and administrators
  ["404 + + + + + +", ["deleteScopedKey"]],
  ["404 + 404 404 404 404 +", ["unlinkIdentity"]],
  ["403 403 403 403 403 403 403", ["linkIdentity"]],
  // whoever sends the request: the invitation of the sample is not valid
  ["401 401 401 401 401 401 401", ["readInvite"]],
  ["404 + + 404 404 404 +", ["getDefaultRangeID"]],
  ["404 + + 403 404 404 +", ["getTemplatePicture"]],
  ["403 + + + + 403 +", ["setDefaultRangeID"]],
  ["404 + + 403 403 404 +", ["installSource"]],
]

/** The operations that the matrix lacks. */
export const withoutRow = (all: readonly Operation[]): readonly string[] => {
  const known = new Set(rows.flatMap(([, ids]) => ids))
  return all.map(({ id }) => id).filter((id) => !known.has(id))
}

/** The rows of the matrix whose operation the registry lacks. */
export const withoutOperation = (all: readonly Operation[]): readonly string[] => {
  const there = new Set(all.map(({ id }) => id))
  return rows.flatMap(([, ids]) => ids).filter((id) => !there.has(id))
}

const successOf = ({ statuses }: Operation): number =>
  statuses[101] !== undefined ? 101 : statuses[201] === undefined ? 200 : 201

/** The expected status for the caller. Throws for an operation without a row. */
export const expectedOf = (operation: Operation, caller: Caller): number => {
  const [outcomes] = rows.find(([, ids]) => ids.includes(operation.id)) ?? []
  const outcome = outcomes?.split(" ")[callers.indexOf(caller)]
  if (outcome === undefined) throw new Error(`${operation.id} has no row in the access matrix`)
  return outcome === "+" ? successOf(operation) : Number(outcome)
}
