import {
  CallerGone,
  perform,
  type Call,
  type Download,
  type Input,
  type JsonOrDownload,
  type Operation,
  type Page,
  type ServerSentEvents,
  type SocketSession,
} from "@rangewright/application"
import { senderOf, type Fault } from "@rangewright/domain"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Context, Middleware } from "koa"
import type { IncomingMessage } from "node:http"
import { headersFor } from "./common-headers.ts"
import { bodyReader, ignoresBodies, type ScratchOf } from "./decode/body.ts"
import type { InTurn } from "./decode/body-turns.ts"
import { decodeParameters } from "./decode/decode-with.ts"
import { answerWith } from "./encode/answer.ts"
import { nameQuery } from "./decode/names.ts"
import { replyOf } from "./encode/compressed.ts"
import { sendDownload } from "./encode/download.ts"
import { eventSender } from "./encode/event-stream.ts"
import { checkUpgrade, refuseSocket, serveSocket, type Upgrade } from "./encode/socket.ts"
import { callerGone, exitOf, exitUnlessGone, type OpenStreams } from "./exit-of.ts"
import type { HttpOptions } from "./options.ts"
import { defectProblem, faultOf, problemOf, type ProblemForm } from "./problem.ts"
import { replyProblem, replyStream } from "./reply.ts"
import type { HeaderList, RequestState } from "./request-state.ts"
import { isOwnOrigin, type SessionSent, sessionSent } from "./session.ts"
import type { UploadFolder } from "./uploads.ts"

export const formOf = (operation: Operation): ProblemForm => (operation.route.base === "/" ? "record" : "api")

const isEmpty = (parameters: Readonly<Record<string, string>>): boolean => Object.keys(parameters).length === 0

/** How path, query and body of this operation are decoded; built once. */
const inputOf = (
  operation: Operation,
  scratchOf: ScratchOf,
  inTurn: InTurn,
): ((ctx: Context, call: Call) => Effect.Effect<Input, Fault>) => {
  const { input } = operation
  const path = decodeParameters(input.path, "address")
  const query = decodeParameters(input.query, "query of the URL")
  const body = bodyReader(operation, scratchOf, inTurn)
  const read = Effect.fnUntraced(function* (ctx: Context, call: Call) {
    const decoded = { path: yield* path(call.path), query: yield* query(call.query) }
    // the operation's type derives its handler's input from these very schemas
    return { ...(decoded as Pick<Input, "path" | "query">), ...(yield* body(ctx)) }
  })
  if (!ignoresBodies(operation)) return read
  // most reads are sent without a parameter, and decode to the same
  let ofNothing: Effect.Effect<Input, Fault> | undefined
  return (ctx, call) =>
    isEmpty(call.path) && isEmpty(call.query) ? (ofNothing ??= Effect.runSyncExit(read(ctx, call))) : read(ctx, call)
}

/** The path parameters found by the router; a path without parameters never goes through it. */
const parametersOf = (ctx: Context): Readonly<Record<string, string>> =>
  (ctx as Context & { params?: Readonly<Record<string, string>> }).params ?? {}

/** The page that sends the request, as reported by its browser; a program may claim anything, and gains nothing by it. */
const pageOf = ({ headers }: IncomingMessage, origins: HttpOptions["corsOrigins"]): Page | undefined => {
  const { origin, host } = headers
  if (origin === undefined) return undefined
  return { origin, isKnown: isOwnOrigin(origin, host) || (origins !== "*" && origins.includes(origin)) }
}

const callOf = (
  ctx: Context,
  state: RequestState,
  query: Call["query"],
  { secret: session, signIn }: SessionSent,
  { trustedProxies = [], corsOrigins }: HttpOptions,
): Call => ({
  credentials: { apiKey: ctx.headers["x-api-key"] as string | undefined, authorization: ctx.headers.authorization, session },
  path: parametersOf(ctx),
  query,
  meta: {
    requestId: state.requestId,
    remote: senderOf(ctx.req.socket.remoteAddress ?? "", ctx.headers["x-forwarded-for"] as string | undefined, trustedProxies),
    agent: ctx.headers["user-agent"],
    lastEventId: ctx.headers["last-event-id"] as string | undefined,
    ifMatch: ctx.headers["if-match"],
    signIn,
    page: pageOf(ctx.req, corsOrigins),
  },
})

/** Answers a failure; a defect is reported to the observer and not to the caller. */
export const answerFailure = (
  ctx: Context,
  state: RequestState,
  cause: Cause.Cause<Fault>,
  form: ProblemForm,
  observer: HttpOptions["observer"],
): void => {
  const fault = faultOf(cause)
  if (fault !== undefined) return replyProblem(ctx, problemOf(fault, form, state.requestId))
  if (!Cause.hasInterruptsOnly(cause))
    observer.defect({ requestId: state.requestId, operation: state.operation, cause: Cause.pretty(cause) })
  return replyProblem(ctx, defectProblem(form, state.requestId))
}

