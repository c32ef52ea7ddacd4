import type { AccessRecords } from "./access-records.ts"
import type { AuditTrail } from "./audit.ts"
import type { Blueprints } from "./blueprints.ts"
import type { ConsoleTickets } from "./console-tickets.ts"
import type { Groups } from "./groups.ts"
import type { Identities } from "./identities.ts"
import type { Machines } from "./machines.ts"
import type { MigrationRecords } from "./migration-records.ts"
import type { Quotas } from "./quotas.ts"
import type { Ranges } from "./ranges.ts"
import type { RunJournal } from "./run-journal.ts"
import type { ScopedKeys } from "./scoped-keys.ts"
import type { Sessions } from "./sessions.ts"
import type { Sources } from "./sources.ts"
import type { StepDurations } from "./step-durations.ts"
import type { Users } from "./users.ts"
import type { VpnRecords } from "./vpn-records.ts"

/** The ports that a storage adapter provides. */
export type StoragePorts =
  | AccessRecords
  | AuditTrail
  | Blueprints
  | ConsoleTickets
  | Groups
  | Identities
  | Machines
  | MigrationRecords
  | Quotas
  | Ranges
  | RunJournal
  | ScopedKeys
  | Sessions
  | Sources
  | StepDurations
  | Users
  | VpnRecords
