import { Forbidden } from "@rangewright/domain"
import type { Context, Middleware } from "koa"
import type { HttpOptions, Probes } from "./options.ts"
import { problemOf } from "./problem.ts"
import { reply, replyEmpty, replyProblem } from "./reply.ts"
import type { RequestState } from "./request-state.ts"

/** Only the service itself may create accounts for single sign-on; the path is refused rather than unknown because clients know it. */
const internalPath = "/api/v2/user/provision-oauth2"

const isClosed = (path: string): boolean => path.startsWith("/_") || path.startsWith("/admin") || path === internalPath

/** Redirects, and paths that are always refused. True when it answered. */
const answerFixedPath = (ctx: Context): boolean => {
  const { path } = ctx
  if (path === "/") replyEmpty(ctx, 307, ["Location", "/ui/"])
  else if (path === "/api/v2" && (ctx.method === "GET" || ctx.method === "HEAD"))
    replyEmpty(ctx, 301, ["Location", `/api/v2/${ctx.search}`])
  else if (isClosed(path)) {
    const fault = new Forbidden({ reason: "This path is closed: there is nothing for clients" })
    replyProblem(ctx, problemOf(fault, "api", (ctx.state as RequestState).requestId))
  } else return false
  return true
}

/** Health, readiness and metrics. They reveal nothing secret and need no credentials, so that monitors need none. */
const answerProbe = async (ctx: Context, probes: Probes): Promise<boolean> => {
  if (ctx.method !== "GET" && ctx.method !== "HEAD") return false
  switch (ctx.path) {
    case "/healthz":
      reply(ctx, 200, "application/json", '{"status":"ok"}')
      return true
    case "/readyz": {
      const { ready, detail } = await probes.ready()
      // read by monitors, not API clients: they understand 503 as "not now"
      const body = JSON.stringify({ status: ready ? "ready" : "not ready", ...detail })
      reply(ctx, ready ? 200 : 503, "application/json", body)
      return true
    }
    case "/metrics":
      reply(ctx, 200, "text/plain; version=0.0.4; charset=utf-8", await probes.metrics())
      return true
    default:
      return false
  }
}

/** Answers requests that are not operations. API paths pass at the cost of one comparison. */
export const builtinRoutes = ({ probes }: HttpOptions): Middleware => {
  const answer: Middleware = async (ctx, next) => {
    if (answerFixedPath(ctx) || (probes !== undefined && (await answerProbe(ctx, probes)))) return
    return next()
  }
  return (ctx, next) => (ctx.path.startsWith("/api/v2/") && ctx.path !== internalPath ? next() : answer(ctx, next))
}
