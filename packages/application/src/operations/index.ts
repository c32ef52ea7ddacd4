import type { Operation } from "../operation/operation.ts"
import { setGroupNotice } from "./set-group-notice.ts"
import { startSession } from "./start-session.ts"
import { readInvite } from "./read-invite.ts"
import { getSession } from "./get-session.ts"
import { endSession } from "./end-session.ts"
import { listSessions } from "./list-sessions.ts"
import { endOneSession } from "./end-one-session.ts"
import { endAllSessions } from "./end-all-sessions.ts"
import { getSingleSignOn } from "./get-single-sign-on.ts"
import { beginSingleSignOn } from "./begin-single-sign-on.ts"
import { linkIdentity } from "./link-identity.ts"
import { getIdentity } from "./get-identity.ts"
import { unlinkIdentity } from "./unlink-identity.ts"
import { abortRange } from "./abort-range.ts"
import { abortTemplates } from "./abort-templates.ts"
import { addTemplateFromTar } from "./add-template-from-tar.ts"
import { buildTemplates } from "./build-templates.ts"
import { checkTemplates } from "./check-templates.ts"
import { deleteTemplate } from "./delete-template.ts"
import { getTemplatePicture } from "./get-template-picture.ts"
import { getPackerLogs } from "./get-packer-logs.ts"
import { getTemplateLogHistory } from "./get-template-log-history.ts"
import { getTemplateLogHistoryById } from "./get-template-log-history-by-id.ts"
import { addRangesToGroup } from "./add-ranges-to-group.ts"
import { addUser } from "./add-user.ts"
import { addUsersToGroup } from "./add-users-to-group.ts"
import { allow } from "./allow.ts"
import { antiSandboxDisable } from "./anti-sandbox-disable.ts"
import { antiSandboxEnable } from "./anti-sandbox-enable.ts"
import { antiSandboxInstallCustom } from "./anti-sandbox-install-custom.ts"
import { antiSandboxInstallStandard } from "./anti-sandbox-install-standard.ts"
import { antiSandboxStatus } from "./anti-sandbox-status.ts"
import { applyBlueprintToRange } from "./apply-blueprint-to-range.ts"
import { assignRangeToUser } from "./assign-range-to-user.ts"
import { cancelRun } from "./cancel-run.ts"
import { changeManyRanges } from "./change-many-ranges.ts"
import { copyBlueprint } from "./copy-blueprint.ts"
import { createBlueprint } from "./create-blueprint.ts"
import { createBlueprintFromRange } from "./create-blueprint-from-range.ts"
import { createGroup } from "./create-group.ts"
import { createRange } from "./create-range.ts"
import { createSource } from "./create-source.ts"
import { deleteBlueprint } from "./delete-blueprint.ts"
import { deleteGroup } from "./delete-group.ts"
import { deleteRange } from "./delete-range.ts"
import { deleteRangeVms } from "./delete-range-vms.ts"
import { deleteSource } from "./delete-source.ts"
import { deleteUser } from "./delete-user.ts"
import { deny } from "./deny.ts"
import { deployRange } from "./deploy-range.ts"
import { destroyVm } from "./destroy-vm.ts"
import { diagnostics } from "./diagnostics.ts"
import { extendAutoShutdown } from "./extend-auto-shutdown.ts"
import { exportBlueprint } from "./export-blueprint.ts"
import { getAnsibleInventory } from "./get-ansible-inventory.ts"
import { getAllQuotaStatus } from "./get-all-quota-status.ts"
import { getApiKey } from "./get-api-key.ts"
import { getAutoShutdown } from "./get-auto-shutdown.ts"
import { getBlueprintConfig } from "./get-blueprint-config.ts"
import { getBlueprintDetail } from "./get-blueprint-detail.ts"
import { getCatalog } from "./get-catalog.ts"
import { getCapabilities } from "./get-capabilities.ts"
import { getCapacity } from "./get-capacity.ts"
import { getConfig } from "./get-config.ts"
import { getConsoleWebsocketTicket } from "./get-console-websocket-ticket.ts"
import { getConfigExample } from "./get-config-example.ts"
import { getConfigSchema } from "./get-config-schema.ts"
import { getCredentials } from "./get-credentials.ts"
import { getDefaultRangeId } from "./get-default-range-id.ts"
import { getDiskUse } from "./get-disk-use.ts"
import { getDoctor } from "./get-doctor.ts"
import { getEtcHosts } from "./get-etc-hosts.ts"
import { getGroupQuotas } from "./get-group-quotas.ts"
import { getIndex } from "./get-index.ts"
import { getLicense } from "./get-license.ts"
import { getLogs } from "./get-logs.ts"
import { getMachine } from "./get-machine.ts"
import { getOpenApiSpec } from "./get-openapi-spec.ts"
import { getQuotaDefaults } from "./get-quota-defaults.ts"
import { getQuotaStatus } from "./get-quota-status.ts"
import { getRangeCredentials } from "./get-range-credentials.ts"
import { getRangeDrift } from "./get-range-drift.ts"
import { getRangeLogHistory } from "./get-range-log-history.ts"
import { getRangeLogHistoryById } from "./get-range-log-history-by-id.ts"
import { getRdp } from "./get-rdp.ts"
import { getRolesAndCollections } from "./get-roles-and-collections.ts"
import { getRoleVars } from "./get-role-vars.ts"
import { getRun } from "./get-run.ts"
import { getRunLog } from "./get-run-log.ts"
import { getSDNMigrationReport } from "./get-sdn-migration-report.ts"
import { getSDNMigrationStatus } from "./get-sdn-migration-status.ts"
import { migrateSQLiteToPostgreSQL } from "./migrate-sqlite.ts"
import { migrateToSDN } from "./migrate-to-sdn.ts"
import { removeGroupNotice } from "./remove-group-notice.ts"
import { rollbackSDNMigration } from "./rollback-sdn-migration.ts"
import { getSnapshotSets } from "./get-snapshot-sets.ts"
import { getSnapshots } from "./get-snapshots.ts"
import { getSource } from "./get-source.ts"
import { getSourceCatalog } from "./get-source-catalog.ts"
import { getSshConfig } from "./get-ssh-config.ts"
import { getSubscriptionRoles } from "./get-subscription-roles.ts"
import { getTemplates } from "./get-templates.ts"
import { getTemplatesStatus } from "./get-templates-status.ts"
import { getTestingBlocked } from "./get-testing-blocked.ts"
import { getTopology } from "./get-topology.ts"
import { getUserMemberships } from "./get-user-memberships.ts"
import { importBlueprint } from "./import-blueprint.ts"
import { installBlueprintDeps } from "./install-blueprint-deps.ts"
import { installCollection } from "./install-collection.ts"
import { installRole } from "./install-role.ts"
import { installRoleTar } from "./install-role-tar.ts"
import { installSource } from "./install-source.ts"
import { installSubscriptionRoles } from "./install-subscription-roles.ts"
import { createInvites } from "./create-invites.ts"
import { createScopedKey } from "./create-scoped-key.ts"
import { deleteScopedKey } from "./delete-scoped-key.ts"
import { listScopedKeys } from "./list-scoped-keys.ts"
import { kmsInstall } from "./kms-install.ts"
import { kmsLicense } from "./kms-license.ts"
import { kmsStatus } from "./kms-status.ts"
import { listAllRange } from "./list-all-range.ts"
import { listAllUsers } from "./list-all-users.ts"
import { listAudit } from "./list-audit.ts"
import { getAccess } from "./get-access.ts"
import { reconcileAccess } from "./reconcile-access.ts"
import { listBlueprintAccessGroups } from "./list-blueprint-access-groups.ts"
import { listBlueprintAccessUsers } from "./list-blueprint-access-users.ts"
import { listBlueprints } from "./list-blueprints.ts"
import { listGroupMembers } from "./list-group-members.ts"
import { listGroupRanges } from "./list-group-ranges.ts"
import { listGroups } from "./list-groups.ts"
import { listNotices } from "./list-notices.ts"
import { listNodes } from "./list-nodes.ts"
import { listRange } from "./list-range.ts"
import { listRangeTags } from "./list-range-tags.ts"
import { listRangeUsers } from "./list-range-users.ts"
import { listRuns } from "./list-runs.ts"
import { listSourceBlueprints } from "./list-source-blueprints.ts"
import { listSourceCollections } from "./list-source-collections.ts"
import { listSourceRoles } from "./list-source-roles.ts"
import { listSourceTemplates } from "./list-source-templates.ts"
import { listSources } from "./list-sources.ts"
import { listUser } from "./list-user.ts"
import { listUserAccessibleRanges } from "./list-user-accessible-ranges.ts"
import { moveRoleScope } from "./move-role-scope.ts"
import { planRange } from "./plan-range.ts"
import { postCredentials } from "./post-credentials.ts"
import { powerOffRange } from "./power-off-range.ts"
import { powerOnRange } from "./power-on-range.ts"
import { rebootRange } from "./reboot-range.ts"
import { resetRange } from "./reset-range.ts"
import { shutDownRange } from "./shut-down-range.ts"
import { putConfig } from "./put-config.ts"
import { recordAuthMethods } from "./record/record-auth-methods.ts"
import { recordFile } from "./record/record-file.ts"
import { recordHealth } from "./record/record-health.ts"
import { recordListBlueprints } from "./record/record-list-blueprints.ts"
import { recordListLogs } from "./record/record-list-logs.ts"
import { recordListRanges } from "./record/record-list-ranges.ts"
import { recordListUsers } from "./record/record-list-users.ts"
import { recordOAuth2Login } from "./record/record-oauth2-login.ts"
import { recordLogin } from "./record/record-login.ts"
import { recordRefresh } from "./record/record-refresh.ts"
import { recordUpdateBlueprint } from "./record/record-update-blueprint.ts"
import { recordUpdateRange } from "./record/record-update-range.ts"
import { recordUpdateUser } from "./record/record-update-user.ts"
import { removeRangesFromGroup } from "./remove-ranges-from-group.ts"
import { removeUsersFromGroup } from "./remove-users-from-group.ts"
import { resumeRun } from "./resume-run.ts"
import { revokeRangeFromUser } from "./revoke-range-from-user.ts"
import { setUserAdmin } from "./set-user-admin.ts"
import { setDefaultRangeId } from "./set-default-range-id.ts"
import { setGroupQuota } from "./set-group-quota.ts"
import { setUserQuota } from "./set-user-quota.ts"
import { shareBlueprintWithGroups } from "./share-blueprint-with-groups.ts"
import { shareBlueprintWithUsers } from "./share-blueprint-with-users.ts"
import { snapshotsRemove } from "./snapshots-remove.ts"
import { snapshotsRollback } from "./snapshots-rollback.ts"
import { snapshotsTake } from "./snapshots-take.ts"
import { startTesting } from "./start-testing.ts"
import { stopTesting } from "./stop-testing.ts"
import { streamEvents } from "./stream-events.ts"
import { streamRunEvents } from "./stream-run-events.ts"
import { syncSource } from "./sync-source.ts"
import { uninstallFromSource } from "./uninstall-from-source.ts"
import { unshareBlueprintWithGroups } from "./unshare-blueprint-with-groups.ts"
import { unshareBlueprintWithUsers } from "./unshare-blueprint-with-users.ts"
import { update } from "./update.ts"
import { updateAutoShutdown } from "./update-auto-shutdown.ts"
import { updateBlueprintConfig } from "./update-blueprint-config.ts"
import { updateBlueprintMetadata } from "./update-blueprint-metadata.ts"
import { updateSource } from "./update-source.ts"
import { upgradeFromSource } from "./upgrade-from-source.ts"
import { validateConfig } from "./validate-config.ts"
import { getWireguardConfig } from "./get-wireguard-config.ts"
import { getRangeWireguard } from "./get-range-wireguard.ts"
import { getVpnStatus } from "./get-vpn-status.ts"
import { rotateWireguardKey } from "./rotate-wireguard-key.ts"
import { vmConsoleWebsocketHandler } from "./vm-console-websocket-handler.ts"
import { whoami } from "./whoami.ts"

