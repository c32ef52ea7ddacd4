import { EntitySchema } from "@mikro-orm/core"
import type { Generated } from "kysely"
import { type Column, type Stored, Unreadable } from "./column.ts"

/** A row as the driver returns it. */
export type StoredRow = Readonly<Record<string, unknown>>

type AnyColumn = Column<unknown, Stored, string>
export type Columns = Readonly<Record<string, AnyColumn>>

type ValueOf<C> = C extends { readonly read: (stored: unknown) => infer A } ? A : never
type StoredOf<C> = C extends { readonly write: (value: never) => infer S }
  ? C extends { readonly generated: true }
    ? Generated<S>
    : S
  : never

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Text
type NameOf<Member, C> = C extends { readonly name?: infer Name extends string }
  ? [Name] extends [never]
    ? Snake<Member & string>
    : Name
  : never
const snake = (member: string): string => member.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)

/** The decoded members of a row. */
export type Values<C extends Columns> = { readonly [K in keyof C]: ValueOf<C[K]> }
/** The stored values, by column name. */
export type StoredColumns<C, K extends keyof C = keyof C> = { [M in K as NameOf<M, C[M]>]: StoredOf<C[M]> }

/** A row that this version cannot decode: it is damaged, or a newer version wrote it. */
export class DamagedRow extends Error {}

/** An index over several members. */
interface Index {
  readonly name: string
  readonly properties: string[]
}

const namedColumns = (columns: Columns) =>
  Object.entries(columns).map(([member, column]) => ({ member, column, name: column.name ?? snake(member) }))

/** Makes readers that decode rows with these columns, or some of their members. They throw `DamagedRow`. */
export const readerOf = <const C extends Columns>(what: string, columns: C) => {
  const all = namedColumns(columns)
  const damaged = (row: StoredRow, at: string, why: string) => {
    const keys = all.filter(({ column }) => column.property.primary === true).map(({ name }) => `${name} ${String(row[name])}`)
    return new DamagedRow(`the row ${keys.join(", ")} of ${what} is damaged: in ${at}, ${why}`)
  }
  function reader(): (row: StoredRow) => Values<C>
  function reader<K extends keyof C>(which: { readonly only: readonly K[] }): (row: StoredRow) => Pick<Values<C>, K>
  function reader<K extends keyof C>(which: { readonly without: readonly K[] }): (row: StoredRow) => Omit<Values<C>, K>
  function reader(which: { readonly only?: readonly (keyof C)[]; readonly without?: readonly (keyof C)[] } = {}) {
    const read = all.filter(({ member }) => which.only?.includes(member) ?? which.without?.includes(member) !== true)
    return (row: StoredRow) => {
      const values: Record<string, unknown> = {}
      let at = ""
      try {
        for (const { member, column, name } of read) {
          at = name
          values[member] = column.read(row[at])
        }
      } catch (cause) {
        throw cause instanceof Unreadable ? damaged(row, at, cause.message) : cause
      }
      return values
    }
  }
  return reader
}

/** The single declaration of a table, from which migrations, query types, and the readers and writers of rows are derived. */
export const table = <const Name extends string, const C extends Columns>(
  name: Name,
  columns: C,
  more: { readonly uniques?: Index[]; readonly indexes?: Index[] } = {},
) => {
  const all = namedColumns(columns)
  const properties = all.map(({ member, column, name: fieldName }) => [member, { ...column.property, fieldName }])
  return {
    name,
    columns,
    entity: new EntitySchema({ name, tableName: name, properties: Object.fromEntries(properties), ...more }),
    reader: readerOf(`the table ${name}`, columns),
    /** The columns of these members. An undefined member whose column is not nullable is left out, like an absent one. */
    write: <K extends keyof C>(values: { readonly [M in K]?: ValueOf<C[M]> }): StoredColumns<C, K> => {
      const stored: Record<string, Stored> = {}
      const given: Readonly<Record<string, unknown>> = values
      for (const { member, column, name: at } of all)
        if (member in given && (given[member] !== undefined || column.optional === true)) stored[at] = column.write(given[member])
      return stored as StoredColumns<C, K>
    },
  }
}

export interface AnyTable {
  readonly name: string
  readonly columns: Columns
}

/** The types of tables for Kysely. */
export type TablesOf<T extends AnyTable> = { [One in T as One["name"]]: StoredColumns<One["columns"]> }

/** Decodes the first row; undefined when there is none. */
export const first =
  <A>(meaning: (row: StoredRow) => A) =>
  ([row]: readonly StoredRow[]): A | undefined =>
    row && meaning(row)

/** Decodes all rows. */
export const every =
  <A>(meaning: (row: StoredRow) => A) =>
  (rows: readonly StoredRow[]): readonly A[] =>
    rows.map(meaning)
