import {
  type Activation,
  type Amounts,
  type Blueprint,
  type BlueprintId,
  type Group,
  type GroupName,
  type GroupNotice,
  type GroupRole,
  type Identity,
  type JournalEntry,
  type LearnedDuration,
  type LegacyInstallation,
  type MigrationRecord,
  nothingHeld,
  nothingHeldByVpn,
  type GuestSystem,
  type HeldAccess,
  type HeldVpn,
  type ObservedCluster,
  type ObservedMachine,
  type Picture,
  type Range,
  type RangeId,
  type RecordId,
  rangeOf,
  type RunId,
  type ScopedKey,
  type Session,
  type SlotLedger,
  type Source,
  type User,
  type UserId,
  type UserSecrets,
  type Vmid,
  type VpnKey,
} from "@rangewright/domain"
import type {
  ConsoleTicket,
  KeptInspection,
  Freshness,
  KeptAuditEntry,
  KeptLogin,
  KeptSnapshots,
  OwedSettings,
  RunRecord,
  SourceClaim,
} from "@rangewright/ports"

/** A run with its journal and its lease. */
export interface StoredRun {
  readonly record: RunRecord
  readonly entries: readonly JournalEntry[]
  /** Whether it gave way to another run, which waits behind it. */
  readonly yielded: boolean
  /** 0 before the first claim. */
  readonly generation: number
  readonly lease: { readonly owner: string; readonly until: number } | undefined
}

/** A machine as last seen, and when the service recorded it itself (milliseconds; 0 when it comes from an observation). */
export interface StoredMachine {
  readonly machine: ObservedMachine
  readonly address: string | undefined
  readonly foreignAddresses?: readonly string[] | undefined
  readonly activation?: Activation | undefined
  readonly recordedAt: number
  /** Since when observations lack it. */
  readonly missingSince?: Date
}

/** A group with its members and ranges. */
export interface StoredGroup {
  readonly group: Group
  readonly roles: Map<UserId, GroupRole>
  readonly ranges: Set<RangeId>
  readonly notice?: GroupNotice
}

/** A blueprint with its texts and picture. */
export interface StoredBlueprint {
  readonly blueprint: Blueprint
  readonly config: string
  readonly requirements: string | undefined
  readonly picture: Picture | undefined
  /** The last change of the configuration; absent when there was none, or a source made it. */
  readonly configChange?: { readonly by: UserId | undefined; readonly at: Date }
}

/** A source with its credentials and what was installed from it, in the order of the list. */
export interface StoredSource {
  readonly source: Source
  readonly access: string | undefined
  readonly claims: readonly SourceClaim[]
}

/** An entry of the audit trail, with the key of its draft if it was one. */
export interface StoredAuditEntry extends KeptAuditEntry {
  readonly key: string | undefined
}

/** All data of one installation's storage ports. It outlives the layers over it, as a database outlives a process. */
export interface MemoryStore {
  readonly users: Map<UserId, { readonly user: User; readonly secrets: UserSecrets }>
  /** Numbers of removed users -> when the user was removed, in milliseconds. */
  readonly restingNumbers: Map<number, number>
  readonly ranges: Map<RangeId, Range>
  readonly configs: Map<RangeId, { readonly text: string; readonly updatedAt: Date; readonly updatedBy?: UserId | undefined }>
  /** As they were at the start of the newest deploy. */
  readonly deployedConfigs: Map<RangeId, string>
  readonly inspections: Map<RangeId, KeptInspection>
  readonly pictures: Map<RangeId, Picture>
  readonly grants: Map<RangeId, Set<UserId>>
  readonly groups: Map<GroupName, StoredGroup>
  readonly userQuotas: Map<UserId, Amounts>
  readonly groupQuotas: Map<GroupName, Amounts>
  readonly vpnKeys: Map<UserId, VpnKey>
  /** By hash. */
  readonly consoleTickets: Map<string, ConsoleTicket>
  /** By id. */
  readonly scopedKeys: Map<string, ScopedKey>
  readonly identities: Identity[]
  /** Expiry by hash. */
  readonly spentSignIns: Map<string, Date>
  /** By hash. */
  readonly sessions: Map<string, Session>
  readonly blueprints: Map<BlueprintId, StoredBlueprint>
  readonly sources: Map<RecordId, StoredSource>
  readonly machines: Map<Vmid, StoredMachine>
  /** Deleted VMIDs, hidden until a newer observation -> when, in milliseconds. */
  readonly gone: Map<Vmid, number>
  readonly reservations: Map<RangeId, Map<string, Vmid>>
  readonly stages: Map<RangeId, Map<Vmid, Map<string, string>>>
  readonly logins: Map<RangeId, Map<Vmid, KeptLogin>>
  readonly systems: Map<RangeId, Map<Vmid, GuestSystem>>
  readonly owed: Map<RangeId, Map<Vmid, OwedSettings>>
  readonly snapshots: Map<RangeId, Map<Vmid, KeptSnapshots>>
  /** By snapshot (`name takenAt`). */
  readonly snapshotStages: Map<RangeId, Map<Vmid, Map<string, ReadonlyMap<string, string>>>>
  readonly runs: Map<RunId, StoredRun>
  /** Ledgers of limited resources, by name. */
  readonly slots: Map<string, SlotLedger>
  /** Of everybody's work, by name; the one to be forgotten next comes first. */
  durations: ReadonlyMap<string, LearnedDuration>
  /** Of work that is a user's own. */
  readonly ownDurations: Map<UserId, ReadonlyMap<string, LearnedDuration>>
  readonly audit: StoredAuditEntry[]
  held: { readonly held: HeldAccess; readonly version: number }
  heldByVpn: { readonly held: HeldVpn; readonly version: number }
  readonly told: Map<RangeId, readonly number[]>
  readonly passwordVersions: Map<UserId, string>
  /** How often any password was set. */
  passwordsSet: number
  migrationRecord: MigrationRecord | undefined
  /** Data of an older installation; undefined when there is none. */
  legacy: LegacyInstallation | undefined
  observed: Pick<ObservedCluster, "at" | "nodes" | "storages"> | undefined
  away: Pick<Freshness, "awaySince" | "awayReason"> | undefined
  doubt: Freshness["doubt"]
  revision: number
}

