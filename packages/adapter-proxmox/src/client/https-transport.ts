import { isThisHost } from "@rangewright/domain"
import { timingSafeEqual } from "node:crypto"
import * as http from "node:http"
import * as https from "node:https"
import type { Duplex } from "node:stream"
import * as tls from "node:tls"
import { openSocket } from "./open-socket.ts"
import { asTransportFailure, type PveAnswer, type PveRequest, type PveTransport, TransportFailure } from "./transport.ts"

/** How the node's certificate is verified. Without any of these, the system's certificate authorities decide. */
export interface PveTls {
  /**
   * SHA-256 of the node's certificate, 32 bytes in hex; colons and case are ignored. Each node has its own: with several, any of them is
   * accepted.
   */
  readonly fingerprint?: string | readonly string[] | undefined
  /** The cluster's own authority, PEM (`/etc/pve/pve-root-ca.pem`). */
  readonly ca?: string | undefined
  /** Accepts any certificate. Only for a node that is reached over a trusted network. */
  readonly insecure?: boolean | undefined
}

/** Largest accepted answer: ten times what a cluster of 10,000 guests needs. */
const maxAnswerBytes = 64 * 1024 * 1024
/** pveproxy closes idle connections after 5 s: ours close earlier, so that no request is sent on a closing one. */
const idleMs = 3_000
/** Longest wait for a connection, including TLS: a connection that hangs earlier has done nothing, so the next node can be tried. */
const openingMs = 10_000

const hexBytes = (text: string): Buffer => Buffer.from(text.replace(/[^0-9a-fA-F]/gu, ""), "hex")

const samePin = (pin: string, seen: string): boolean => {
  const [a, b] = [hexBytes(pin), hexBytes(seen)]
  return a.length === 32 && a.length === b.length && timingSafeEqual(a, b)
}

/** Opens connections and compares the certificate with the pin before any byte of a request, and so any secret, is sent. */
class PinnedAgent extends https.Agent {
  readonly #pins: readonly string[]
  /**
   * Connections being opened. Not yet managed by the agent, which would neither time them out nor destroy them, so a hanging one would keep
   * its slot forever.
   */
  readonly #opening = new Set<tls.TLSSocket>()
  constructor(pins: readonly string[], options: https.AgentOptions) {
    super({ ...options, maxCachedSessions: 0 })
    this.#pins = pins
  }
  override createConnection(
    options: tls.ConnectionOptions,
    callback: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const socket = tls.connect({ ...options, rejectUnauthorized: false })
    const late = setTimeout(
      () => socket.destroy(new TransportFailure(`no TLS connection within ${openingMs / 1000} s`, false)),
      openingMs,
    )
    const opened = (error: Error | null) => {
      clearTimeout(late)
      this.#opening.delete(socket)
      callback(error, socket)
    }
    this.#opening.add(socket)
    socket.once("error", opened)
    socket.once("secureConnect", () => {
      socket.off("error", opened)
      const seen = socket.getPeerCertificate().fingerprint256 ?? ""
      if (this.#pins.some((pin) => samePin(pin, seen))) return opened(null)
      socket.destroy()
      opened(
        new TransportFailure(
          `its certificate has the SHA-256 fingerprint ${seen}, not the pinned one`,
          false,
          "If the node's certificate was renewed, compare it with what the node itself prints (openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem) and set proxmox_fingerprint.",
        ),
      )
    })
    return undefined
  }
  override destroy(): void {
    for (const socket of this.#opening) socket.destroy(new TransportFailure("the connection was closed", false))
    super.destroy()
  }
}

/**
 * An agent that connects to a node and verifies its certificate as `trust` says; throws a RangeError when nothing satisfies that. Requests
 * beyond the number of connections wait for one.
 */
export const proxmoxAgent = (base: string, trust: PveTls, connections = 16): http.Agent => {
  const url = new URL(base)
  const pins = trust.fingerprint === undefined ? undefined : [trust.fingerprint].flat()
  if (pins?.every((pin) => hexBytes(pin).length === 32) === false)
    throw new RangeError("tls.fingerprint is not the SHA-256 of a certificate, 32 bytes in hex")
  if (trust.ca?.includes("-----BEGIN CERTIFICATE-----") === false) throw new RangeError("tls.ca is not a certificate in PEM")
  const keep = { keepAlive: true, timeout: idleMs, maxSockets: connections }
  if (url.protocol === "http:") return new http.Agent(keep)
  if (pins !== undefined) return new PinnedAgent(pins, keep)
  if (trust.insecure === true) return new https.Agent({ ...keep, rejectUnauthorized: false })
  return new https.Agent(trust.ca === undefined ? keep : { ...keep, ca: trust.ca })
}

/** Calls back once the request has a usable connection. A pinned agent hands out only verified ones. */
const whenOpen = (outgoing: http.ClientRequest, secure: boolean, open: () => void): void =>
  void outgoing.once("socket", (socket) =>
    socket.connecting ? void socket.once(secure ? "secureConnect" : "connect", open) : open(),
  )

const receive = (
  answer: http.IncomingMessage,
  done: (answer: PveAnswer) => void,
  fail: (failure: TransportFailure) => void,
): void => {
  const chunks: Buffer[] = []
  let size = 0
  answer.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxAnswerBytes) return void chunks.push(chunk)
    fail(new TransportFailure(`the answer is larger than ${maxAnswerBytes} bytes`, true))
    answer.destroy()
  })
  answer.on("error", (error) => fail(new TransportFailure(`the answer was interrupted: ${error.message}`, true)))
  answer.on("aborted", () => fail(new TransportFailure("the answer was interrupted", true)))
  answer.on("end", () =>
    done({ status: answer.statusCode ?? 0, statusText: answer.statusMessage ?? "", body: Buffer.concat(chunks) }),
  )
}

