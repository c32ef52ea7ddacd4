import type { LegacyData, StoragePorts } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { accessRecordsLayer } from "./access-records.ts"
import { auditLayer } from "./audit.ts"
import { blueprintsLayer } from "./blueprints.ts"
import { consoleTicketsLayer } from "./console-tickets.ts"
import { groupsLayer } from "./groups.ts"
import { identitiesLayer } from "./identities.ts"
import { legacyDataLayer } from "./legacy-data.ts"
import { machinesLayer } from "./machines.ts"
import { migrationRecordsLayer } from "./migration-records.ts"
import type { MemoryStore } from "./memory-store.ts"
import { quotasLayer } from "./quotas.ts"
import { rangesLayer } from "./ranges.ts"
import { runJournalLayer } from "./run-journal.ts"
import { scopedKeysLayer } from "./scoped-keys.ts"
import { sessionsLayer } from "./sessions.ts"
import { sharedSlotsLayer } from "./shared-slots.ts"
import { sourcesLayer } from "./sources.ts"
import { stepDurationsLayer } from "./step-durations.ts"
import { usersLayer } from "./users.ts"
import { vpnRecordsLayer } from "./vpn-records.ts"

/** All storage ports over one store. Layers over the same store see the same data: a new layer is like a restarted process. */
export const memoryStorageLayer = (store: MemoryStore): Layer.Layer<StoragePorts | LegacyData> =>
  Layer.mergeAll(
    accessRecordsLayer(store),
    auditLayer(store),
    blueprintsLayer(store),
    consoleTicketsLayer(store),
    groupsLayer(store),
    identitiesLayer(store),
    legacyDataLayer(store),
    machinesLayer(store),
    migrationRecordsLayer(store),
    quotasLayer(store),
    rangesLayer(store),
    runJournalLayer(store),
    scopedKeysLayer(store),
    sessionsLayer(store),
    sharedSlotsLayer(store),
    sourcesLayer(store),
    stepDurationsLayer(store),
    usersLayer(store),
    vpnRecordsLayer(store),
  )
