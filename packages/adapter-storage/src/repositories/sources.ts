import {
  describedBy,
  newlyMadeSource,
  type RecordId,
  sameOrigin,
  SourceExists,
  SourceMoved,
  SourceNotFound,
  type SourceOrigin,
} from "@rangewright/domain"
import {
  type SyncResult,
  type LibraryScope,
  longestClaimName,
  type SourceChange,
  type SourceClaim,
  Sources,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Updateable } from "kysely"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { sourceClaims, sources, toSource } from "../records/source.ts"
import { first } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { requireUser } from "./require.ts"
import { sourceReads } from "./source-reads.ts"

/** A change of url or path means other content, so the old content is dropped; a different ref of the same place keeps it. */
const changed = (before: SourceOrigin, change: SourceChange) => {
  const { url = before.url, path = before.path } = change
  const elsewhere = url !== before.url || path !== before.path
  return sources.write({ ...change, ...(elsewhere ? { snapshot: undefined } : {}) })
}

const resultColumns = ({ snapshot, syncedAt, manifest, outcome }: SyncResult) =>
  sources.write({
    snapshot,
    ...(manifest === undefined ? {} : describedBy(manifest)),
    ...(syncedAt === undefined ? {} : { lastSyncedAt: syncedAt }),
    ...(outcome === undefined ? {} : { lastSyncStatus: outcome.status, lastSyncError: outcome.error }),
  })

/** The source before a change, locked on PostgreSQL until the transaction ends. */
const find = (tx: Transaction, engine: Database["Service"]["engine"], recordId: RecordId) =>
  tx((db) => {
    const row = db.selectFrom("sources").selectAll().where("record_id", "=", recordId)
    return (engine === "postgresql" ? row.forUpdate() : row).execute().then(first(toSource))
  })

const update = (tx: Transaction, recordId: RecordId, columns: Updateable<Tables["sources"]>) =>
  tx((db) =>
    db
      .updateTable("sources")
      .set(columns)
      .where("record_id", "=", recordId)
      .returningAll()
      .executeTakeFirstOrThrow()
      .then(toSource),
  )

const holderOf = (scope: LibraryScope): string => (scope.type === "global" ? "" : scope.userId)

const writeClaim = (tx: Transaction, sourceRecordId: RecordId, { kind, name, version, scope }: SourceClaim) => {
  const userId = scope.type === "global" ? undefined : scope.userId
  return tx((db) =>
    db
      .insertInto("source_claims")
      .values(sourceClaims.write({ sourceRecordId, kind, name, holder: holderOf(scope), userId, version }))
      .onConflict((conflict) => conflict.columns(["source_record_id", "kind", "name", "holder"]).doUpdateSet({ version }))
      .execute(),
  )
}

export const sourcesLayer: Layer.Layer<Sources, never, Database> = Layer.effect(
  Sources,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      ...sourceReads(database),
      create: (source) =>
        database.serializedWrite(`create source ${source.id}`, (tx) =>
          Effect.gen(function* () {
            yield* requireUser(tx, source.owner)
            const { access, ...draft } = source
            yield* refuseForeignSeal(tx, database.engine, access)
            const made = newlyMadeSource(draft)
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("sources")
                .values(sources.write({ ...made, access }))
                .onConflict((conflict) => conflict.column("id").doNothing())
                .executeTakeFirst(),
            )
            if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return yield* new SourceExists({ source: source.id })
            return made
          }),
        ),
      change: (recordId, change) =>
        database.write("change a source", (tx) =>
          Effect.gen(function* () {
            const before = yield* find(tx, database.engine, recordId)
            if (before === undefined) return yield* new SourceNotFound({ source: recordId })
            yield* refuseForeignSeal(tx, database.engine, change.access)
            const columns = changed(before, change)
            return Object.keys(columns).length === 0 ? before : yield* update(tx, recordId, columns)
          }),
        ),
      commitSync: (source, result) =>
        database.write(`store the content of source ${source.id}`, (tx) =>
          Effect.gen(function* () {
            const before = yield* find(tx, database.engine, source.recordId)
            if (before === undefined) return yield* new SourceNotFound({ source: source.id })
            if (!sameOrigin(before, source)) return yield* new SourceMoved({ source: source.id })
            return yield* update(tx, source.recordId, resultColumns(result))
          }),
        ),
      setOutcome: (recordId, { status, error }) =>
        database.write("store the result of a sync", (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .updateTable("sources")
                .set({ last_sync_status: status, last_sync_error: error })
                .where("record_id", "=", recordId)
                .execute(),
            ),
          ),
        ),
      remove: (recordId) =>
        database.serializedWrite("remove a source", (tx) =>
          Effect.asVoid(tx((db) => db.deleteFrom("sources").where("record_id", "=", recordId).execute())),
        ),
      removeUnfetched: (source) =>
        database.serializedWrite("remove a source without content", (tx) =>
          Effect.gen(function* () {
            const before = yield* find(tx, database.engine, source.recordId)
            if (before === undefined || before.snapshot !== undefined || !sameOrigin(before, source)) return false
            yield* tx((db) => db.deleteFrom("sources").where("record_id", "=", source.recordId).execute())
            return true
          }),
        ),
      postpone: (recordId, from, to) =>
        database.write("reschedule the next sync of a source", (tx) =>
          Effect.map(
            tx((db) =>
              db
                .updateTable("sources")
                .set({ next_sync_at: to.getTime() })
                .where("record_id", "=", recordId)
                .where("next_sync_at", "=", from.getTime())
                .executeTakeFirst(),
            ),
            ({ numUpdatedRows }) => numUpdatedRows > 0n,
          ),
        ),
      claim: (recordId, claims) =>
        database.serializedWrite("write what was installed from a source", (tx) =>
          Effect.gen(function* () {
            if ((yield* find(tx, database.engine, recordId)) === undefined) return yield* new SourceNotFound({ source: recordId })
            const users = new Set((yield* tx((db) => db.selectFrom("users").select("id").execute())).map(({ id }) => id))
            for (const claim of claims)
              if (claim.name.length <= longestClaimName && (claim.scope.type === "global" || users.has(claim.scope.userId)))
                yield* writeClaim(tx, recordId, claim)
          }),
        ),
      release: (kinds, name, scope) =>
        database.serializedWrite(`release the claims of sources on ${name}`, (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .deleteFrom("source_claims")
                .where("kind", "in", kinds.length === 0 ? [""] : kinds)
                .where("name", "=", name)
                .where("holder", "=", holderOf(scope))
                .execute(),
            ),
          ),
        ),
    }
  }),
)
