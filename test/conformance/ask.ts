import type { Operation } from "@rangewright/application"
import { Agent, type IncomingMessage, request } from "node:http"
import { text as textOf } from "node:stream/consumers"
import { bodyOf, pathOf, sampleOf, type Sample } from "./requests.ts"
import type { WholeService } from "./service.ts"

export type Headers = Readonly<Record<string, string>>

/** The response. */
export interface Answer {
  readonly status: number
  readonly headers: { readonly get: (name: string) => string | null }
  readonly text: () => Promise<string>
  /** Instead of `text`: nobody reads the rest. */
  readonly drop?: () => void
}

const answerOf = (incoming: IncomingMessage): Answer => ({
  status: incoming.statusCode ?? 0,
  headers: { get: (name) => (incoming.headers[name] as string | undefined) ?? null },
  text: () => textOf(incoming),
  // a stream has no end; the end of anything else keeps the connection
  drop: () => void (incoming.headers["content-type"] === "text/event-stream" ? incoming.destroy() : incoming.resume()),
})

const agent = new Agent({ keepAlive: true })

/** What `fetch` does, in half its processor time: tests send tens of thousands of requests. It follows no redirects. */
export const ask = async (url: string, init: Pick<RequestInit, "method" | "headers" | "body"> = {}): Promise<Answer> => {
  const { method = "GET", headers, body } = init
  if (typeof body !== "string" && body !== undefined && body !== null) {
    const response = await fetch(url, init)
    return {
      status: response.status,
      headers: response.headers,
      text: () => response.text(),
      drop: () => void response.body?.cancel(),
    }
  }
  // Node.js does not say by itself that a DELETE has a body
  const length = typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {}
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method, headers: { ...(headers as Headers), ...length } })
    outgoing.on("response", (incoming) => resolve(answerOf(incoming)))
    outgoing.on("error", reject)
    outgoing.end(body ?? undefined)
  })
}

/** Requests a WebSocket, and closes it at once if it opens. */
const openSocket = (url: string, headers: Headers): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const handshake = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    }
    const outgoing = request(url, { headers: { ...headers, ...handshake } })
    const answer = (status = 0, sent: Readonly<Record<string, unknown>>, text: Promise<string>): void =>
      resolve({ status, headers: { get: (name) => (sent[name] as string | undefined) ?? null }, text: () => text })
    outgoing.on("upgrade", ({ statusCode, headers: sent }, socket) => {
      socket.destroy()
      answer(statusCode, sent, Promise.resolve(""))
    })
    outgoing.on("response", (response) => answer(response.statusCode, response.headers, textOf(response)))
    outgoing.on("error", reject).end()
  })

/** Reads only the beginning of a stream, which has no end. */
const beginningOf = async (url: string, init: RequestInit): Promise<Answer> => {
  const { status, headers, body } = await fetch(url, init)
  const reader = body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return { status, headers, text: () => Promise.resolve(new TextDecoder().decode(value)) }
}

/** Sends a request as clients of the operation do. */
export const send = (operation: Operation, url: string, init: RequestInit & { readonly headers: Headers }): Promise<Answer> =>
  operation.output.type === "socket"
    ? openSocket(url, init.headers)
    : operation.id === "streamEvents"
      ? beginningOf(url, init)
      : ask(url, { ...init, method: operation.route.method })

/** The status of the operation's sample request with this query, and this body if one is given. Does not wait for streams to end. */
export const statusOf = async (
  service: WholeService,
  operation: Operation,
  headers: Headers,
  query: string,
  json?: unknown,
): Promise<number> => {
  const given = sampleOf(operation, service.runId)
  const sample: Sample = json === undefined ? given : { ...given, json }
  const init = bodyOf(operation, sample)
  const path = pathOf(operation, sample)
  const separator = path.includes("?") ? "&" : "?"
  const response = await send(operation, service.url + path + (query === "" ? "" : separator + query), {
    ...init,
    headers: { ...(init.headers as Headers), ...headers },
  })
  response.drop?.()
  return response.status
}

/** Everything stored except the traces of refused calls, which are written from time to time. */
export const stored = ({ store }: WholeService): string => {
  const { users, ranges, configs, grants, groups, blueprints, sources, machines, reservations, runs } = store
  return JSON.stringify(
    [users, ranges, configs, grants, groups, blueprints, sources, machines, reservations, runs],
    (key, value: unknown) => {
      if (key === "lastActiveAt") return undefined
      return value instanceof Map ? [...value.entries()] : value instanceof Set ? [...value] : value
    },
  )
}
