import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http"
import { isIP } from "node:net"
import type { Duplex } from "node:stream"
import { connect } from "node:tls"

/** What is asked of a server. */
export interface AskedOver {
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** Certificates of authorities, PEM, in place of those that are known everywhere. */
  readonly ca?: string
  /** Ends the request and the answer. */
  readonly signal: AbortSignal
}

/**
 * One request over a connection that is open: TLS for the host of the URL where that says so. The connection ends with the answer. Rejects
 * with the error of Node.js.
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

/** The whole of an answer; undefined: it is larger than `most` bytes, and what is left of it was not read. */
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
