import { accessRecordsContract } from "./access-records.contract.ts"
import { auditContract } from "./audit.contract.ts"
import { auditedWritesContract } from "./audited-writes.contract.ts"
import { blueprintsContract } from "./blueprints.contract.ts"
import { consoleTicketsContract } from "./console-tickets.contract.ts"
import { groupsContract } from "./groups.contract.ts"
import { identitiesContract } from "./identities.contract.ts"
import { leaseContract } from "./lease.contract.ts"
import { machinesContract } from "./machines.contract.ts"
import { migrationRecordsContract } from "./migration-records.contract.ts"
import { quotasContract } from "./quotas.contract.ts"
import { rangesContract } from "./ranges.contract.ts"
import { restartContract } from "./restart.contract.ts"
import { runJournalContract } from "./run-journal.contract.ts"
import { scopedKeysContract } from "./scoped-keys.contract.ts"
import { sessionsContract } from "./sessions.contract.ts"
import { sourceBlueprintsContract } from "./source-blueprints.contract.ts"
import { sourcesContract } from "./sources.contract.ts"
import { stepDurationsContract } from "./step-durations.contract.ts"
import type { StorageUnderTest } from "./storage-under-test.ts"
import { usersContract } from "./users.contract.ts"
import { vpnRecordsContract } from "./vpn-records.contract.ts"

/** The tests that every adapter of the storage ports passes. */
export const storageContracts = (storage: StorageUnderTest): void => {
  for (const contract of [
    accessRecordsContract,
    auditContract,
    auditedWritesContract,
    blueprintsContract,
    consoleTicketsContract,
    groupsContract,
    identitiesContract,
    leaseContract,
    machinesContract,
    migrationRecordsContract,
    quotasContract,
    rangesContract,
    restartContract,
    runJournalContract,
    scopedKeysContract,
    sessionsContract,
    sourceBlueprintsContract,
    sourcesContract,
    stepDurationsContract,
    usersContract,
    vpnRecordsContract,
  ])
    contract(storage)
}