/**
 * Sends requests to one node over HTTPS, or plain HTTP to this host when the URL says so. Rejects with a `TransportFailure`; a time-out, a reset and a
 * truncated answer count as delivered.
 */
export const httpsTransport = (base: string, trust: PveTls = {}): PveTransport => {
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw new RangeError(`"${base}" is not an https or http URL`)
  if (url.protocol === "http:" && !isThisHost(url.hostname))
    throw new RangeError(`"${base}" would send the credentials unencrypted: write https://${url.host}`)
  // the limits per node are kept by the caller, and waiting for a connection would look like a node that cannot be reached
  const agent = proxmoxAgent(base, trust, Number.POSITIVE_INFINITY)
  const client = url.protocol === "http:" ? http : https
  const send = (request: PveRequest, signal: AbortSignal): Promise<PveAnswer> =>
    new Promise((resolve, reject) => {
      const body = request.body === undefined ? undefined : Buffer.from(request.body)
      const outgoing = client.request(url, {
        agent,
        method: request.method,
        path: request.path,
        headers: body === undefined ? request.headers : { ...request.headers, "content-length": String(body.length) },
        signal,
      })
      /** An agent that is still opening a connection does not notice that its request was destroyed. */
      const giveUpAfter = (ms: number, what: string, delivered: boolean) =>
        setTimeout(() => {
          const failure = new TransportFailure(`no ${what} within ${ms / 1000} s`, delivered)
          fail(failure)
          outgoing.destroy(failure)
        }, ms)
      const unopened = giveUpAfter(Math.min(openingMs, request.timeoutMs), "connection", false)
      const unanswered = giveUpAfter(request.timeoutMs, "answer", true)
      whenOpen(outgoing, url.protocol === "https:", () => clearTimeout(unopened))
      const settle =
        <A>(end: (value: A) => void) =>
        (value: A) => {
          clearTimeout(unopened)
          clearTimeout(unanswered)
          end(value)
        }
      const fail = settle(reject)
      outgoing.on("error", (error) => fail(asTransportFailure(error, url.protocol === "http:")))
      outgoing.on("response", (answer) => receive(answer, settle(resolve), fail))
      outgoing.end(body)
    })
  return { send, socket: (path, headers) => openSocket(new URL(path, url), headers, { agent }), close: () => agent.destroy() }
}