export const makeMemoryStore = (): MemoryStore => ({
  users: new Map(),
  restingNumbers: new Map(),
  ranges: new Map(),
  configs: new Map(),
  deployedConfigs: new Map(),
  inspections: new Map(),
  pictures: new Map(),
  grants: new Map(),
  groups: new Map(),
  userQuotas: new Map(),
  groupQuotas: new Map(),
  vpnKeys: new Map(),
  consoleTickets: new Map(),
  scopedKeys: new Map(),
  identities: [],
  spentSignIns: new Map(),
  sessions: new Map(),
  blueprints: new Map(),
  sources: new Map(),
  machines: new Map(),
  gone: new Map(),
  reservations: new Map(),
  stages: new Map(),
  logins: new Map(),
  systems: new Map(),
  owed: new Map(),
  snapshots: new Map(),
  snapshotStages: new Map(),
  runs: new Map(),
  slots: new Map(),
  durations: new Map(),
  ownDurations: new Map(),
  audit: [],
  held: { held: nothingHeld, version: 0 },
  heldByVpn: { held: nothingHeldByVpn, version: 0 },
  told: new Map(),
  passwordVersions: new Map(),
  passwordsSet: 0,
  migrationRecord: undefined,
  legacy: undefined,
  observed: undefined,
  away: undefined,
  doubt: undefined,
  revision: 0,
})

/** Removes what belongs to a range, as a cascading delete does. */
export const dropRange = (store: MemoryStore, id: RangeId): void => {
  store.ranges.delete(id)
  const {
    configs,
    deployedConfigs,
    inspections,
    pictures,
    grants,
    reservations,
    stages,
    logins,
    systems,
    owed,
    snapshots,
    snapshotStages,
    told,
  } = store
  const all = [
    configs,
    deployedConfigs,
    inspections,
    pictures,
    grants,
    reservations,
    stages,
    logins,
    systems,
    owed,
    snapshots,
    snapshotStages,
    told,
  ]
  for (const kept of all) kept.delete(id)
  for (const { ranges } of store.groups.values()) ranges.delete(id)
  for (const { hash, rangeId } of store.consoleTickets.values()) if (rangeId === id) store.consoleTickets.delete(hash)
  for (const { id: keyId, scope } of store.scopedKeys.values())
    if (scope.kind === "range" && scope.rangeId === id) store.scopedKeys.delete(keyId)
  for (const [vmid, { machine }] of store.machines) if (machine.pool === id) store.machines.delete(vmid)
  for (const [runId, { record }] of store.runs) if (rangeOf(record) === id) store.runs.delete(runId)
  store.revision++
}

/** Writes a range and updates its time of change. */
export const writeRange = (store: MemoryStore, range: Range, at: Date): Range => {
  const written = { ...range, updatedAt: at }
  store.ranges.set(range.id, written)
  store.revision++
  return written
}
