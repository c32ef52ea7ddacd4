import type { BuildAccount } from "@rangewright/ports"
import type { Dial } from "@rangewright/host-tools"
import * as Redacted from "effect/Redacted"
import { type Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http"
import { request as httpsRequest } from "node:https"
import { duplexPair } from "node:stream"

/** What Packer knows the hypervisor by. It is no name anywhere else, and the secrets that lead to it are not Packer's. */
export const doorName = "hypervisor"

/** A call of Packer's and how it was answered. */
export interface ApiCall {
  readonly method: string
  /** Without `/api2/json`. */
  readonly path: string
  readonly status: number
  readonly body: string
}

export interface DoorOptions {
  readonly hypervisor: { readonly url: string; readonly agent: Agent }
  readonly account: Pick<BuildAccount, "tokenId" | "tokenSecret" | "username">
  /** Why the node may not fetch from a URL; undefined: it may. */
  readonly refuses: (url: string) => Promise<string | undefined>
  readonly onCall: (call: ApiCall) => void
}

const prefix = "/api2/json"
const maxForm = 64 * 1024
/** Answers that are looked at; larger ones are only passed on. */
const maxSeen = 64 * 1024

const hopByHop = new Set(["connection", "keep-alive", "te", "trailer", "upgrade", "proxy-connection", "transfer-encoding"])
const secrets = new Set(["authorization", "cookie", "csrfpreventiontoken", "host"])

const answer = (response: ServerResponse, status: number, message: string, data: unknown = null): void => {
  const body = JSON.stringify(status === 200 ? { data } : { data: null, message })
  response.writeHead(status, message.replaceAll(/[^\x20-\x7e]/gu, "?").slice(0, 300), {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  })
  response.end(body)
}

const formOf = (type: string, body: string): ReadonlyMap<string, string> => {
  if (!type.includes("json")) return new Map(new URLSearchParams(body))
  const value: unknown = JSON.parse(body)
  return new Map(Object.entries(Object(value)).map(([name, text]) => [name, String(text)]))
}

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxForm) throw new Error(`more than ${maxForm} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The path as the hypervisor understands it. Fails for one that is none. */
const pathOf = (url: string): string =>
  decodeURIComponent(url.split("?")[0] ?? "")
    .replaceAll(/\/{2,}/gu, "/")
    .replace(/\/$/u, "")

/**
 * Passes Packer's calls on to the hypervisor, in the name of the build's own account: whatever it sends of its own, a login or a token, counts
 * for nothing. What the account may do is the hypervisor's to say; here is decided what no right of its can express.
 */
export const openDoor = ({ hypervisor, account, refuses, onCall }: DoorOptions) => {
  const base = new URL(hypervisor.url)
  const token = `PVEAPIToken=${account.tokenId}=${Redacted.value(account.tokenSecret)}`

  const passOn = (asked: IncomingMessage, response: ServerResponse, path: string, body: Buffer | undefined): void => {
    const headers = Object.fromEntries(
      Object.entries(asked.headers).filter(([name]) => !hopByHop.has(name) && !secrets.has(name)),
    )
    const start = base.protocol === "https:" ? httpsRequest : httpRequest
    const outgoing = start(base, {
      agent: hypervisor.agent,
      method: asked.method ?? "GET",
      path: asked.url ?? "/",
      headers: { ...headers, host: base.host, authorization: token },
    })
    outgoing.on("response", (given) => {
      const seen: Buffer[] = []
      let size = 0
      given.on("data", (chunk: Buffer) => (size += chunk.length) <= maxSeen && seen.push(chunk))
      given.once("end", () =>
        onCall({
          method: asked.method ?? "GET",
          path,
          status: given.statusCode ?? 0,
          body: size <= maxSeen ? Buffer.concat(seen).toString("utf8") : "",
        }),
      )
      given.once("error", () => response.destroy())
      const kept = Object.fromEntries(Object.entries(given.headers).filter(([name]) => !hopByHop.has(name)))
      response.writeHead(given.statusCode ?? 502, given.statusMessage ?? "", kept)
      given.pipe(response)
    })
    outgoing.once("error", (error) =>
      response.headersSent ? response.destroy() : answer(response, 595, `the hypervisor cannot be reached: ${error.message}`),
    )
    response.once("close", () => outgoing.destroy())
    if (body === undefined) asked.pipe(outgoing)
    else outgoing.end(body)
  }

  const serve = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const whole = pathOf(asked.url ?? "")
    const method = asked.method ?? "GET"
    if (!whole.startsWith(`${prefix}/`)) return answer(response, 501, `no such file '${whole}'`)
    const path = whole.slice(prefix.length)
    // versions that know no tokens log in
    if (method === "POST" && path === "/access/ticket") {
      asked.resume()
      const { username } = account
      return answer(response, 200, "OK", { username, ticket: "PVE:build", CSRFPreventionToken: "build" })
    }
    // the oldest versions take what they cloned out of its pool again
    if (method === "PUT" && /^\/pools(?:\/|$)/u.test(path)) {
      asked.resume()
      return answer(response, 200, "OK")
    }
    // QEMU's own commands open any file of the node
    if (path.endsWith("/monitor")) return answer(response, 403, "builds give QEMU no commands")
    if (method !== "POST" || !path.endsWith("/download-url")) return passOn(asked, response, path, undefined)
    const body = await readAll(asked)
    const query = new URL(asked.url ?? "/", "http://door").searchParams.get("url")
    const urls = [query, formOf(asked.headers["content-type"] ?? "", body.toString("utf8")).get("url")]
    for (const url of urls) {
      const because = url === null || url === undefined ? undefined : await refuses(url)
      if (because !== undefined) return answer(response, 403, `the node does not fetch ${url}: ${because}`)
    }
    passOn(asked, response, path, body)
  }

  const server = createServer((asked, response) => {
    serve(asked, response).catch((error: unknown) => {
      if (!response.headersSent) answer(response, 400, String(error))
      else response.destroy()
    })
  })
  server.on("clientError", (_, socket) => socket.destroy())
  const dial: Dial = () => {
    const [outer, inner] = duplexPair()
    server.emit("connection", inner)
    return Promise.resolve(outer)
  }
  return { dial, close: () => server.closeAllConnections() }
}
