import type { Context } from "koa"
import type { RequestState } from "./request-state.ts"
import type { Problem } from "./problem.ts"

/** Names and values in turn, as `writeHead` takes them fastest. */
export type HeaderList = readonly string[]

/** Asked when the answer is written: a stop may have come since the request did, and would wait for a connection that stays open. */
const lastOnConnection: HeaderList = ["Connection", "close"]

const writeHead = (ctx: Context, status: number, more: HeaderList): void => {
  const { headers, isStopping } = ctx.state as RequestState
  ctx.respond = false
  ctx.res.writeHead(status, isStopping() ? [...headers, ...lastOnConnection, ...more] : [...headers, ...more])
}

/**
 * Writes a whole answer: the headers that every answer has, the given ones, the body unless it is a HEAD. Directly, because Koa's own
 * way, header by header, costs more than all else of a small answer. Does nothing when an answer was begun.
 */
export const reply = (ctx: Context, status: number, contentType: string, body: string | Buffer, more: HeaderList = []): void => {
  if (ctx.res.headersSent) return
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length
  writeHead(ctx, status, ["Content-Type", contentType, "Content-Length", String(length), ...more])
  ctx.res.end(ctx.method === "HEAD" ? undefined : body)
}

/** An answer that is all headers. */
export const replyEmpty = (ctx: Context, status: 204 | 301 | 307, more: HeaderList): void => {
  writeHead(ctx, status, status === 204 ? more : ["Content-Length", "0", ...more])
  ctx.res.end()
}

/** Headers now; the body is written by whoever calls. Its connection ends with it, so that a stop need not wait for it. */
export const replyStream = (ctx: Context, more: HeaderList): void => {
  ctx.res.shouldKeepAlive = false
  writeHead(ctx, 200, more)
  ctx.res.flushHeaders()
}

export const replyProblem = (ctx: Context, problem: Problem): void => reply(ctx, problem.status, "application/json", problem.body)
