import { DatabaseSync } from "node:sqlite"
import { Conflict, installation, subjectKey } from "@rangewright/domain"
import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import { Database } from "../engine/database.ts"
import { storageFault } from "../engine/storage-fault.ts"
import type { Tables } from "../schema/tables.ts"
import { copyRows, tablesInOrder } from "./rows.ts"

/** Releases the runs of a restored database from their former workers: the next worker to claim one continues it. */
export const releaseRuns: Effect.Effect<void, StorageFault, Database> = Database.use((database) =>
  database.write("release the runs of a backup", (tx) =>
    Effect.asVoid(
      tx((db) =>
        db
          .updateTable("runs")
          .set((column) => ({ generation: sql`${column.ref("generation")} + 1`, lease_owner: null, lease_until: null }))
          .where("status", "=", "running")
          .execute(),
      ),
    ),
  ),
)

/** Content snapshots that the database needs: those of sources, and of blueprints' files. */
export const snapshotsInUse: Effect.Effect<ReadonlySet<string>, StorageFault, Database> = Database.use((database) =>
  database.read("read which content is in use", async (db) => {
    const sources = await db.selectFrom("sources").select("snapshot as id").where("snapshot", "is not", null).execute()
    const bundles = await db
      .selectFrom("blueprints")
      .select("bundle_snapshot as id")
      .where("bundle_snapshot", "is not", null)
      .execute()
    return new Set([...sources, ...bundles].flatMap(({ id }) => id ?? []))
  }),
)

/**
 * The run that is changing the whole installation, in the SQLite file of any version; undefined if there is none, or the file cannot be
 * read. Changes nothing.
 */
export const installationRunIn = (file: string): { readonly id: string; readonly kind: string } | undefined => {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
    try {
      const run = database.prepare("select id, kind from runs where busy_subject = ?").get(subjectKey(installation))
      return run && { id: String(run["id"]), kind: String(run["kind"]) }
    } finally {
      database.close()
    }
  } catch {
    return undefined
  }
}

/** Fails when a server's database is in use: existing data is never replaced. */
const refuseUsed = (user: unknown): Effect.Effect<void, Conflict> =>
  user === undefined
    ? Effect.void
    : Effect.fail(
        new Conflict({
          what: "Cannot restore into the database of database_url: it contains data",
          hint: "Use an empty database, or empty this one with the server's own tools.",
        }),
      )
const anyUser = (db: Kysely<Tables>) => db.selectFrom("users").select("id").limit(1).executeTakeFirst()

/** Fails early when a server's database is in use; `fillFrom` looks again. */
export const requireEmpty: Effect.Effect<void, Conflict | StorageFault, Database> = Database.use((database) =>
  Effect.flatMap(database.read("look for users", anyUser), refuseUsed),
)

/** Sets the audit trail's next number: inserting rows with explicit ids does not advance the server's sequence. */
const raiseCount = sql`select setval(pg_get_serial_sequence('audit_entries', 'id'), coalesce(max(id), 0) + 1, false) from audit_entries`

/**
 * Copies all rows of an up-to-date SQLite file into an empty database on a server, in one transaction. `last` runs in it once all rows are
 * there; if it fails, nothing is written. `last` may run twice.
 */
export const fillFrom = <E>(
  file: string,
  last: Effect.Effect<void, E>,
): Effect.Effect<void, E | Conflict | StorageFault, Database> =>
  Effect.gen(function* () {
    const doing = "restore into the database of database_url"
    const database = yield* Database
    // loaded on demand: a service on PostgreSQL otherwise never loads it
    const { sqliteLayer } = yield* Effect.tryPromise({
      try: () => import("../engine/sqlite.ts"),
      catch: (cause) => storageFault(doing, cause),
    })
    const fill = Effect.gen(function* () {
      // the file's database, which is provided to this effect
      const copied = yield* Database
      const from = yield* copied.read(doing, (db) => Promise.resolve(db))
      const tables = tablesInOrder(file)
      yield* database.serializedWrite(doing, (tx) =>
        Effect.gen(function* () {
          // users are created by serialized writes, so none is meanwhile
          yield* refuseUsed(yield* tx(anyUser))
          yield* tx((to) => copyRows(from, to, tables))
          yield* tx((to) => raiseCount.execute(to))
          yield* last
        }),
      )
    })
    yield* Effect.provide(fill, sqliteLayer(file), { local: true })
  })
