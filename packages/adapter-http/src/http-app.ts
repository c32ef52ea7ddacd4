import { requireCaller, type Credentials } from "@rangewright/application"
import { isFault } from "@rangewright/domain"
import * as Exit from "effect/Exit"
import Koa, { type Context, type Middleware } from "koa"
import type { IncomingMessage, ServerResponse } from "node:http"
import { performance } from "node:perf_hooks"
import { checkPath, readQuery } from "./decode/url.ts"
import { RouteNotFound } from "./faults.ts"
import { crossOrigin, fixedPaths, setSecurityHeaders } from "./gates.ts"
import type { OpenStreams } from "./encode/event-stream.ts"
import { answerFailure, operationHandler } from "./operation-handler.ts"
import type { HttpOptions } from "./options.ts"
import { defectProblem, formOfPath, problemOf, type ProblemForm } from "./problem.ts"
import { nextRequestId, type RequestState } from "./request-state.ts"
import { routesOf } from "./routes.ts"
import { sendProblem } from "./send-problem.ts"

/** The operations as a request handler for any number of listeners. */
export interface HttpApp {
  /** For `node:http`; never throws and never rejects. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** From now on every answer ends its connection, and open event streams end. In-flight requests are answered. */
  readonly stop: () => void
}

/**
 * What no route matched. Below `/api/v2` nobody learns without credentials that a path is unknown; changes of unknown things are
 * answered in the record API's form, reads in our own (contract A 2).
 */
const unknownPath =
  (options: HttpOptions): Middleware =>
  async (ctx) => {
    const state = ctx.state as RequestState
    const isRead = ctx.method === "GET" || ctx.method === "HEAD"
    const form: ProblemForm = isRead ? formOfPath(ctx.path) : "record"
    if (ctx.path.startsWith("/api/v2/") || ctx.path === "/api/v2") {
      const credentials: Credentials = {
        apiKey: ctx.headers["x-api-key"] as string | undefined,
        authorization: ctx.headers.authorization,
      }
      const exit = await options.run(requireCaller(credentials))
      if (Exit.isFailure(exit)) return answerFailure(ctx, state, exit.cause, "api", options.observer)
    }
    sendProblem(ctx, problemOf(new RouteNotFound({ method: ctx.method }), form, state.requestId))
  }

/** Middleware around everything: identity, headers, the address, and the last resort for defects. */
const envelope = (options: HttpOptions, isStopping: () => boolean): Middleware => {
  const answerPreflight = crossOrigin(options.corsOrigins)
  return async (ctx, next) => {
    const started = performance.now()
    const requestId = nextRequestId()
    ctx.state = { requestId, query: {}, operation: undefined } satisfies RequestState
    ctx.res.setHeader("X-Request-Id", requestId)
    setSecurityHeaders(ctx)
    if (isStopping()) ctx.res.setHeader("Connection", "close")
    try {
      if (!answerPreflight(ctx)) {
        checkPath(ctx.path)
        ctx.state = { requestId, query: readQuery(ctx.querystring), operation: undefined } satisfies RequestState
        await next()
      }
    } catch (cause) {
      const form = formOfPath(ctx.path)
      if (isFault(cause)) sendProblem(ctx, problemOf(cause, form, requestId))
      else {
        options.observer.defect({ requestId, operation: (ctx.state as RequestState).operation, cause: describe(cause) })
        sendProblem(ctx, defectProblem(form, requestId))
      }
    }
    discardRest(ctx)
    options.observer.answered({
      requestId,
      method: ctx.method,
      path: ctx.path,
      operation: (ctx.state as RequestState).operation,
      status: ctx.status,
      milliseconds: performance.now() - started,
    })
  }
}

const describe = (cause: unknown): string => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))

/** Bytes of an unread body that are thrown away so that the sender gets to read the answer; more cuts the connection. */
const mostDiscarded = 64 * 1024 * 1024

const discardRest = (ctx: Context): void => {
  const { req } = ctx
  if (req.complete || ctx.method === "GET") return
  let discarded = 0
  req.on("data", (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > mostDiscarded) req.destroy()
  })
  req.resume()
}

export const httpApp = (options: HttpOptions): HttpApp => {
  const streams = new Set<() => void>()
  let stopping = false
  const open: OpenStreams = {
    add: (end) => {
      streams.add(end)
      if (stopping) end()
    },
    remove: (end) => void streams.delete(end),
  }
  const koa = new Koa()
  koa.silent = true
  // what Koa itself reports is a broken connection or a defect of ours while writing
  koa.on("error", (cause: NodeJS.ErrnoException, ctx?: Context) => {
    if (["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ECANCELED"].includes(cause.code ?? "")) return
    const state = ctx?.state as RequestState | undefined
    options.observer.defect({ requestId: state?.requestId ?? "", operation: state?.operation, cause: describe(cause) })
  })
  koa.use(envelope(options, () => stopping))
  koa.use(fixedPaths(options.probes))
  koa.use(routesOf(options.operations, (operation) => operationHandler(operation, options, open)))
  koa.use(unknownPath(options))
  const callback = koa.callback()
  return {
    handle: (request, response) => void callback(request, response),
    stop: () => {
      stopping = true
      for (const end of streams) end()
    },
  }
}
