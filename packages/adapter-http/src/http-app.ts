import { requireCaller, type Credentials } from "@rangewright/application"
import * as Exit from "effect/Exit"
import Koa, { type Middleware } from "koa"
import compose from "koa-compose"
import { type IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { RouteNotFound } from "./faults.ts"
import { builtinRoutes } from "./builtin-routes.ts"
import { bodyTurns } from "./decode/body-turns.ts"
import { describeThrown, envelope } from "./envelope.ts"
import { exitOf, type OpenStreams } from "./exit-of.ts"
import { answerFailure, operationHandler } from "./operation-handler.ts"
import type { HttpOptions } from "./options.ts"
import { formOfPath, problemOf, type ProblemForm } from "./problem.ts"
import { replyProblem } from "./reply.ts"
import { requestFibers } from "./request-fibers.ts"
import type { RequestState } from "./request-state.ts"
import type { Upgrade } from "./encode/socket.ts"
import { pathOfOperation, routesOf } from "./routes.ts"
import { sessionSent } from "./session.ts"
import { serveUi } from "./ui.ts"
import { uploadFolders } from "./uploads.ts"

/** The operations as a request handler for any number of listeners. */
export interface HttpApp {
  /** For `node:http`; never throws and never rejects. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Whether a request to upgrade to another protocol is accepted. Others are answered as if they had not asked. */
  readonly upgrades: (request: IncomingMessage) => boolean
  /** For the event `upgrade` of `node:http`. */
  readonly upgrade: (request: IncomingMessage, connection: Duplex, head: Buffer) => void
  /** From now on every answer closes its connection, and open event streams end. In-flight requests are answered. */
  readonly stop: () => void
  /**
   * Interrupts requests that still run although their clients have left; call it when no connection is left, before the services of `run`
   * end. Resolves when they have cleaned up or the time is over, with the number of those that had not finished.
   */
  readonly end: (withinMillis: number) => Promise<number>
}

/**
 * Answers requests that no route matched. Below `/api/v2` nobody learns without credentials that a path is unknown; changes of unknown
 * resources are answered in the record API's form, reads in our own.
 */
const unknownPath = (options: HttpOptions): Middleware => {
  return async (ctx) => {
    const state = ctx.state as RequestState
    const isRead = ctx.method === "GET" || ctx.method === "HEAD"
    const form: ProblemForm = isRead ? formOfPath(ctx.path) : "record"
    if (ctx.path.startsWith("/api/v2/") || ctx.path === "/api/v2") {
      const credentials: Credentials = {
        apiKey: ctx.headers["x-api-key"] as string | undefined,
        authorization: ctx.headers.authorization,
        session: sessionSent(ctx, "/api/v2").secret,
      }
      const exit = await exitOf(options.run(requireCaller(credentials)))
      if (Exit.isFailure(exit)) return answerFailure(ctx, state, exit.cause, "api", options.observer)
    }
    replyProblem(ctx, problemOf(new RouteNotFound({ method: ctx.method, path: ctx.path }), form, state.requestId))
  }
}

/** Most web sockets in the process of opening: each waits for the hypervisor. */
const mostOpening = 512
const tooMany = JSON.stringify({
  error: "Cannot open the web socket: too many are being opened at once.\nTry again in a few seconds.",
})
const tooManyOpening = `HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nContent-Length: ${tooMany.length}\r\nConnection: close\r\n\r\n${tooMany}`

export const httpApp = (given: HttpOptions): HttpApp => {
  const requests = requestFibers(given.run)
  const options = { ...given, run: requests.run }
  const streams = new Set<() => void>()
  const upgrades = new WeakMap<IncomingMessage, Upgrade>()
  const opening = new Set<Duplex>()
  let stopping = false
  const open: OpenStreams = {
    add: (end) => {
      streams.add(end)
      if (stopping) end()
    },
    remove: (end) => void streams.delete(end),
  }
  const folderFor = uploadFolders(options)
  const inTurn = bodyTurns(options)
  const koa = new Koa()
  const middleware = compose([
    envelope(options, () => stopping),
    builtinRoutes(options),
    routesOf(options.operations, (operation) => operationHandler(operation, options, open, upgrades, folderFor, inTurn)),
    ...(options.ui === undefined ? [] : [serveUi(options.ui)]),
    unknownPath(options),
  ])
  // every middleware writes its answer directly: Koa's own callback would wait for each to end, and find nothing to write
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const ctx = koa.createContext(request, response)
    try {
      await middleware(ctx)
    } catch (cause) {
      const { requestId = "", operation } = ctx.state as Partial<RequestState>
      options.observer.defect({ requestId, operation, cause: describeThrown(cause) })
    }
  }
  const socketPaths = new Set(options.operations.filter(({ output }) => output.type === "socket").map(pathOfOperation))
  return {
    handle: (request, response) => void answer(request, response),
    upgrades: ({ method, url = "", headers }) =>
      method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && socketPaths.has(url.split("?")[0] ?? ""),
    upgrade: (request, connection, head) => {
      connection.on("error", () => connection.destroy())
      if (opening.size >= mostOpening) return void connection.end(tooManyOpening)
      const response = new ServerResponse(request)
      try {
        response.assignSocket(connection as Socket)
      } catch {
        // an earlier answer is still being written: clients must wait for it before they ask for another protocol
        return void connection.destroy()
      }
      opening.add(connection)
      const settled = () => void opening.delete(connection)
      connection.once("close", settled)
      response.shouldKeepAlive = false
      response.once("finish", () => (connection as Socket).destroySoon())
      upgrades.set(request, { connection, head, settled })
      void answer(request, response)
    },
    stop: () => {
      stopping = true
      for (const end of streams) end()
    },
    end: requests.end,
  }
}