/** Why a web socket that a page of the service asked for cannot be opened; undefined: it asked for what it may not have, or it is another page. */
const refusalForPage = (ctx: Context, cause: Cause.Cause<Fault>, form: ProblemForm, { requestId }: RequestState) => {
  const { origin, host } = ctx.headers
  const fault = faultOf(cause)
  if (fault === undefined || origin === undefined || !isOwnOrigin(origin, host)) return undefined
  const { status } = problemOf(fault, form, requestId)
  return status < 500 ? undefined : { reason: fault.message, status }
}

/** Reports a failure after the answer was begun to the observer, unless it is an expected one. */
const tellOfDefect = (state: RequestState, cause: Cause.Cause<Fault>, observer: HttpOptions["observer"]): void => {
  if (faultOf(cause) === undefined && !Cause.hasInterruptsOnly(cause))
    observer.defect({ requestId: state.requestId, operation: state.operation, cause: Cause.pretty(cause) })
}

const eventStreamHeaders: HeaderList = [
  "Content-Type",
  "text/event-stream; charset=utf-8",
  // reverse proxies must pass events on at once
  "X-Accel-Buffering",
  "no",
]

/** The download in the result, if the operation returned one. */
const downloadOf = (
  { output }: Operation,
  result: unknown,
): { readonly file: Download; readonly contentType: string } | undefined => {
  if (output.type === "download") return { file: result as Download, contentType: output.contentType }
  if (output.type !== "json-or-download") return undefined
  const answer = result as JsonOrDownload<unknown>
  return "download" in answer ? { file: answer.download, contentType: output.contentType } : undefined
}

/** The pipeline of one operation: `perform` decides and runs, this reads and writes. */
export const operationHandler = (
  operation: Operation,
  options: HttpOptions,
  streams: OpenStreams,
  upgrades: WeakMap<IncomingMessage, Upgrade>,
  folderFor: UploadFolder,
  inTurn: InTurn,
): Middleware => {
  const input = inputOf(operation, (ctx) => folderFor(ctx.state as RequestState), inTurn)
  const named = nameQuery(operation)
  const headers = headersFor(operation)
  const form = formOf(operation)
  const { output } = operation
  const answer =
    output.type === "events" || output.type === "download" || output.type === "socket"
      ? undefined
      : answerWith(output, replyOf(operation))
  const sendEvents = output.type === "events" ? eventSender(output.schema, options, streams) : undefined
  return async (ctx, next) => {
    // a HEAD must change nothing, so GETs that change something do not answer it
    if (operation.mutates && ctx.method === "HEAD") return next()
    const state = ctx.state as RequestState
    state.operation = operation.id
    state.headers = headers(state.headers)
    const upgrade = output.type === "socket" ? checkUpgrade(ctx.req, upgrades.get(ctx.req)) : undefined
    const sent = sessionSent(ctx, operation.route.base, operation)
    if (sent.refusal !== undefined) return replyProblem(ctx, problemOf(sent.refusal, form, state.requestId))
    const call = callOf(ctx, state, named(state.query), sent, options)
    const work = perform(operation, call, input(ctx, call))
    const fiber = options.run(operation.mutates ? Effect.provideService(work, CallerGone, callerGone(ctx.res, streams)) : work)
    // most reads have ended by now. A disconnecting client interrupts those that have not, and changes that have not begun; a change that
    // has begun is completed
    const exit = fiber.pollUnsafe() ?? (await (operation.mutates ? exitOf(fiber) : exitUnlessGone(fiber, ctx.res)))
    if (state.uploads !== undefined) await Effect.runPromise(Scope.close(state.uploads, exit))
    if (Exit.isFailure(exit)) {
      const refusal = upgrade === undefined ? undefined : refusalForPage(ctx, exit.cause, form, state)
      if (output.type !== "socket" || upgrade === undefined || refusal === undefined)
        return answerFailure(ctx, state, exit.cause, form, options.observer)
      return refuseSocket(ctx.req, ctx.res, upgrade, output.protocol, { ...refusal, farewell: options.sockets.farewell })
    }
    const download = downloadOf(operation, exit.value)
    if (download !== undefined) {
      const sent = await sendDownload(ctx, download.file, download.contentType, options)
      if (Exit.isSuccess(sent)) return
      return ctx.res.headersSent
        ? tellOfDefect(state, sent.cause, options.observer)
        : answerFailure(ctx, state, sent.cause, form, options.observer)
    }
    if (output.type === "socket" && upgrade !== undefined) {
      const session = exit.value as SocketSession
      const ended = await serveSocket(ctx.req, ctx.res, upgrade, output.protocol, session, options, streams)
      return Exit.isFailure(ended) ? tellOfDefect(state, ended.cause as Cause.Cause<Fault>, options.observer) : undefined
    }
    if (sendEvents === undefined) return answer?.(ctx, exit.value)
    replyStream(ctx, eventStreamHeaders)
    if (ctx.method === "HEAD") return void ctx.res.end()
    // the middleware does not wait: its promises, and what they hold, would stay in memory as long as the stream is open
    state.ended = sendEvents(ctx.res, exit.value as ServerSentEvents, state.requestId).then((ended) => {
      if (Exit.isFailure(ended)) tellOfDefect(state, ended.cause, options.observer)
    })
  }
}
