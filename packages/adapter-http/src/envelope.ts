import { isFault } from "@rangewright/domain"
import type { Context, Middleware } from "koa"
import { performance } from "node:perf_hooks"
import { commonHeaders, preflightHeaders } from "./common-headers.ts"
import { checkPath, readQuery } from "./decode/url.ts"
import { slowReaders } from "./encode/slow-readers.ts"
import { checkFraming } from "./framing.ts"
import type { HttpOptions } from "./options.ts"
import { defectProblem, formOfPath, problemOf } from "./problem.ts"
import { replyEmpty, replyProblem } from "./reply.ts"
import { nextRequestId, type RequestState } from "./request-state.ts"

/** How a log shows a thrown value. */
export const describeThrown = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)

/** Bytes of an unread body that are discarded so that the sender gets to read the answer; for more, the connection is cut. */
const mostDiscarded = 64 * 1024 * 1024

const discardRest = ({ req, method }: Context): void => {
  if (req.complete || method === "GET") return
  let discarded = 0
  req.on("data", (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > mostDiscarded) req.destroy()
  })
  req.resume()
}

/** Answers a thrown error: a malformed address, or a defect, which is reported to the observer only. */
const answerThrown = (ctx: Context, cause: unknown, { requestId, operation }: RequestState, { observer }: HttpOptions): void => {
  const form = formOfPath(ctx.path)
  if (isFault(cause)) return replyProblem(ctx, problemOf(cause, form, requestId))
  observer.defect({ requestId, operation, cause: describeThrown(cause) })
  replyProblem(ctx, defectProblem(form, requestId))
}

/** Closes the connection after a request whose end another server might see elsewhere. */
const refuseAmbiguous = (ctx: Context): void => {
  try {
    checkFraming(ctx.req)
  } catch (cause) {
    ctx.res.shouldKeepAlive = false
    throw cause
  }
}

/** Outermost middleware: request id, common headers, preflights, address checks, and the last resort for defects. */
export const envelope = (options: HttpOptions, isStopping: () => boolean): Middleware => {
  const readers = slowReaders(options.eventStreams.patience, options.unsentBytes)
  const common = commonHeaders(options.corsOrigins, options.strictTransport ?? false)
  return async (ctx, next) => {
    const started = performance.now()
    const requestId = nextRequestId()
    const state: RequestState = {
      requestId,
      headers: [...common(ctx), "X-Request-Id", requestId],
      isStopping,
      slowReaders: readers,
      query: readQuery(""),
      operation: undefined,
      uploads: undefined,
      ended: undefined,
    }
    ctx.state = state
    try {
      refuseAmbiguous(ctx)
      if (ctx.method === "OPTIONS") replyEmpty(ctx, 204, preflightHeaders(ctx))
      else {
        checkPath(ctx.path)
        state.query = readQuery(ctx.querystring)
        await next()
      }
    } catch (cause) {
      answerThrown(ctx, cause, state, options)
    }
    discardRest(ctx)
    const report = () =>
      options.observer.answered({
        requestId,
        method: ctx.method,
        path: ctx.path,
        operation: state.operation,
        status: ctx.res.statusCode,
        milliseconds: performance.now() - started,
      })
    if (state.ended === undefined) report()
    else void state.ended.catch((cause: unknown) => answerThrown(ctx, cause, state, options)).then(report)
  }
}
