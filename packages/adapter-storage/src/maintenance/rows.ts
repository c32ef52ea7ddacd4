import { DatabaseSync } from "node:sqlite"
import { type Kysely, sql } from "kysely"
import { type Tables, tables } from "../schema/tables.ts"

type Table = keyof Tables

/** Values in one statement: SQLite accepts 32766, PostgreSQL twice as many. */
const mostValues = 30_000
/** Rows that are held in memory at a time. */
const rowsAtATime = 500
/** The same of a table with bytes, such as pictures of ten megabytes: more would also exceed what a server takes in one statement. */
const largeRowsAtATime = 8

const rowsOf = new Map(
  tables.map(({ name, columns }) => {
    const isLarge = Object.values(columns).some(({ property }) => property.type === "blob")
    return [name, isLarge ? largeRowsAtATime : rowsAtATime]
  }),
)

/** A table with its key columns. */
interface KeyedTable {
  readonly table: Table
  readonly key: readonly string[]
}

/** All tables, each after those its rows refer to, according to an SQLite file. */
export const tablesInOrder = (file: string): readonly KeyedTable[] => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const ordered = new Map<string, readonly string[]>()
    const visit = (table: string): void => {
      if (ordered.has(table)) return
      for (const row of database.prepare(`pragma foreign_key_list('${table}')`).all()) visit(String(row["table"]))
      const columns = database.prepare(`pragma table_info('${table}')`).all()
      const key = columns.filter((column) => Number(column["pk"]) > 0).map((column) => String(column["name"]))
      ordered.set(table, key)
    }
    for (const { name } of tables) visit(name)
    return [...ordered].flatMap(([name, key]) => tables.flatMap((one) => (one.name === name ? [{ table: one.name, key }] : [])))
  } finally {
    database.close()
  }
}

/** Replaces the rows of all tables in another database of the same schema. The caller owns both transactions. */
export const copyRows = async (from: Kysely<Tables>, to: Kysely<Tables>, tables: readonly KeyedTable[]): Promise<void> => {
  for (const { table } of tables.toReversed()) await to.deleteFrom(table).execute()
  for (const { table, key } of tables) {
    const most = rowsOf.get(table) ?? rowsAtATime
    const columns = sql.join(key.map((column) => sql.ref(column)))
    const ordered = key.reduce((query, column) => query.orderBy(sql.ref(column)), from.selectFrom(table).selectAll().limit(most))
    let page = ordered
    for (;;) {
      const rows: readonly Readonly<Record<string, unknown>>[] = await page.execute()
      const together = Math.floor(mostValues / Math.max(1, Object.keys(rows[0] ?? {}).length))
      for (let n = 0; n < rows.length; n += together)
        await to
          .insertInto(table)
          .values(rows.slice(n, n + together) as never)
          .execute()
      const last = rows.at(-1)
      if (last === undefined || rows.length < most) break
      page = ordered.where(sql<boolean>`(${columns}) > (${sql.join(key.map((column) => last[column]))})`)
    }
  }
}
