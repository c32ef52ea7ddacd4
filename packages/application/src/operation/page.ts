import { InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Marks } from "./operation.ts"
import { literalsIn, WholeNumberText } from "../wire/parameters.ts"

/** The part of a list that a request asks for: filter, order, size and members. */
interface PageQuery {
  readonly q?: string
  readonly sort?: string
  readonly cursor?: string
  readonly limit?: number
  readonly fields?: readonly string[]
}

/**
 * Query parameters of an operation that returns a whole list unless they ask for less. `sorts`: members that it can be sorted by;
 * `members`: all members of an item.
 */
export const pageQuery = <const S extends string>(sorts: readonly S[], members: object) => ({
  /** Words that must all occur, in any case. */
  q: Schema.optionalKey(Schema.String),
  /** A leading `-` sorts descending. */
  sort: Schema.optionalKey(Schema.Literals(sorts.flatMap((sort): readonly (S | `-${S}`)[] => [sort, `-${sort}`]))),
  cursor: Schema.optionalKey(Schema.String),
  /** Absent: all of it. */
  limit: Schema.optionalKey(WholeNumberText),
  /** Members to return, separated by commas. Absent: all of them. */
  fields: Schema.optionalKey(literalsIn(Object.keys(members))),
})

export const isWhole = ({ q, sort, cursor, limit, fields }: PageQuery): boolean =>
  [q, sort, cursor, limit, fields].every((one) => one === undefined)

type Key = string | number
interface Place {
  readonly key: Key
  readonly id: Key
}

const keyOf = (value: unknown): Key => (typeof value === "number" ? value : typeof value === "string" ? value.toLowerCase() : "")

const compare = (a: Place, b: Place): number => {
  const [left, right] = a.key === b.key ? [a.id, b.id] : [a.key, b.key]
  return left < right ? -1 : left > right ? 1 : 0
}

const isKey = (value: unknown): value is Key => typeof value === "string" || typeof value === "number"

/** The place of the last item of the previous page, so that items which come or go meanwhile do not shift the others. */
const written = ({ key, id }: Place): string => Buffer.from(JSON.stringify([key, id])).toString("base64url")
const placeOf = (cursor: string): Place | undefined => {
  try {
    const [key, id, ...more] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as readonly unknown[]
    return isKey(key) && isKey(id) && more.length === 0 ? { key, id } : undefined
  } catch {
    return undefined
  }
}

const picked = <T extends object>(item: T, fields: readonly string[] | undefined): Partial<T> =>
  fields === undefined ? item : (Object.fromEntries(Object.entries(item).filter(([name]) => fields.includes(name))) as Partial<T>)

/** A page of a list. `id`: the member that is unique; `texts`: where the words of `q` are searched. */
export const pageOf = <T extends object>(
  doing: string,
  items: readonly T[],
  query: PageQuery,
  { id, texts }: { readonly id: keyof T & string; readonly texts: (item: T) => readonly string[] },
): Effect.Effect<{ readonly prepared: string } & Marks, InvalidInput> => {
  const { q = "", sort = id, cursor, limit = items.length, fields } = query
  const after = cursor === undefined ? undefined : placeOf(cursor)
  if (cursor !== undefined && after === undefined)
    return Effect.fail(
      new InvalidInput({
        what: `Cannot ${doing}: this is not a cursor of the list`,
        issues: [{ path: "cursor", message: "take it from the Link header of the page before" }],
      }),
    )
  const by = sort.replace(/^-/u, "") as keyof T
  const direction = sort.startsWith("-") ? -1 : 1
  const words = q.toLowerCase().split(/\s+/u).filter(Boolean)
  const left = items
    .filter((item) => {
      const text = texts(item).join("\n").toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .map((item) => ({ item, place: { key: keyOf(item[by]), id: keyOf(item[id]) } }))
    .filter(({ place }) => after === undefined || direction * compare(place, after) > 0)
    .toSorted((a, b) => direction * compare(a.place, b.place))
  const shown = left.slice(0, limit)
  const last = shown.at(-1)
  return Effect.succeed({
    // with members left out it does not match the schema
    prepared: `${JSON.stringify(shown.map(({ item }) => picked(item, fields)))}\n`,
    next: left.length > shown.length && last !== undefined ? { cursor: written(last.place) } : undefined,
  })
}
