import type { Operation } from "@rangewright/application"
import { repositories } from "./seed-sources.ts"
import { picturedTemplate, seededBuild } from "./seed-templates.ts"
import { config, consoleTicket, ownPage, password, seededKeyId, seededSession, signedInThere } from "./service.ts"

/** A request that succeeds for the callers the operation is meant for. */
export interface Sample {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** Headers that only a browser sends. */
  readonly headers?: Readonly<Record<string, string>>
  /** Text of the uploaded file. */
  readonly file?: string
  /** Form fields beside the file. */
  readonly form?: Readonly<Record<string, string>>
  /** Needs a run in progress. */
  readonly running?: true
  /** Needs template builds in progress. */
  readonly building?: true
  /** Needs R1 in testing mode. */
  readonly testing?: true
  /** The service always refuses it with this status, and says why. */
  readonly refused?: 401 | 403 | 404
  /** The user whom an administrator has to act as. */
  readonly adminActsAs?: string
}

/** As sent by the service's own web page. */
export const ofOwnPage = { "sec-fetch-site": "same-origin", "x-rangewright": "1" }

/** Only what the defaults below cannot know. An operation that requires a body and has no entry fails its tests. */
const samples: Readonly<Record<string, Sample>> = {
  addUser: { json: { name: "Some Body", userID: "SB", email: "some.body@lab.example", password } },
  deleteUser: { path: { userID: "ST" } },
  setUserAdmin: { path: { userID: "ST" }, json: { isAdmin: true } },
  setUserQuota: { json: { userIDs: ["ST"], quotaRAM: 64, quotaVMs: 0 } },
  setGroupQuota: { json: { groupNames: ["G1"], defaultQuotaCPU: 16 } },
  postCredentials: { json: { proxmoxPassword: "another long one" } },
  setDefaultRangeID: { json: { defaultRangeID: "R1" } },
  abortRange: { running: true },
  abortTemplates: { building: true },
  buildTemplates: { json: { templates: ["win11-template"] } },
  addTemplateFromTar: {
    file: JSON.stringify({ "kali/kali.pkr.hcl": 'variable "vm_name" {\n  default = "kali"\n}\n' }),
    form: { force: "true" },
  },
  getTemplatePicture: { path: { name: picturedTemplate } },
  deleteTemplate: { path: { name: "debian-own" } },
  getTemplateLogHistoryByID: { path: { logID: seededBuild } },
  startSession: { json: { email: "member@lab.example", password }, headers: ofOwnPage },
  // test/conformance/invites.test.ts reads valid ones
  readInvite: { json: { invite: "x" }, refused: 401 },
  beginSingleSignOn: { headers: ofOwnPage },
  // only a browser that began this with a password can complete it: test/conformance/single-sign-on.test.ts
  linkIdentity: { json: { code: signedInThere.code, state: "" }, headers: ofOwnPage, refused: 403 },
  unlinkIdentity: { adminActsAs: "ME" },
  recordOAuth2Login: {
    // a sign-in begun a moment before, whenever this is sent
    get json() {
      return {
        provider: "oidc",
        code: signedInThere.code,
        codeVerifier: `${"a".repeat(43)}.${(Date.now() + 600_000).toString(36)}`,
        redirectURL: `${ownPage}/ui/login/return`,
      }
    },
  },
  endSession: { headers: ofOwnPage },
  cancelRun: { running: true },
  recordLogin: { json: { identity: "member@lab.example", password } },
  recordUpdateUser: { path: { id: "record000000002" }, json: { name: "Renamed" } },
  recordUpdateBlueprint: { path: { id: "blueprint000000" }, json: { description: "Renamed", tags: ["web"] } },
  recordFile: { path: { collection: "blueprints", recordID: "blueprint000000", filename: "web_x.png" } },
  recordUpdateRange: { path: { id: "record000000100" }, json: { description: "Renamed" } },
  createRange: { json: { name: "New", rangeID: "NEW" } },
  getConsoleWebsocketTicket: { query: { VMID: "20000" } },
  vmConsoleWebsocketHandler: { query: { ticket: consoleTicket } },
  putConfig: { file: config },
  validateConfig: { file: config },
  getCapacity: { query: { blueprintID: "web/basic" } },
  extendAutoShutdown: { json: { duration: "2h" } },
  updateAutoShutdown: { json: { autoShutdownTimeout: "2h" } },
  powerOnRange: { json: { machines: ["all"] } },
  powerOffRange: { json: { machines: ["R1-win11"] } },
  shutDownRange: { json: { machines: ["R1-win11"], timeout: 60 } },
  changeManyRanges: { json: { action: "poweron", rangeIDs: ["R1"], name: "before" } },
  rebootRange: { json: { machines: ["all"] } },
  resetRange: { json: { machines: ["all"] } },
  createInvites: { json: { userIDs: ["ME"] } },
  createScopedKey: { json: { name: "dashboard", scope: "read", days: 30 } },
  deleteScopedKey: { path: { keyID: seededKeyId } },
  kmsLicense: { json: { vmIDs: "20000", productKey: "" } },
  snapshotsTake: { json: { name: "clean", vmids: [20_000], includeRAM: true, atomic: true } },
  snapshotsRollback: { json: { name: "clean" } },
  snapshotsRemove: { json: { name: "clean", vmids: [20_000] } },
  allow: { json: { ips: ["203.0.113.8"] }, testing: true },
  deny: { json: { ips: ["203.0.113.9"] }, testing: true },
  update: { json: { name: "R1-win11" } },
  // clients send an empty text for what their user left out
  antiSandboxEnable: { json: { vmIDs: "R1-win11,20000", vendor: "", registeredOwner: "Jo", persist: true } },
  antiSandboxDisable: { json: { vmIDs: "R1-win11" } },
  createGroup: { json: { name: "New", description: "Made by a test" } },
  setGroupNotice: { json: { text: "The exam ends at noon", duration: "2h" } },
  addUsersToGroup: { json: { userIDs: ["ST"], managers: ["ST"] } },
  removeUsersFromGroup: { json: { userIDs: ["ST"] } },
  addRangesToGroup: { json: { rangeIDs: ["R1"] } },
  removeRangesFromGroup: { json: { rangeIDs: ["lab/web/1"] } },
  createBlueprint: { json: { blueprintID: "new/one", name: "New", tags: ["web"], config } },
  createBlueprintFromRange: { json: { blueprintID: "new/one", rangeID: "R1" } },
  importBlueprint: {
    file: JSON.stringify({
      "blueprint.yml": "id: new/one\nname: New\nversion: 1.0.0\nconfig: range-config.yml\n",
      "range-config.yml": config,
    }),
  },
  updateBlueprintMetadata: { json: { version: "2.0.0", tags: ["web"] } },
  updateBlueprintConfig: { json: { config } },
  applyBlueprintToRange: { json: { rangeID: "R1" } },
  shareBlueprintWithUsers: { json: { userIDs: ["ME"] } },
  unshareBlueprintWithUsers: { json: { userIDs: ["ME"] } },
  shareBlueprintWithGroups: { json: { groupNames: ["G1"] } },
  unshareBlueprintWithGroups: { json: { groupNames: ["G1"] } },
  createSource: { json: { type: "git", url: repositories.more, schedule: "12h", token: "a token" } },
  updateSource: { json: { ref: "main", schedule: "off" } },
  installSource: { json: { selection: { blueprints: ["web"] } } },
  uninstallFromSource: { json: { selection: { blueprints: [] } } },
  InstallRole: { json: { role: "acme.web", version: "1.0.0", action: "install" } },
  InstallRoleTar: { file: JSON.stringify({ "acme.web/meta/main.yml": "galaxy_info: {}\n", "acme.web/tasks/main.yml": "[]\n" }) },
  MoveRoleScope: { json: { roles: ["acme.hello", "acme.nothing"], global: true, copy: true } },
  GetRoleVars: { json: { roles: ["acme.hello", "acme.nothing"] } },
  InstallCollection: { json: { collection: "acme.util", version: "1.0.0", global: false } },
  installSubscriptionRoles: { json: { roles: ["acme_web", "no_such_role"], force: true } },
  assignRangeToUser: { path: { userID: "ST", rangeID: "R1" } },
  revokeRangeFromUser: { path: { userID: "ME", rangeID: "R1" } },
}

