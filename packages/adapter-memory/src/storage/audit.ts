import { type AuditFilter, AuditTrail, type KeptAuditEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { keepEntry, writesTo } from "./atomically.ts"
import type { MemoryStore, StoredAuditEntry } from "./memory-store.ts"

const isMeant =
  ({ before, user, operation, rangeId, outcome, remote, since, until }: AuditFilter) =>
  (entry: KeptAuditEntry): boolean =>
    (before === undefined || entry.id < before) &&
    (user === undefined || entry.callerId === user || entry.actingAs === user) &&
    (operation === undefined || entry.operation === operation) &&
    (rangeId === undefined || entry.rangeId === rangeId) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (remote === undefined || entry.remote === remote) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)

const withoutKey = ({ key: _key, ...entry }: StoredAuditEntry): KeptAuditEntry => entry

export const auditLayer = (store: MemoryStore): Layer.Layer<AuditTrail> =>
  Layer.succeed(AuditTrail, {
    record: (entry, key) => Effect.sync(() => keepEntry(store, entry, key)),
    begin: writesTo(store).change(() => undefined),
    list: (limit, filter = {}) =>
      Effect.sync(() => store.audit.toReversed().filter(isMeant(filter)).slice(0, limit).map(withoutKey)),
    prune: (days) =>
      Effect.sync(() => {
        const dayOf = ({ at }: KeptAuditEntry) => Math.floor(at.getTime() / 86_400_000)
        const last = new Set([...new Set(store.audit.toReversed().map(dayOf))].slice(0, days))
        const kept = store.audit.filter((entry) => last.has(dayOf(entry)))
        return store.audit.splice(0, store.audit.length, ...kept).length - kept.length
      }),
  })
