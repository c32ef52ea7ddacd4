import type { EntitySchema } from "@mikro-orm/core"
import * as Schema from "effect/Schema"

/** A value that the drivers accept. */
export type Stored = string | number | boolean | Uint8Array | null

/** A column holds a value that cannot be decoded. `message` tells operators why. */
export class Unreadable extends Error {}

/** The declaration of a column, in MikroORM's terms. */
export interface Declaration {
  readonly type?: string
  readonly length?: number
  readonly nullable?: true
  readonly primary?: true
  readonly autoincrement?: boolean
  readonly default?: string | boolean | number
  readonly unique?: string
  /** False for a reference without an index of its own, when the key of its table begins with it. */
  readonly index?: string | false
  readonly kind?: "m:1"
  readonly entity?: () => EntitySchema
  readonly deleteRule?: "cascade" | "set null"
}

/** One column: its declaration and its codec. `Name`: its name, when it is not derived from the member's. */
export interface Column<A, S extends Stored = Stored, Name extends string = never> {
  readonly property: Declaration
  readonly name?: Name
  /** The value is undefined where the column is null. */
  readonly optional?: true
  /** Throws `Unreadable`. Drivers differ: booleans may come as 0 and 1, and large numbers as text. */
  read(stored: unknown): A
  write(value: A): S
}

const shown = (stored: unknown): string =>
  stored === undefined
    ? "nothing"
    : stored instanceof Uint8Array
      ? "bytes"
      : (JSON.stringify(stored)?.slice(0, 80) ?? typeof stored)

/** A column whose values are stored unchanged. */
const plain = <A extends Stored>(property: Declaration, what: string, is: (stored: unknown) => stored is A): Column<A, A> => ({
  property,
  read: (stored) => {
    if (is(stored)) return stored
    throw new Unreadable(`${shown(stored)} is not ${what}`)
  },
  write: (value) => value,
})

const isText = (stored: unknown): stored is string => typeof stored === "string"

export const text = plain({ type: "text" }, "a text", isText)
/** A text with a maximum length. */
export const short = (length: number) => plain({ type: "string", length }, "a text", isText)
export const whole = plain({ type: "integer" }, "a whole number", (stored): stored is number => Number.isInteger(stored))
export const real = plain({ type: "double" }, "a number", (stored): stored is number => typeof stored === "number")
export const bytes = plain({ type: "blob" }, "bytes", (stored): stored is Uint8Array => stored instanceof Uint8Array)

/** Whole milliseconds since 1970. */
export const time: Column<Date, number> = {
  property: { type: "bigint" },
  read: (stored) => {
    const at = new Date(Number(stored ?? Number.NaN))
    if (Number.isNaN(at.getTime())) throw new Unreadable(`${shown(stored)} is not a time`)
    return at
  },
  write: (value) => value.getTime(),
}

/** A number that only grows. */
export const count: Column<number, number> = {
  ...whole,
  property: { type: "bigint" },
  read: (stored) => whole.read(Number(stored ?? Number.NaN)),
}

export const flag: Column<boolean, boolean> = {
  property: { type: "boolean" },
  read: (stored) => {
    if (stored === true || stored === 1) return true
    if (stored === false || stored === 0) return false
    throw new Unreadable(`${shown(stored)} is neither true nor false`)
  },
  write: (value) => value,
}

/** A number that the database assigns to a new row. */
export const sequence = { ...whole, property: { type: "integer", primary: true, autoincrement: true }, generated: true } as const

/** A text that is an id. */
export const id = <A extends string>(
  what: string,
  is: (text: string) => text is A,
  declaration: Declaration = { type: "string", length: 255 },
): Column<A, A> => plain(declaration, what, (stored): stored is A => isText(stored) && is(stored))

/** A number that is an id, not assigned by the database. */
export const numbered = <A extends number>(what: string, is: (n: number) => n is A): Column<A, A> =>
  plain({ type: "integer", autoincrement: false }, what, (stored): stored is A => typeof stored === "number" && is(stored))

/** Decoded texts cached per column; long ones are not cached. */
const mostKept = 1_000
const longestKept = 200

/** A text decoded by a schema. Equal texts may return the same value: do not mutate it. */
const decoded = <A>(property: Declaration, schema: Schema.Codec<A, string>): Column<A, string> => {
  const decode = Schema.decodeUnknownSync(schema)
  const known = new Map<unknown, A>()
  return {
    property,
    read: (stored) => {
      const before = known.get(stored)
      if (before !== undefined) return before
      try {
        const value = decode(stored)
        if (known.size >= mostKept) known.clear()
        if (typeof stored === "string" && stored.length <= longestKept) known.set(stored, value)
        return value
      } catch {
        throw new Unreadable(`${shown(stored)} is not what this version understands`)
      }
    },
    write: Schema.encodeSync(schema),
  }
}

/** One of these words. */
export const oneOf = <const Word extends string>(words: readonly Word[], length = 16): Column<Word, string> =>
  decoded({ type: "string", length }, Schema.Literals(words))

/** A value as JSON. */
export const json = <A>(schema: Schema.Codec<A, unknown>): Column<A, string> =>
  decoded({ type: "text" }, Schema.fromJsonString(schema))

export const texts: Column<readonly string[], string> = {
  ...json(Schema.Array(Schema.String)),
  // no validation: observations write thousands of them
  write: (value) => JSON.stringify(value),
}

export const optional = <A, S extends Stored, Name extends string>(
  column: Column<A, S, Name>,
): Column<A | undefined, S | null, Name> => ({
  ...column,
  property: { ...column.property, nullable: true },
  optional: true,
  read: (stored) => (stored === null ? undefined : column.read(stored)),
  write: (value) => (value === undefined ? null : column.write(value)),
})

/** The same column with more in its declaration. */
export const declared = <A, S extends Stored, Name extends string>(
  column: Column<A, S, Name>,
  more: Declaration,
): Column<A, S, Name> => ({ ...column, property: { ...column.property, ...more } })

export const key = <A, S extends Stored, Name extends string>(column: Column<A, S, Name>): Column<A, S, Name> =>
  declared(column, { primary: true })
export const unique = <A, S extends Stored, Name extends string>(index: string, column: Column<A, S, Name>): Column<A, S, Name> =>
  declared(column, { unique: index })

export const named = <const Name extends string, A, S extends Stored>(name: Name, column: Column<A, S>): Column<A, S, Name> => ({
  ...column,
  name,
})

/** A foreign key. When the other row is deleted, this one is deleted too or the column becomes null. `to`: the key of that table. */
export const reference = <A, S extends Stored>(
  entity: () => EntitySchema,
  to: Column<A, S>,
  deleteRule: "cascade" | "set null" = "cascade",
): Column<A, S> => ({ read: to.read, write: to.write, property: { kind: "m:1", entity, deleteRule } })