/** Whether the operation only makes sense while a run is in progress. */
export const needsRunning = ({ id }: Operation): boolean => samples[id]?.running ?? samples[id]?.building ?? false

/** The status with which the service always refuses the operation; undefined: it performs it. */
export const refusalOf = ({ id }: Operation): number | undefined => samples[id]?.refused

/** The state of the service in which the operation's sample succeeds. */
export const needsOf = (operation: Operation) => ({
  running: samples[operation.id]?.running ?? false,
  building: samples[operation.id]?.building ?? false,
  testing: samples[operation.id]?.testing ?? false,
})

/** The path parameters, which name the seeded objects. */
const known = (runId: string): Readonly<Record<string, string>> => ({
  blueprintID: "web/basic",
  groupName: "G1",
  rangeID: "R1",
  sourceID: "labs",
  userID: "ME",
  vmID: "20000",
  runID: runId,
  logID: runId,
  sessionID: seededSession.id,
})

export const sampleOf = (operation: Operation, runId: string): Sample => {
  const given = samples[operation.id] ?? {}
  const names = Object.keys(operation.input.path)
  const path = { ...known(runId), ...given.path }
  for (const name of names) if (!(name in path)) throw new Error(`${operation.id}: no sample of the path parameter ${name}`)
  const { body } = operation.input
  if (body.type === "json" && body.required && given.json === undefined) throw new Error(`${operation.id}: no sample body`)
  if (body.type === "multipart" && given.file === undefined) throw new Error(`${operation.id}: no sample file`)
  return { ...given, path }
}

export const pathOf = ({ route }: Operation, { path = {}, query = {} }: Sample): string => {
  const filled = route.path.replace(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(path[name] ?? ""))
  const text = new URLSearchParams(query).toString()
  return `${route.base === "/" ? "" : route.base}${filled}${text === "" ? "" : `?${text}`}`
}

const form = (operation: Operation, file: string, fields: Sample["form"] = {}): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  const { body } = operation.input
  if (body.type === "multipart") data.append(body.file, new Blob([file]), "file.yml")
  return data
}

/** The request apart from method and path. */
export const bodyOf = (operation: Operation, sample: Sample): RequestInit => {
  if (sample.file !== undefined) return { body: form(operation, sample.file, sample.form) }
  const { json, headers = {} } = sample
  return json === undefined
    ? { headers }
    : { body: JSON.stringify(json), headers: { "content-type": "application/json", ...headers } }
}
