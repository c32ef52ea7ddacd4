import type { Operation } from "@rangewright/application"
import type { Context } from "koa"
import type { HttpOptions } from "./options.ts"
import { isUiPath, uiHeaders } from "./ui.ts"
import type { HeaderList } from "./request-state.ts"

const security: HeaderList = [
  "X-XSS-Protection",
  "1; mode=block",
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "SAMEORIGIN",
  // nearly every answer contains the caller's private data: keys, passwords, configurations, logs
  "Cache-Control",
  "no-store",
]
const anyOrigin: HeaderList = [...security, "Access-Control-Allow-Origin", "*"]
const noOrigin: HeaderList = [...security, "Vary", "Origin"]

/** The headers of every answer: security headers, and which pages may read it. */
export const commonHeaders = (origins: HttpOptions["corsOrigins"], strictTransport: boolean): ((ctx: Context) => HeaderList) => {
  const own = uiHeaders(strictTransport)
  const ofApi = apiHeaders(origins)
  return (ctx) => (isUiPath(ctx.path) ? own : ofApi(ctx))
}

const apiHeaders = (origins: HttpOptions["corsOrigins"]): ((ctx: Context) => HeaderList) => {
  if (origins === "*") return () => anyOrigin
  const allowed = new Set(origins)
  return ({ headers: { origin } }) =>
    origin !== undefined && allowed.has(origin) ? [...noOrigin, "Access-Control-Allow-Origin", origin] : noOrigin
}

/**
 * The headers of an operation's answers: only answers that anybody may read without credentials may be cached. Event streams must not be
 * transformed on their way either, which could delay events.
 */
export const headersFor = ({ access, mutates, wholeKeyOnly, output }: Operation): ((common: HeaderList) => HeaderList) => {
  const isPublic = access === "anonymous" && !mutates && !wholeKeyOnly
  if (!isPublic && output.type !== "events") return (common) => common
  return (common) => {
    const at = common.indexOf("Cache-Control")
    return isPublic ? common.toSpliced(at, 2) : common.with(at + 1, "no-store, no-transform")
  }
}

/** The answer to a preflight request: every method, and the headers it asked for. */
export const preflightHeaders = (ctx: Context): HeaderList => {
  const requested = ctx.get("Access-Control-Request-Headers")
  const methods = ["Access-Control-Allow-Methods", "GET, HEAD, PUT, PATCH, POST, DELETE"]
  return requested === "" ? methods : [...methods, "Access-Control-Allow-Headers", requested]
}
