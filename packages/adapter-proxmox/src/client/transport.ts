import type { WebSocket } from "ws"

export type PveMethod = "GET" | "POST" | "PUT" | "DELETE"

/** One request as it is sent. */
export interface PveRequest {
  readonly method: PveMethod
  /** Starts with `/api2/json`, percent-encoded, including the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly timeoutMs: number
}

export interface PveAnswer {
  readonly status: number
  /** The reason phrase: before PVE 8.3 the only place for an error's text. */
  readonly statusText: string
  readonly body: Uint8Array
}

/**
 * Sends requests to one node. Rejects with a `TransportFailure` when it knows whether the request was delivered; any other rejection counts
 * as "may have been delivered", unless its `code` says that no connection was made.
 */
export interface PveTransport {
  readonly send: (request: PveRequest, signal: AbortSignal) => Promise<PveAnswer>
  /** Starts opening a web socket; path and headers as in a request. Undefined when not supported. */
  readonly socket?: ((path: string, headers: PveRequest["headers"]) => WebSocket) | undefined
  /** Closes idle connections. */
  readonly close?: () => void
}

/** Opens one web socket. */
export type OpenSocket = () => WebSocket

/** No usable answer. `delivered` is false only when the request certainly had no effect. */
export class TransportFailure extends Error {
  readonly delivered: boolean
  /** What the operator can do about it. */
  readonly hint: string | undefined
  constructor(message: string, delivered: boolean, hint?: string) {
    super(message)
    this.name = "TransportFailure"
    this.delivered = delivered
    this.hint = hint
  }
}

/** Codes of failures that happen before the first byte of a request is sent. */
const undelivered: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "EADDRNOTAVAIL",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
])

const untrusted =
  "No authority that this host trusts signed the node's certificate. Set proxmox_fingerprint to what `openssl x509 -noout -fingerprint -sha256 -in /etc/pve/local/pve-ssl.pem` prints on the node, or proxmox_ca_file to a copy of its /etc/pve/pve-root-ca.pem."
const noTls = "The server there does not use TLS: check host and port of proxmox_url. Proxmox VE answers HTTPS on port 8006."
const noHttp = "The server there does not accept plain HTTP: write https:// in proxmox_url."

const hints: ReadonlyMap<string, string> = new Map([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", untrusted],
  ["SELF_SIGNED_CERT_IN_CHAIN", untrusted],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", untrusted],
  ["CERT_HAS_EXPIRED", "Renew the node's certificate (pvecm updatecerts), or pin it with proxmox_fingerprint."],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "Use one of the names in the certificate as the host in proxmox_url, or pin it with proxmox_fingerprint.",
  ],
  ["ERR_SSL_WRONG_VERSION_NUMBER", noTls],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", noTls],
  ["HPE_INVALID_CONSTANT", noHttp],
  ["HPE_INVALID_VERSION", noHttp],
  [
    "ECONNREFUSED",
    "Nothing listens there: check host and port of proxmox_url (Proxmox VE: 8006), and whether pveproxy runs on the node.",
  ],
  ["ENOTFOUND", "The name cannot be resolved: check the host in proxmox_url, or use its address."],
  ["EAI_AGAIN", "No name server answers: check this host's DNS, or use an address in proxmox_url."],
  ["EHOSTUNREACH", "Check the network between this host and the node."],
  ["ENETUNREACH", "Check the network between this host and the node."],
])

/** OpenSSL's reason, for cases where Node only reports `EPROTO`, such as a handshake that fails while it writes. */
const reasonOfOpenssl = /:SSL routines:[^:]*:([^:\n]+)/u

/** A failure's code and text: normalised for OpenSSL's errors, which Node reports in different ways. */
const toldBy = (error: Error): { readonly code: string; readonly text: string } => {
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  const reason = code === "EPROTO" ? reasonOfOpenssl.exec(error.message)?.[1] : undefined
  if (reason !== undefined) return { code: `ERR_SSL_${reason.toUpperCase().replaceAll(" ", "_")}`, text: reason }
  return { code, text: error.message === "" ? code : error.message.trim() }
}

const hintOf = (code: string, message: string, isPlain: boolean): string | undefined => {
  if (code === "ECONNRESET" && message.includes("before secure TLS")) return noTls
  if (code === "ECONNRESET" && isPlain) return noHttp
  return hints.get(code)
}

/** Converts any rejection of a transport; `isPlain`: one without TLS. */
export const asTransportFailure = (error: unknown, isPlain = false): TransportFailure => {
  if (error instanceof TransportFailure) return error
  if (!(error instanceof Error)) return new TransportFailure("the connection failed", true)
  const { code, text } = toldBy(error)
  // the same code may come while connecting and from an established connection
  const connecting = "syscall" in error && error.syscall === "connect"
  return new TransportFailure(
    code === "" || text.includes(code) ? text : `${text} (${code})`,
    !connecting && !undelivered.has(code),
    hintOf(code, text, isPlain),
  )
}
