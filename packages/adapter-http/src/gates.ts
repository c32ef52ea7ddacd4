import type { Context, Middleware } from "koa"
import type { HttpOptions } from "./options.ts"
import { problemOf } from "./problem.ts"
import { Forbidden } from "@rangewright/domain"
import { sendProblem } from "./send-problem.ts"

const methods = "GET, HEAD, PUT, PATCH, POST, DELETE"

/** Headers that every answer has (contract A 1), and the answer to every preflight: 204, nobody needs credentials for it. */
export const crossOrigin = (origins: HttpOptions["corsOrigins"]): ((ctx: Context) => boolean) => {
  const allowed = origins === "*" ? undefined : new Set(origins)
  return (ctx) => {
    const origin = ctx.headers.origin
    if (allowed === undefined) ctx.res.setHeader("Access-Control-Allow-Origin", "*")
    else {
      ctx.res.setHeader("Vary", "Origin")
      if (origin !== undefined && allowed.has(origin)) ctx.res.setHeader("Access-Control-Allow-Origin", origin)
    }
    if (ctx.method !== "OPTIONS") return false
    ctx.res.setHeader("Access-Control-Allow-Methods", methods)
    const requested = ctx.get("Access-Control-Request-Headers")
    if (requested !== "") ctx.res.setHeader("Access-Control-Allow-Headers", requested)
    ctx.status = 204
    return true
  }
}

export const setSecurityHeaders = (ctx: Context): void => {
  ctx.res.setHeader("X-XSS-Protection", "1; mode=block")
  ctx.res.setHeader("X-Content-Type-Options", "nosniff")
  ctx.res.setHeader("X-Frame-Options", "SAMEORIGIN")
}

/** Only the service itself may make accounts for single sign-on; the path is kept closed because clients know it (contract A 3.5). */
const internalPath = "/api/v2/user/provision-oauth2"

const closed = (path: string): boolean => path.startsWith("/_") || path.startsWith("/admin") || path === internalPath

/** Paths that mean something outside the API: redirects, and doors that stay closed. True when it answered. */
const answerFixedPath = (ctx: Context): boolean => {
  const { path } = ctx
  if (path === "/") {
    ctx.status = 307
    ctx.set("Location", "/ui")
    ctx.body = ""
    return true
  }
  if (path === "/api/v2" && (ctx.method === "GET" || ctx.method === "HEAD")) {
    ctx.status = 301
    ctx.set("Location", `/api/v2/${ctx.search}`)
    ctx.body = ""
    return true
  }
  if (closed(path)) {
    sendProblem(
      ctx,
      problemOf(
        new Forbidden({ reason: "There is no administration interface under this path" }),
        "api",
        ctx.state.requestId as string,
      ),
    )
    return true
  }
  return false
}

/** Health, readiness and metrics. They tell nothing secret and ask for no credentials, so that monitors need none. */
const answerProbe = async (ctx: Context, probes: HttpOptions["probes"]): Promise<boolean> => {
  if (ctx.method !== "GET" && ctx.method !== "HEAD") return false
  switch (ctx.path) {
    case "/healthz":
      ctx.body = { status: "ok" }
      return true
    case "/readyz": {
      const { ready, detail } = await probes.ready()
      // monitors, not API clients, read this one: they take 503 for "not now"
      ctx.status = ready ? 200 : 503
      ctx.body = { status: ready ? "ready" : "not ready", ...detail }
      return true
    }
    case "/metrics":
      ctx.body = await probes.metrics()
      ctx.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
      return true
    default:
      return false
  }
}

/** Answers what is not an operation. API paths pass at the cost of one comparison. */
export const fixedPaths =
  (probes: HttpOptions["probes"]): Middleware =>
  async (ctx, next) => {
    if (ctx.path.startsWith("/api/v2/") && ctx.path !== internalPath) return next()
    if (answerFixedPath(ctx) || (await answerProbe(ctx, probes))) return
    return next()
  }
