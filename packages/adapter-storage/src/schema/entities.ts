import { defineEntity, p } from "@mikro-orm/core"

/**
 * The tables, declared once: migrations are made from these, a test compares the two, and the types of all queries are inferred from
 * them. Times are whole milliseconds since 1970 (`bigint`: PostgreSQL's driver gives them as text). A unique index stands behind every
 * uniqueness rule. Rows that belong to a range go with it.
 */
const id = () => p.string().length(255)
const time = () => p.bigint("number")

const User = defineEntity({
  name: "User",
  tableName: "users",
  uniques: [{ name: "users_account_unique", properties: ["hypervisorUsername", "hypervisorRealm"] }],
  properties: {
    id: id().primary(),
    recordId: id().unique("users_record_unique"),
    number: p.integer().unique("users_number_unique"),
    name: p.text(),
    email: p.text(),
    /** Lower case; null where the user has no address. */
    emailKey: p.string().length(1024).nullable().unique("users_email_unique"),
    isAdmin: p.boolean(),
    hypervisorUsername: id(),
    hypervisorRealm: id(),
    /** May name a range that is gone. */
    defaultRangeId: id().nullable(),
    hasCompletedOnboarding: p.boolean(),
    createdAt: time(),
    updatedAt: time(),
    lastActiveAt: time().nullable(),
    apiKeyHash: p.text().nullable(),
    sealedPassword: p.text().nullable(),
    tokenKey: p.text(),
  },
})

/** Numbers of removed users and when they went. */
const RestingNumber = defineEntity({
  name: "RestingNumber",
  tableName: "resting_user_numbers",
  properties: { number: p.integer().primary().autoincrement(false), since: time() },
})

const Range = defineEntity({
  name: "Range",
  tableName: "ranges",
  properties: {
    id: id().primary(),
    recordId: id().unique("ranges_record_unique"),
    number: p.integer().unique("ranges_number_unique"),
    name: p.text(),
    description: p.text(),
    purpose: p.text(),
    state: p.string().length(32),
    testingEnabled: p.boolean(),
    /** JSON arrays of texts. */
    allowedDomains: p.text(),
    allowedIps: p.text(),
    lastDeploymentAt: time().nullable(),
    lastActiveAt: time().nullable(),
    autoShutdown: p.text().nullable(),
    createdBy: () => p.manyToOne(User).nullable().fieldName("created_by").deleteRule("set null"),
    createdAt: time(),
    updatedAt: time(),
    version: p.integer(),
    takenOver: p.boolean().default(false),
    /** The ID in lower case; null for those that differed only in case from another one before this was refused. */
    idKey: id().nullable().unique("ranges_id_key_unique"),
  },
})

const RangeConfig = defineEntity({
  name: "RangeConfig",
  tableName: "range_configs",
  properties: {
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
    /** UTF-8, byte by byte as it was uploaded. */
    content: p.blob(),
    /** The same, as it was when the newest deploy opened. */
    deployed: p.blob().nullable(),
    updatedAt: time(),
  },
})

const RangeGrant = defineEntity({
  name: "RangeGrant",
  tableName: "range_grants",
  properties: {
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
    userId: () => p.manyToOne(User).primary().fieldName("user_id").deleteRule("cascade"),
  },
})

const Group = defineEntity({
  name: "Group",
  // `groups` is a word of SQL
  tableName: "user_groups",
  properties: {
    name: id().primary(),
    recordId: id().unique("user_groups_record_unique"),
    description: p.text(),
    createdAt: time(),
  },
})

const GroupMember = defineEntity({
  name: "GroupMember",
  tableName: "group_members",
  properties: {
    groupName: () => p.manyToOne(Group).primary().fieldName("group_name").deleteRule("cascade"),
    userId: () => p.manyToOne(User).primary().fieldName("user_id").deleteRule("cascade"),
    /** `member` or `manager`. */
    role: p.string().length(16),
  },
})

const GroupRange = defineEntity({
  name: "GroupRange",
  tableName: "group_ranges",
  properties: {
    groupName: () => p.manyToOne(Group).primary().fieldName("group_name").deleteRule("cascade"),
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
  },
})

const Blueprint = defineEntity({
  name: "Blueprint",
  tableName: "blueprints",
  uniques: [{ name: "blueprints_origin_unique", properties: ["source", "sourceBlueprintId"] }],
  properties: {
    id: id().primary(),
    recordId: id().unique("blueprints_record_unique"),
    /** Null once the owner was removed. */
    owner: () => p.manyToOne(User).nullable().fieldName("owner").deleteRule("set null"),
    name: p.text(),
    description: p.text(),
    version: p.text(),
    /** JSON array of texts. */
    tags: p.text(),
    minVersion: p.text(),
    /** Record of the source that it came from and its id there; both null for one that was made here. */
    source: id().nullable(),
    sourceBlueprintId: id().nullable(),
    /** Where its files lie; both null where it has none. */
    bundleSnapshot: p.text().nullable(),
    bundleDirectory: p.text().nullable(),
    /** The last installation of what it requires; all null before the first. */
    installStatus: p.string().length(16).nullable(),
    installError: p.text().nullable(),
    installedAt: time().nullable(),
    createdAt: time(),
    updatedAt: time(),
    /** The last columns: lists do not read them. */
    requirements: p.text().nullable(),
    config: p.text(),
  },
})

