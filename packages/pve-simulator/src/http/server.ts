import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { type Duplex, duplexPair } from "node:stream"
import type { Certificate } from "./certificate.ts"
import { MAX_BODY } from "./form.ts"
import { ConnectionReset } from "./handle.ts"
import type { SimRequest, SimResponse } from "./message.ts"
import { isUpload, readUpload } from "./upload.ts"
import { acceptConsole, type OpenConsole } from "./websocket.ts"

/** An open port. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** Stops taking requests and ends open connections. */
  readonly close: () => Promise<void>
}

/** Reads a body up to just over the API's limit; what is beyond is not kept. */
const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size <= MAX_BODY) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks)
}

const toRequest = (request: IncomingMessage, body: Buffer): SimRequest => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value
  }
  return { method: request.method ?? "GET", path: request.url ?? "/", headers, ...(body.length > 0 ? { body } : {}) }
}

/** A phrase that may stand in a status line. */
const phrase = (text: string): string => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?").slice(0, 1000)

const write = (response: ServerResponse, answer: SimResponse): void => {
  const length = String(Buffer.byteLength(answer.body))
  response.writeHead(answer.status, phrase(answer.reason), { ...answer.headers, "content-length": length })
  response.end(answer.body)
}

/** What a server answers with. */
export interface Served {
  readonly handle: (request: SimRequest) => Promise<SimResponse>
  readonly onConsole: (port: number) => OpenConsole | undefined
}

const serverOf = (options: Served, certificate: Certificate | undefined) => {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const sent = isUpload(request)
        ? { ...toRequest(request, Buffer.alloc(0)), upload: () => readUpload(request) }
        : toRequest(request, await readBody(request))
      write(response, await options.handle(sent))
      // a file that nobody wanted
      request.resume()
    } catch (error) {
      // A dropped connection is an answer too; anything else must not reach the caller in words.
      if (!(error instanceof ConnectionReset)) response.statusCode = 500
      request.socket.destroy()
    }
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => void serve(request, response)
  const server =
    certificate === undefined
      ? createHttpServer({ keepAliveTimeout: 5000, maxHeaderSize: 16_384 }, onRequest)
      : createHttpsServer(
          { key: certificate.key, cert: certificate.cert, keepAliveTimeout: 5000, maxHeaderSize: 16_384 },
          onRequest,
        )
  server.on(
    "upgrade",
    (request: IncomingMessage, socket) =>
      void acceptConsole(request, socket, () => options.handle(toRequest(request, Buffer.alloc(0))), options.onConsole),
  )
  server.on("clientError", (_, socket) => socket.destroy())
  return server
}

/** Connections without a network: each call gives the client's side of one, in plain HTTP. */
export const connector = (served: Served): (() => Duplex) => {
  const server = serverOf(served, undefined)
  return () => {
    const [client, ours] = duplexPair()
    server.emit("connection", ours)
    return client
  }
}

/** Serves `handle` on a port (0: any free one) with TLS if a certificate is given. */
export const listen = async (
  options: Served & { readonly host: string; readonly port: number; readonly certificate: Certificate | undefined },
): Promise<Listener> => {
  const server = serverOf(options, options.certificate)
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port, options.host, () => {
      server.off("error", reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    host: options.host,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
