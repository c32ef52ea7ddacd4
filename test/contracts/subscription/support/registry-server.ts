import { loadOrCreateCertificate } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** An HTTPS server for the files of a folder, with entity tags, that records requests and can be made to misbehave. */
export interface RegistryServer {
  readonly url: string
  readonly ca: string
  readonly token: string
  /** `GET /path 200`, in order. */
  readonly requests: string[]
  /** Answers instead of the server while it is set; true: it has answered. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  readonly close: () => Promise<void>
}

const certificate = async () => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-certificate-"))
  try {
    return await Effect.runPromise(loadOrCreateCertificate(join(folder, "pem"), ["localhost", "127.0.0.1"], new Date()))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

let made: ReturnType<typeof certificate> | undefined

export const startRegistryServer = async (folder: string): Promise<RegistryServer> => {
  made ??= certificate()
  const { cert, key } = await made
  const token = "let me in"
  const answer = async (request: IncomingMessage): Promise<{ status: number; body?: Buffer; etag?: string }> => {
    if (request.headers.authorization !== `Bearer ${token}`) return { status: 401 }
    const path = (request.url ?? "").replace(/^\/roles\//u, "")
    const body = await readFile(join(folder, path)).catch(() => undefined)
    if (body === undefined || path.includes("..")) return { status: 404 }
    const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`
    return request.headers["if-none-match"] === etag ? { status: 304, etag } : { status: 200, body, etag }
  }
  const server = createServer({ cert, key }, (request, response) => {
    if (running.misbehave?.(request, response) === true) {
      running.requests.push(`${request.method} ${request.url} misbehaved`)
      return
    }
    void answer(request).then(({ status, body, etag }) => {
      running.requests.push(`${request.method} ${request.url} ${status}`)
      response.writeHead(status, etag === undefined ? {} : { etag })
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const running: RegistryServer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/roles`,
    ca: cert,
    token,
    requests: [],
    misbehave: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return running
}