const BlueprintThumbnail = defineEntity({
  name: "BlueprintThumbnail",
  tableName: "blueprint_thumbnails",
  properties: {
    blueprintId: () => p.manyToOne(Blueprint).primary().fieldName("blueprint_id").deleteRule("cascade"),
    name: p.text(),
    /** Content type. */
    type: p.string().length(32),
    content: p.blob(),
  },
})

const BlueprintUser = defineEntity({
  name: "BlueprintUser",
  tableName: "blueprint_users",
  properties: {
    blueprintId: () => p.manyToOne(Blueprint).primary().fieldName("blueprint_id").deleteRule("cascade"),
    userId: () => p.manyToOne(User).primary().fieldName("user_id").deleteRule("cascade"),
  },
})

const BlueprintGroup = defineEntity({
  name: "BlueprintGroup",
  tableName: "blueprint_groups",
  properties: {
    blueprintId: () => p.manyToOne(Blueprint).primary().fieldName("blueprint_id").deleteRule("cascade"),
    groupName: () => p.manyToOne(Group).primary().fieldName("group_name").deleteRule("cascade"),
  },
})

const Source = defineEntity({
  name: "Source",
  tableName: "sources",
  properties: {
    recordId: id().primary(),
    id: id().unique("sources_id_unique"),
    owner: () => p.manyToOne(User).fieldName("owner").deleteRule("cascade"),
    type: p.string().length(16),
    url: p.text(),
    ref: p.text(),
    path: p.text(),
    /** Sealed; null where there is none. */
    access: p.text().nullable(),
    name: p.text(),
    description: p.text(),
    homepage: p.text(),
    license: p.text(),
    /** JSON array of texts. */
    authors: p.text(),
    snapshot: p.text().nullable(),
    lastSyncedAt: time().nullable(),
    lastSyncStatus: p.string().length(16),
    lastSyncError: p.text(),
    schedule: p.text().nullable(),
    nextSyncAt: time().nullable(),
    createdAt: time(),
  },
})

const SourceClaim = defineEntity({
  name: "SourceClaim",
  tableName: "source_claims",
  properties: {
    sourceRecordId: () => p.manyToOne(Source).primary().fieldName("source_record_id").deleteRule("cascade"),
    kind: p.string().length(32).primary(),
    name: p.string().length(500).primary(),
    /** The user's id, or empty: everybody's. */
    holder: id().primary(),
    /** The holder where it is a user, so that the claim goes with the user. */
    userId: () => p.manyToOne(User).nullable().fieldName("user_id").deleteRule("cascade"),
    version: p.text(),
  },
})

/** All VMs of the cluster; those whose pool is a range's id belong to that range. */
const Machine = defineEntity({
  name: "Machine",
  tableName: "machines",
  properties: {
    vmid: p.integer().primary().autoincrement(false),
    node: p.text(),
    name: p.text().nullable(),
    power: p.string().length(16),
    template: p.boolean(),
    pool: p.text().nullable().index("machines_pool_index"),
    cpus: p.double(),
    memoryMib: p.double(),
    /** JSON array of texts. */
    tags: p.text(),
    address: p.text().nullable(),
    /** JSON array of texts. */
    foreignAddresses: p.text().default("[]"),
    /** When we said so ourselves; 0: an observation said it. */
    recordedAt: time(),
    /** The time of the first observation that lacks it. */
    missingSince: time().nullable(),
  },
})

/** VMIDs that we said are gone, until an observation that began later. */
const DepartedMachine = defineEntity({
  name: "DepartedMachine",
  tableName: "departed_machines",
  properties: { vmid: p.integer().primary().autoincrement(false), at: time() },
})

/** One row: the last whole observation, without its machines, and since when the hypervisor is away. */
const Observation = defineEntity({
  name: "Observation",
  tableName: "observation",
  properties: {
    id: p.integer().primary().autoincrement(false),
    observedAt: time().nullable(),
    /** JSON: `{ nodes, storages }`. */
    cluster: p.text().nullable(),
    awaySince: time().nullable(),
    awayReason: p.text().nullable(),
    doubtSince: time().nullable(),
    doubtReason: p.text().nullable(),
  },
})

const VmidReservation = defineEntity({
  name: "VmidReservation",
  tableName: "vmid_reservations",
  properties: {
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
    machine: p.string().length(1024).primary(),
    vmid: p.integer().unique("vmid_reservations_vmid_unique"),
  },
})

const MachineStage = defineEntity({
  name: "MachineStage",
  tableName: "machine_stages",
  properties: {
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
    vmid: p.integer().primary().autoincrement(false),
    stepKey: p.string().length(1024).primary(),
    fingerprint: p.text(),
  },
})

