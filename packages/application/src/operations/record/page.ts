import { InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Query parameters of every list of the record API. */
export const pageQuery = {
  page: Schema.optionalKey(Schema.String),
  perPage: Schema.optionalKey(Schema.String),
  filter: Schema.optionalKey(Schema.String),
}

export const recordPage = <S extends Schema.Codec<unknown, unknown, never, never>>(item: S) =>
  Schema.Struct({
    items: Schema.Array(item),
    page: Schema.Int,
    perPage: Schema.Int,
    totalItems: Schema.Int,
    totalPages: Schema.Int,
  })

/** `<field> = "<value>"`, with `\"` for a quotation mark in the value: the only form that clients send. */
const filterPattern = /^\s*([A-Za-z]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*$/u

/** The text of a field for filters; lists and objects have none. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
}

/** The items that match the filter; fails for a filter in another form or about a field that items do not have. */
export const filterRecords = <A extends object>(items: readonly A[], filter: string | undefined) =>
  Effect.gen(function* () {
    if (filter === undefined || filter.trim() === "") return items
    const match = filterPattern.exec(filter)
    const field = match?.[1]
    const value = (match?.[2] ?? match?.[3] ?? "").replace(/\\(.)/gu, "$1")
    if (field === undefined || !(items.length === 0 || items.some((item) => Object.hasOwn(item, field))))
      return yield* new InvalidInput({ what: `Cannot filter by ${filter.slice(0, 200)}`, hint: 'Write <field> = "<value>".' })
    return items.filter((item) => textOf((item as Readonly<Record<string, unknown>>)[field]) === value)
  })

const wholeNumber = (text: string | undefined, otherwise: number, max: number): number => {
  const n = text !== undefined && /^\d{1,6}$/u.test(text) ? Number(text) : otherwise
  return Math.min(Math.max(n, 1), max)
}

/** One page: 30 items unless asked, 1000 at most. */
export const pageOf = <A>(items: readonly A[], query: { readonly page?: string; readonly perPage?: string }) => {
  const perPage = wholeNumber(query.perPage, 30, 1000)
  const page = wholeNumber(query.page, 1, 999_999)
  return {
    items: items.slice((page - 1) * perPage, page * perPage),
    page,
    perPage,
    totalItems: items.length,
    totalPages: Math.ceil(items.length / perPage),
  }
}
