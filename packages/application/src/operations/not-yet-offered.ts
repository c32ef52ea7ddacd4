import type { Method } from "../operation/operation.ts"

/** An operation that clients of the API know and that is not offered yet. */
export interface NotYetOffered {
  /** The contract's operationId. */
  readonly id: string
  /** `GET /templates/logs/{logID}`, below `/api/v2`. */
  readonly route: `${Method} /${string}`
  /** What it would do, in words that complete "Cannot …". */
  readonly does: string
}

/** What clients are told of when they call it. This list only shrinks: the conformance tests compare it with the contract and the operations. */
export const notYetOffered: readonly NotYetOffered[] = [
  { id: "getWireguardConfig", route: "GET /user/wireguard", does: "make a WireGuard configuration" },
  { id: "startTesting", route: "PUT /testing/start", does: "start testing" },
  { id: "stopTesting", route: "PUT /testing/stop", does: "stop testing" },
  { id: "allow", route: "POST /testing/allow", does: "allow domains and addresses while testing" },
  { id: "deny", route: "POST /testing/deny", does: "deny domains and addresses while testing" },
  { id: "update", route: "POST /testing/update", does: "update Windows on machines" },
  { id: "antiSandboxEnable", route: "POST /antisandbox/enable", does: "turn on the anti-sandbox settings of machines" },
  { id: "antiSandboxInstallCustom", route: "POST /antisandbox/install-custom", does: "install the anti-sandbox packages" },
  {
    id: "antiSandboxInstallStandard",
    route: "POST /antisandbox/install-standard",
    does: "install the standard virtualization packages",
  },
  { id: "antiSandboxStatus", route: "GET /antisandbox/status", does: "read the state of the anti-sandbox packages" },
  { id: "buildTemplates", route: "POST /templates", does: "build templates" },
  { id: "addTemplateFromTar", route: "PUT /templates", does: "add a template from a folder" },
  { id: "deleteTemplate", route: "DELETE /template/{name}", does: "delete a template" },
  { id: "abortTemplates", route: "POST /templates/abort", does: "abort builds of templates" },
  { id: "getPackerLogs", route: "GET /templates/logs", does: "read the log of a template's build" },
  { id: "getTemplateLogHistory", route: "GET /templates/logs/history", does: "list the logs of templates' builds" },
  {
    id: "getTemplateLogHistoryByID",
    route: "GET /templates/logs/history/{logID}",
    does: "read an old log of a template's build",
  },
  { id: "getSnapshots", route: "GET /snapshots/list", does: "list snapshots" },
  { id: "snapshotsTake", route: "POST /snapshots/create", does: "take snapshots" },
  { id: "snapshotsRollback", route: "POST /snapshots/rollback", does: "roll machines back to a snapshot" },
  { id: "snapshotsRemove", route: "POST /snapshots/remove", does: "remove snapshots" },
  { id: "kmsInstall", route: "POST /kms/install", does: "install a KMS server" },
  { id: "kmsLicense", route: "POST /kms/license", does: "activate Windows on machines with a KMS server" },
  { id: "getQuotaStatus", route: "GET /user/quotas", does: "read quotas" },
  { id: "setUserQuota", route: "PUT /user/quotas", does: "set the quotas of users" },
  { id: "getAllQuotaStatus", route: "GET /user/quotas/all", does: "read the quotas of all users" },
  { id: "getQuotaDefaults", route: "GET /user/quotas/defaults", does: "read the default quotas" },
  { id: "getGroupQuotas", route: "GET /groups/quotas", does: "read the quotas of groups" },
  { id: "setGroupQuota", route: "PUT /groups/quotas", does: "set the quotas of groups" },
  { id: "getConsoleWebsocketTicket", route: "GET /vm/console/ticket", does: "open the console of a machine" },
  { id: "vmConsoleWebsocketHandler", route: "GET /vm/console/view", does: "open the console of a machine" },
  { id: "getRangeCredentials", route: "GET /range/credentials", does: "list the passwords of a range's machines" },
]
