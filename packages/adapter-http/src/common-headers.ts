import type { Context } from "koa"
import type { HttpOptions } from "./options.ts"
import type { HeaderList } from "./reply.ts"

const security: HeaderList = [
  "X-XSS-Protection",
  "1; mode=block",
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "SAMEORIGIN",
]
const anyOrigin: HeaderList = [...security, "Access-Control-Allow-Origin", "*"]
const noOrigin: HeaderList = [...security, "Vary", "Origin"]

/** The headers that every answer has (contract A 1): protection of the answer, and which pages may read it. */
export const commonHeaders = (origins: HttpOptions["corsOrigins"]): ((ctx: Context) => HeaderList) => {
  if (origins === "*") return () => anyOrigin
  const allowed = new Set(origins)
  return ({ headers: { origin } }) =>
    origin !== undefined && allowed.has(origin) ? [...noOrigin, "Access-Control-Allow-Origin", origin] : noOrigin
}

/** What a page is told that asks beforehand: every method, and the headers it asked for. */
export const preflightHeaders = (ctx: Context): HeaderList => {
  const requested = ctx.get("Access-Control-Request-Headers")
  const methods = ["Access-Control-Allow-Methods", "GET, HEAD, PUT, PATCH, POST, DELETE"]
  return requested === "" ? methods : [...methods, "Access-Control-Allow-Headers", requested]
}
