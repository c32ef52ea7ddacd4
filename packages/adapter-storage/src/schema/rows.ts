import {
  type Blueprint,
  type DependencyStatus,
  type Group,
  type GroupName,
  isRouter,
  neverInstalled,
  type ObservedMachine,
  parseSubjectKey,
  type Picture,
  type Range,
  type RangeId,
  type RecordId,
  type RunSubject,
  type SnapshotId,
  type Source,
  type User,
  type UserId,
  type UserSecrets,
} from "@rangewright/domain"
import type { MissingMachine, RangeMachine, RunRecord, SourceClaim } from "@rangewright/ports"
import type { Selectable } from "kysely"
import type { Tables } from "../engine/orm.ts"

/** Rows as both engines give them (numbers may be text, booleans 0 and 1), made into the domain's values. */
type Row<Table extends keyof Tables> = Selectable<Tables[Table]>

/** JSON that we wrote ourselves. */
const json = <A>(text: string): A => JSON.parse(text) as A

export const toDate = (millis: number | string): Date => new Date(Number(millis))
const toDateOr = (millis: number | string | null): Date | undefined => (millis === null ? undefined : toDate(millis))

export const toUser = (row: Row<"users">): User => ({
  id: row.id as User["id"],
  recordId: row.record_id as User["recordId"],
  number: row.number,
  name: row.name,
  email: row.email,
  isAdmin: Boolean(row.is_admin),
  hypervisorUsername: row.hypervisor_username,
  hypervisorRealm: row.hypervisor_realm,
  defaultRangeId: (row.default_range_id ?? undefined) as RangeId | undefined,
  hasCompletedOnboarding: Boolean(row.has_completed_onboarding),
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at),
  lastActiveAt: toDateOr(row.last_active_at),
})

export const toSecrets = (row: Row<"users">): UserSecrets => ({
  apiKeyHash: row.api_key_hash ?? undefined,
  sealedPassword: row.sealed_password ?? undefined,
  tokenKey: row.token_key,
})

/** A blueprint with the name of its picture, and without its texts, which lists do not read. */
export type BlueprintRow = Omit<Row<"blueprints">, "config" | "requirements"> & { readonly thumbnail: string | null }

/** `users` and `groups`: with whom it is shared, in any order. */
export const toBlueprint = (row: BlueprintRow, users: readonly string[], groups: readonly string[]): Blueprint => ({
  id: row.id as Blueprint["id"],
  recordId: row.record_id as Blueprint["recordId"],
  owner: (row.owner ?? undefined) as Blueprint["owner"],
  name: row.name,
  description: row.description,
  version: row.version,
  tags: json(row.tags),
  minVersion: row.min_version,
  thumbnail: row.thumbnail ?? undefined,
  origin:
    row.source === null || row.source_blueprint_id === null
      ? undefined
      : { source: row.source as RecordId, sourceBlueprintID: row.source_blueprint_id },
  bundle:
    row.bundle_snapshot === null || row.bundle_directory === null
      ? undefined
      : { snapshot: row.bundle_snapshot as SnapshotId, directory: row.bundle_directory },
  installation:
    row.install_status === null
      ? neverInstalled
      : {
          status: row.install_status as DependencyStatus,
          error: row.install_error ?? "",
          at: toDateOr(row.installed_at),
        },
  sharedUsers: [...users].sort() as UserId[],
  sharedGroups: [...groups].sort() as GroupName[],
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at),
})

export const toPicture = (row: Pick<Row<"blueprint_thumbnails">, "name" | "type" | "content">): Picture => ({
  name: row.name,
  type: row.type as Picture["type"],
  bytes: new Uint8Array(row.content),
})

export const toGroup = (row: Row<"user_groups">): Group => ({
  name: row.name as Group["name"],
  recordId: row.record_id as Group["recordId"],
  description: row.description,
  createdAt: toDate(row.created_at),
})

