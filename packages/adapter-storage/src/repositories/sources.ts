import {
  describedBy,
  sameOrigin,
  SourceExists,
  SourceMoved,
  SourceNotFound,
  type SourceOrigin,
  UserNotFound,
} from "@rangewright/domain"
import { type Landing, type LibraryScope, type SourceChange, type SourceClaim, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Insertable } from "kysely"
import { Database, type Transaction } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toSource } from "../schema/rows.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { sourceColumns, sourceReads } from "./source-reads.ts"

type Columns = Partial<Insertable<Tables["sources"]>>

const millis = (at: Date | undefined): number | null => at?.getTime() ?? null

/** What is fetched anew from elsewhere is no content any more; another ref of the same place keeps it (contract C 2.4). */
const elsewhere = (before: SourceOrigin, { url = before.url, path = before.path }: SourceChange): boolean =>
  url !== before.url || path !== before.path

const changedColumns = (before: SourceOrigin, change: SourceChange): Columns => ({
  ...(change.url === undefined ? {} : { url: change.url }),
  ...(change.ref === undefined ? {} : { ref: change.ref }),
  ...(change.path === undefined ? {} : { path: change.path }),
  ...("access" in change ? { access: change.access ?? null } : {}),
  ...("schedule" in change ? { schedule: change.schedule ?? null } : {}),
  ...("nextSyncAt" in change ? { next_sync_at: millis(change.nextSyncAt) } : {}),
  ...(elsewhere(before, change) ? { snapshot: null } : {}),
})

const landedColumns = ({ snapshot, syncedAt, manifest, outcome }: Landing): Columns => {
  const { authors, ...text } = manifest === undefined ? {} : describedBy(manifest)
  return {
    snapshot,
    ...text,
    ...(authors === undefined ? {} : { authors: JSON.stringify(authors) }),
    ...(syncedAt === undefined ? {} : { last_synced_at: syncedAt.getTime() }),
    ...(outcome === undefined ? {} : { last_sync_status: outcome.status, last_sync_error: outcome.error }),
  }
}

/** The row before it is changed; on PostgreSQL nobody else changes it until the transaction ends. */
const rowOf = (tx: Transaction, engine: Database["Service"]["engine"], recordId: string) =>
  tx((db) => {
    const row = db.selectFrom("sources").select(sourceColumns).where("record_id", "=", recordId)
    return (engine === "postgresql" ? row.forUpdate() : row).executeTakeFirst()
  })

const update = (tx: Transaction, recordId: string, columns: Columns) =>
  Effect.map(
    tx((db) =>
      db.updateTable("sources").set(columns).where("record_id", "=", recordId).returning(sourceColumns).executeTakeFirstOrThrow(),
    ),
    toSource,
  )

const holderOf = (scope: LibraryScope): string => (scope.type === "global" ? "" : scope.userId)

/** The longest name that a claim can have. */
const longestName = 500

const writeClaim = (tx: Transaction, source: string, { kind, name, version, scope }: SourceClaim) => {
  const user_id = scope.type === "global" ? null : scope.userId
  return tx((db) =>
    db
      .insertInto("source_claims")
      .values({ source_record_id: source, kind, name, holder: holderOf(scope), user_id, version })
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
        database.writeAlone(`create source ${source.id}`, (tx) =>
          Effect.gen(function* () {
            const owner = yield* tx((db) => db.selectFrom("users").select("id").where("id", "=", source.owner).executeTakeFirst())
            if (owner === undefined) return yield* new UserNotFound({ userId: source.owner })
            const { recordId, nextSyncAt, createdAt, schedule, access, ...rest } = source
            yield* refuseForeignSeal(tx, database.engine, access)
            const row = {
              ...rest,
              record_id: recordId,
              description: "",
              homepage: "",
              license: "",
              authors: "[]",
              snapshot: null,
              last_synced_at: null,
              last_sync_status: "",
              last_sync_error: "",
              schedule: schedule ?? null,
              next_sync_at: millis(nextSyncAt),
              created_at: createdAt.getTime(),
            }
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("sources")
                .values({ ...row, access: access ?? null })
                .onConflict((conflict) => conflict.column("id").doNothing())
                .executeTakeFirst(),
            )
            if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return yield* new SourceExists({ source: source.id })
            return toSource(row)
          }),
        ),
      change: (recordId, change) =>
        database.write("change a source", (tx) =>
          Effect.gen(function* () {
            const before = yield* rowOf(tx, database.engine, recordId)
            if (before === undefined) return yield* new SourceNotFound({ source: recordId })
            yield* refuseForeignSeal(tx, database.engine, change.access)
            const columns = changedColumns(before, change)
            return Object.keys(columns).length === 0 ? toSource(before) : yield* update(tx, recordId, columns)
          }),
        ),
      land: (source, landing) =>
        database.write(`take the content of source ${source.id}`, (tx) =>
          Effect.gen(function* () {
            const before = yield* rowOf(tx, database.engine, source.recordId)
            if (before === undefined) return yield* new SourceNotFound({ source: source.id })
            if (!sameOrigin(before, source)) return yield* new SourceMoved({ source: source.id })
            return yield* update(tx, source.recordId, landedColumns(landing))
          }),
        ),
      setOutcome: (recordId, { status, error }) =>
        database.write("write how a sync ended", (tx) =>
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
        database.writeAlone("remove a source", (tx) =>
          Effect.asVoid(tx((db) => db.deleteFrom("sources").where("record_id", "=", recordId).execute())),
        ),
      postpone: (recordId, from, to) =>
        database.write("move the next sync of a source", (tx) =>
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
        database.writeAlone("write what was installed from a source", (tx) =>
          Effect.gen(function* () {
            if ((yield* rowOf(tx, database.engine, recordId)) === undefined)
              return yield* new SourceNotFound({ source: recordId })
            const users = new Set((yield* tx((db) => db.selectFrom("users").select("id").execute())).map(({ id }) => id))
            for (const claim of claims)
              if (claim.name.length <= longestName && (claim.scope.type === "global" || users.has(claim.scope.userId)))
                yield* writeClaim(tx, recordId, claim)
          }),
        ),
      release: (kinds, name, scope) =>
        database.writeAlone(`release what sources say of ${name}`, (tx) =>
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
