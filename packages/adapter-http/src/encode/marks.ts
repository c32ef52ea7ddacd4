import type { Marks } from "@rangewright/application"
import type { Context } from "koa"
import type { HeaderList, RequestState } from "../request-state.ts"

/** The relative URL of the next page: the query that was sent, with other values for these parameters. */
const addressOf = (ctx: Context, next: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams()
  const replaced = new Set(Object.keys(next).map((name) => name.toLowerCase()))
  for (const [folded, { name, value }] of (ctx.state as RequestState).query) if (!replaced.has(folded)) query.append(name, value)
  for (const [name, value] of Object.entries(next)) query.append(name, value)
  return `${ctx.path}?${query.toString()}`
}

/** The headers with the next page and the current version. Pages of other origins may read them too. */
export const marks = (ctx: Context, { next, version }: Marks): HeaderList => [
  ...(next === undefined ? [] : ["Link", `<${addressOf(ctx, next)}>; rel="next"`]),
  ...(version === undefined ? [] : ["ETag", `"${version}"`]),
  "Access-Control-Expose-Headers",
  "Link, ETag",
]
