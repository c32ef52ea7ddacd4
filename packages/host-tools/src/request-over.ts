import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http"
import { isIP } from "node:net"
import type { Duplex } from "node:stream"
import { connect } from "node:tls"

/** A request to a server. */
export interface AskedOver {
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** CA certificates, PEM, that replace the default ones. */
  readonly ca?: string
  /** Aborts the request and the response. */
  readonly signal: AbortSignal
}

/**
 * Sends one request over an open connection, with TLS for the URL's host when the URL is https. The connection ends with the response.
 * Rejects with the error of Node.js.
 */
export const requestOver = async (
  raw: Duplex,
  url: URL,
  { method, headers, body, ca, signal }: AskedOver,
): Promise<IncomingMessage> => {
  const end = () => void raw.destroy()
  raw.on("error", end)
  signal.addEventListener("abort", end, { once: true })
  if (signal.aborted) end()
  const host = url.hostname.replace(/^\[|\]$/gu, "")
  const servername = isIP(host) === 0 ? host : ""
  const socket: Duplex =
    url.protocol === "https:" ? connect({ socket: raw, host, servername, ...(ca === undefined ? {} : { ca }) }) : raw
  socket.on("error", end)
  const agent = new Agent()
  agent.createConnection = () => socket
  return new Promise((done, reject) => {
    const asked = request({
      agent,
      method,
      host: url.hostname,
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, "accept-encoding": "identity", "user-agent": "rangewright", ...headers, connection: "close" },
      signal,
    })
    asked.on("response", (answer) => done(answer.on("error", end).once("close", end)))
    asked.on("error", (error) => {
      end()
      reject(error)
    })
    asked.end(body)
  })
}

/** The whole body of a response; undefined when it exceeds `most` bytes, in which case the rest is not read. */
export const bytesOf = async (answer: IncomingMessage, most: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > most) {
      answer.destroy()
      return undefined
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