/** Passwords of machines' logins, sealed; `sealedNext` is about to be set. */
const MachineLogin = defineEntity({
  name: "MachineLogin",
  tableName: "machine_logins",
  properties: {
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
    vmid: p.integer().primary().autoincrement(false),
    sealed: p.text().nullable(),
    sealedNext: p.text().nullable(),
  },
})

/** What guests said of their operating systems: a JSON object. */
const MachineSystem = defineEntity({
  name: "MachineSystem",
  tableName: "machine_systems",
  properties: {
    rangeId: () => p.manyToOne(Range).primary().fieldName("range_id").deleteRule("cascade"),
    vmid: p.integer().primary().autoincrement(false),
    system: p.text(),
  },
})

const Run = defineEntity({
  name: "Run",
  tableName: "runs",
  indexes: [
    { name: "runs_range_index", properties: ["rangeId"] },
    { name: "runs_subject_index", properties: ["subject", "startedAt"] },
    { name: "runs_started_index", properties: ["startedAt"] },
  ],
  properties: {
    id: id().primary(),
    kind: p.string().length(32),
    /** `range:LAB`. */
    subject: p.string().length(1024),
    /** The subject while the run is unfinished, then null: unique, so that a subject has at most one unfinished run. */
    busySubject: p.string().length(1024).nullable().unique("runs_busy_subject_unique"),
    /** The range it is about, so that it goes with its range; null when it is about something else. */
    rangeId: () => p.manyToOne(Range).nullable().fieldName("range_id").deleteRule("cascade"),
    byUser: id(),
    /** JSON. */
    options: p.text(),
    startedAt: time(),
    status: p.string().length(16),
    endedAt: time().nullable(),
    lastSeq: p.integer(),
    cancelRequested: p.boolean(),
    generation: p.integer(),
    leaseOwner: p.text().nullable(),
    leaseUntil: time().nullable(),
    /** The run that it was opened behind; it may be gone. */
    behind: id().nullable(),
  },
})

const JournalEntry = defineEntity({
  name: "JournalEntry",
  tableName: "journal_entries",
  properties: {
    runId: () => p.manyToOne(Run).primary().fieldName("run_id").deleteRule("cascade"),
    seq: p.integer().primary().autoincrement(false),
    at: time(),
    /** JSON of the event. */
    event: p.text(),
  },
})

const AuditEntry = defineEntity({
  name: "AuditEntry",
  tableName: "audit_entries",
  properties: {
    id: p.integer().primary().autoincrement(),
    at: time().index("audit_entries_at_index"),
    requestId: p.text(),
    callerId: id().nullable(),
    actingAs: id().nullable(),
    operation: p.text(),
    rangeId: id().nullable(),
    detail: p.text(),
    outcome: p.text(),
    remote: p.text(),
  },
  // what administrators look for; the id behind it makes the newest come first
  indexes: [
    { name: "audit_entries_caller_id_index", properties: ["callerId", "id"] },
    { name: "audit_entries_acting_as_index", properties: ["actingAs", "id"] },
    { name: "audit_entries_operation_index", properties: ["operation", "id"] },
    { name: "audit_entries_range_id_index", properties: ["rangeId", "id"] },
    { name: "audit_entries_outcome_index", properties: ["outcome", "id"] },
    { name: "audit_entries_remote_index", properties: ["remote", "id"] },
  ],
})

/** What an installation was like before its networks moved, as JSON; one row. */
const MigrationRecord = defineEntity({
  name: "MigrationRecord",
  tableName: "migration_records",
  properties: { id: id().primary(), record: p.text() },
})

/** One row. Triggers raise it with every change that an overview of ranges can show. */
const Revision = defineEntity({
  name: "Revision",
  tableName: "revision",
  properties: { id: p.integer().primary().autoincrement(false), value: p.bigint("number") },
})

/** One row: the key that sealed what is sealed in the other tables. */
const SealingKey = defineEntity({
  name: "SealingKey",
  tableName: "sealing_key",
  properties: {
    id: p.integer().primary().autoincrement(false),
    keyId: p.string().length(16),
    /** What API keys are hashed with. */
    sealedHashKey: p.text(),
    /** ROOT's API key, for its file; null where it is not known. */
    sealedRootKey: p.text().nullable(),
  },
})

export const entities = [
  AuditEntry,
  Blueprint,
  BlueprintGroup,
  BlueprintThumbnail,
  BlueprintUser,
  DepartedMachine,
  Group,
  GroupMember,
  GroupRange,
  JournalEntry,
  Machine,
  MachineLogin,
  MachineSystem,
  MachineStage,
  MigrationRecord,
  Observation,
  Range,
  RangeConfig,
  RangeGrant,
  RestingNumber,
  Revision,
  Run,
  SealingKey,
  Source,
  SourceClaim,
  User,
  VmidReservation,
] as const
