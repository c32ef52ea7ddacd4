/**
 * Operations of the wire contract that are not offered yet, by their ids. This list may only shrink: an operation that is offered must
 * be taken out, and one of the contract that is neither here nor offered fails the tests.
 */
export const notYetOffered: readonly string[] = [
  // User
  "getWireguardConfig",
  // Testing
  "startTesting",
  "stopTesting",
  "allow",
  "deny",
  "update",
  // AntiSandbox
  "antiSandboxEnable",
  "antiSandboxInstallCustom",
  "antiSandboxInstallStandard",
  "antiSandboxStatus",
  // Template
  "getTemplates",
  "buildTemplates",
  "addTemplateFromTar",
  "deleteTemplate",
  "abortTemplates",
  "getPackerLogs",
  "getTemplatesStatus",
  "getTemplateLogHistory",
  "getTemplateLogHistoryByID",
  // Snapshot
  "getSnapshots",
  "snapshotsTake",
  "snapshotsRollback",
  "snapshotsRemove",
  // KMS
  "kmsInstall",
  "kmsLicense",
  // Quota
  "getQuotaStatus",
  "setUserQuota",
  "getAllQuotaStatus",
  "getQuotaDefaults",
  "getGroupQuotas",
  "setGroupQuota",
  // VM
  "getConsoleWebsocketTicket",
  "vmConsoleWebsocketHandler",
  // Credentials
  "getRangeCredentials",
]