export const toRange = (row: Row<"ranges">): Range => ({
  id: row.id as RangeId,
  recordId: row.record_id as Range["recordId"],
  number: row.number,
  name: row.name,
  description: row.description,
  purpose: row.purpose,
  state: row.state as Range["state"],
  testing: {
    enabled: Boolean(row.testing_enabled),
    allowedDomains: json(row.allowed_domains),
    allowedIps: json(row.allowed_ips),
  },
  lastDeploymentAt: toDateOr(row.last_deployment_at),
  lastActiveAt: toDateOr(row.last_active_at),
  autoShutdown: row.auto_shutdown ?? undefined,
  createdBy: (row.created_by ?? undefined) as Range["createdBy"],
  createdAt: toDate(row.created_at),
  updatedAt: toDate(row.updated_at),
  version: row.version,
  takenOver: Boolean(row.taken_over),
})

export const toMachine = (row: Row<"machines">): ObservedMachine => ({
  vmid: row.vmid as ObservedMachine["vmid"],
  node: row.node,
  name: row.name ?? undefined,
  power: row.power as ObservedMachine["power"],
  template: Boolean(row.template),
  pool: row.pool ?? undefined,
  cpus: Number(row.cpus),
  memoryMiB: Number(row.memory_mib),
  tags: json(row.tags),
})

export const toMissingMachine = (row: Row<"machines">): MissingMachine => ({
  ...toMachine(row),
  since: toDate(row.missing_since ?? 0),
})

const missing = ({ missing_since: since }: Row<"machines">): Pick<RangeMachine, "missingSince"> =>
  since === null ? {} : { missingSince: toDate(since) }

const foreign = ({ foreign_addresses: text }: Row<"machines">): Pick<RangeMachine, "foreignAddresses"> =>
  text === "[]" ? {} : { foreignAddresses: json(text) }

/** The machine as a VM of the range whose pool it is in. */
export const toRangeMachine = (row: Row<"machines">): RangeMachine => {
  const machine = toMachine(row)
  const rangeId = row.pool as RangeId
  const address = row.address ?? undefined
  return { ...machine, rangeId, address, ...foreign(row), ...missing(row), isRouter: isRouter(machine, rangeId) }
}

export const fromMachine = (machine: ObservedMachine) => ({
  vmid: machine.vmid,
  node: machine.node,
  name: machine.name ?? null,
  power: machine.power,
  template: machine.template,
  pool: machine.pool ?? null,
  cpus: machine.cpus,
  memory_mib: machine.memoryMiB,
  tags: JSON.stringify(machine.tags),
})

/** A key that we wrote ourselves. */
const toSubject = (key: string): RunSubject => {
  const subject = parseSubjectKey(key)
  if (subject === undefined) throw new Error(`the store holds a run about ${key}, which this version does not know`)
  return subject
}

export const toRun = (row: Row<"runs">): RunRecord => ({
  id: row.id as RunRecord["id"],
  kind: row.kind as RunRecord["kind"],
  subject: toSubject(row.subject),
  by: row.by_user as RunRecord["by"],
  options: json(row.options),
  startedAt: toDate(row.started_at),
  status: row.status as RunRecord["status"],
  endedAt: toDateOr(row.ended_at),
  lastSeq: row.last_seq,
  cancelRequested: Boolean(row.cancel_requested),
  behind: (row.behind ?? undefined) as RunRecord["behind"],
})

/** A source without what opens it. */
export type SourceRow = Omit<Row<"sources">, "access">

export const toSource = (row: SourceRow): Source => ({
  recordId: row.record_id as Source["recordId"],
  id: row.id as Source["id"],
  owner: row.owner as UserId,
  type: row.type as Source["type"],
  url: row.url,
  ref: row.ref,
  path: row.path,
  name: row.name,
  description: row.description,
  homepage: row.homepage,
  license: row.license,
  authors: json(row.authors),
  snapshot: (row.snapshot ?? undefined) as Source["snapshot"],
  lastSyncedAt: toDateOr(row.last_synced_at),
  lastSyncStatus: row.last_sync_status as Source["lastSyncStatus"],
  lastSyncError: row.last_sync_error,
  schedule: row.schedule ?? undefined,
  nextSyncAt: toDateOr(row.next_sync_at),
  createdAt: toDate(row.created_at),
})

export type SourceClaimRow = Omit<Row<"source_claims">, "source_record_id" | "user_id">

export const toSourceClaim = ({ kind, name, holder, version }: SourceClaimRow): SourceClaim => ({
  kind: kind as SourceClaim["kind"],
  name,
  version,
  scope: holder === "" ? { type: "global" } : { type: "user", userId: holder as UserId },
})