const host = [
  getIndex,
  getCapabilities,
  getLicense,
  diagnostics,
  getDoctor,
  listNodes,
  getCapacity,
  getOpenApiSpec,
  recordHealth,
  listAudit,
  getAccess,
  reconcileAccess,
  getVpnStatus,
]
const session = [
  startSession,
  readInvite,
  getSession,
  endSession,
  listSessions,
  endOneSession,
  endAllSessions,
  getSingleSignOn,
  beginSingleSignOn,
  linkIdentity,
  getIdentity,
  unlinkIdentity,
]
const user = [
  whoami,
  listUser,
  listAllUsers,
  addUser,
  deleteUser,
  setUserAdmin,
  getCredentials,
  postCredentials,
  getApiKey,
  createInvites,
  createScopedKey,
  listScopedKeys,
  deleteScopedKey,
  getDefaultRangeId,
  setDefaultRangeId,
  getUserMemberships,
  getWireguardConfig,
  rotateWireguardKey,
  recordLogin,
  recordOAuth2Login,
  recordRefresh,
  recordAuthMethods,
  recordListUsers,
  recordUpdateUser,
]
const range = [
  createRange,
  listRange,
  deleteRange,
  abortRange,
  deleteRangeVms,
  listRangeTags,
  kmsInstall,
  kmsLicense,
  kmsStatus,
  listAllRange,
  getConfig,
  putConfig,
  getConfigExample,
  getConfigSchema,
  validateConfig,
  deployRange,
  changeManyRanges,
  planRange,
  getAllQuotaStatus,
  getGroupQuotas,
  getQuotaDefaults,
  getQuotaStatus,
  getDiskUse,
  setGroupQuota,
  setUserQuota,
  getRangeCredentials,
  getRangeWireguard,
  getRangeDrift,
  getTopology,
  getLogs,
  getEtcHosts,
  getSshConfig,
  getRdp,
  getAnsibleInventory,
  assignRangeToUser,
  revokeRangeFromUser,
  listRangeUsers,
  listUserAccessibleRanges,
  getRangeLogHistory,
  getRangeLogHistoryById,
  getAutoShutdown,
  updateAutoShutdown,
  extendAutoShutdown,
  recordListRanges,
  recordUpdateRange,
  recordListLogs,
  recordFile,
]
const group = [
  createGroup,
  listGroups,
  setGroupNotice,
  removeGroupNotice,
  listNotices,
  deleteGroup,
  listGroupMembers,
  addUsersToGroup,
  removeUsersFromGroup,
  listGroupRanges,
  addRangesToGroup,
  removeRangesFromGroup,
]
const blueprint = [
  listBlueprints,
  createBlueprint,
  createBlueprintFromRange,
  importBlueprint,
  getBlueprintDetail,
  updateBlueprintMetadata,
  deleteBlueprint,
  copyBlueprint,
  exportBlueprint,
  installBlueprintDeps,
  applyBlueprintToRange,
  getBlueprintConfig,
  updateBlueprintConfig,
  listBlueprintAccessUsers,
  shareBlueprintWithUsers,
  unshareBlueprintWithUsers,
  listBlueprintAccessGroups,
  shareBlueprintWithGroups,
  unshareBlueprintWithGroups,
  recordListBlueprints,
  recordUpdateBlueprint,
]
const source = [
  listSources,
  createSource,
  getSource,
  updateSource,
  deleteSource,
  syncSource,
  getSourceCatalog,
  getCatalog,
  installSource,
  upgradeFromSource,
  uninstallFromSource,
  listSourceBlueprints,
  listSourceTemplates,
  listSourceRoles,
  listSourceCollections,
]
const ansible = [
  getRolesAndCollections,
  getRoleVars,
  installCollection,
  installRole,
  installRoleTar,
  moveRoleScope,
  getSubscriptionRoles,
  installSubscriptionRoles,
]
const template = [
  abortTemplates,
  addTemplateFromTar,
  buildTemplates,
  checkTemplates,
  deleteTemplate,
  getTemplatePicture,
  getPackerLogs,
  getTemplateLogHistory,
  getTemplateLogHistoryById,
  getTemplates,
  getTemplatesStatus,
]
const power = [powerOnRange, powerOffRange, shutDownRange, rebootRange, resetRange]
const snapshot = [getSnapshots, getSnapshotSets, snapshotsTake, snapshotsRollback, snapshotsRemove]
const testing = [startTesting, stopTesting, allow, deny, update, getTestingBlocked]
const antiSandbox = [
  antiSandboxEnable,
  antiSandboxDisable,
  antiSandboxInstallCustom,
  antiSandboxInstallStandard,
  antiSandboxStatus,
]
const vm = [getMachine, getConsoleWebsocketTicket, vmConsoleWebsocketHandler, destroyVm]
const migration = [getSDNMigrationStatus, migrateToSDN, rollbackSDNMigration, getSDNMigrationReport, migrateSQLiteToPostgreSQL]

const run = [listRuns, getRun, getRunLog, streamRunEvents, streamEvents, cancelRun, resumeRun]

/** Every operation of the service. Routes, the OpenAPI document, the access matrix and the conformance tests are derived from this list. */
export const operations: readonly Operation[] = [
  ...host,
  ...user,
  ...session,
  ...range,
  ...group,
  ...blueprint,
  ...source,
  ...ansible,
  ...template,
  ...power,
  ...snapshot,
  ...testing,
  ...antiSandbox,
  ...vm,
  ...migration,
  ...run,
]
