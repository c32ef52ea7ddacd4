import type { Context } from "koa"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { SlowReaders } from "./encode/slow-readers.ts"
import type { HeaderList, RequestState } from "./request-state.ts"
import type { Problem } from "./problem.ts"

/** Checked when the answer is written: a stop may have begun since the request came, and would wait for a connection that stays open. */
const lastOnConnection: HeaderList = ["Connection", "close"]

const writeHead = (ctx: Context, status: number, more: HeaderList): void => {
  const { headers, isStopping } = ctx.state as RequestState
  ctx.res.writeHead(status, isStopping() ? [...headers, ...lastOnConnection, ...more] : [...headers, ...more])
}

interface Whole {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: string | Uint8Array | undefined
  readonly slowReaders: SlowReaders
}

let waiting: Whole[] = []

/** Node copies headers and body of at most 16 KiB onto the stack and writes them at once. */
const smallAtMost = 15 * 1024

/** Milliseconds for the rest of a request's body, before its connection is closed all the same. */
const restWithin = 30_000

/** Whether the body is not complete yet; what follows is discarded, except of a GET. */
const isStillSending = ({ complete, method }: IncomingMessage): boolean => !complete && method !== "GET"

/**
 * Writes the answer, and closes the connection after the rest of the request: closed while data comes in, the connection would be reset,
 * and the sender would not get to read the answer.
 */
const endLater = (request: IncomingMessage, response: ServerResponse, body: string | Uint8Array): void => {
  response.write(body)
  const end = () => {
    clearTimeout(cut)
    response.end()
  }
  const cut = setTimeout(end, restWithin)
  request.once("close", end)
}

/**
 * Node writes a text together with the headers before it, but bytes as a second piece, which costs more than to copy a small body.
 */
const endWith = ({ request, response, body, slowReaders }: Whole): void => {
  if (body !== undefined && body.length > smallAtMost) return slowReaders.send(response, body)
  if (isStillSending(request) && !response.shouldKeepAlive && body !== undefined) return endLater(request, response, body)
  if (body === undefined || typeof body === "string") return void response.end(body)
  // each byte becomes one character, and is written as that byte
  response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), "latin1")
}

const endWaiting = (): void => {
  const ready = waiting
  waiting = []
  for (const whole of ready) endWith(whole)
}

/**
 * Ends the answers of one turn of the event loop together. A write to a sleeping reader must wake it, which costs as much as the rest of a
 * small answer; writes that follow at once find it awake.
 */
const endTogether = (whole: Whole): void => {
  if (waiting.push(whole) === 1) setImmediate(endWaiting)
}

/**
 * Writes a whole answer: the common headers, the given ones, and the body unless the request is a HEAD. Written directly, because Koa's own
 * way, header by header, costs more than the rest of a small answer. Does nothing when an answer was begun.
 */
export const reply = (
  ctx: Context,
  status: number,
  contentType: string,
  body: string | Uint8Array,
  more: HeaderList = [],
): void => {
  if (ctx.res.headersSent) return
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length
  writeHead(ctx, status, ["Content-Type", contentType, "Content-Length", String(length), ...more])
  const { slowReaders } = ctx.state as RequestState
  endTogether({ request: ctx.req, response: ctx.res, body: ctx.method === "HEAD" ? undefined : body, slowReaders })
}

/** Sends a response without a body. */
export const replyEmpty = (ctx: Context, status: 204 | 301 | 307, more: HeaderList): void => {
  writeHead(ctx, status, status === 204 ? more : ["Content-Length", "0", ...more])
  ctx.res.end()
}

/** Tells the client that its copy is current. */
export const replyNotModified = (ctx: Context): void => {
  writeHead(ctx, 304, [])
  ctx.res.end()
}

/** Sends the headers; the caller writes the body. The connection closes after it, so that a stop need not wait for it. */
export const replyStream = (ctx: Context, more: HeaderList): void => {
  ctx.res.shouldKeepAlive = false
  writeHead(ctx, 200, more)
  ctx.res.flushHeaders()
}

export const replyProblem = (ctx: Context, problem: Problem): void =>
  reply(ctx, problem.status, "application/json", problem.body, problem.headers)
