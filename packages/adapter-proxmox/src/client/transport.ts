export type PveMethod = "GET" | "POST" | "PUT" | "DELETE"

/** One request as it goes on the wire. */
export interface PveRequest {
  readonly method: PveMethod
  /** From `/api2/json` on, percent-encoded, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly timeoutMs: number
}

export interface PveAnswer {
  readonly status: number
  /** The reason phrase: before PVE 8.3 the only place of an error's text. */
  readonly statusText: string
  readonly body: Uint8Array
}

/**
 * Carries requests to one node. Rejects with a `TransportFailure` when it knows whether the request was delivered; any other rejection
 * counts as "may have been delivered", unless its `code` says that no connection was made.
 */
export interface PveTransport {
  readonly send: (request: PveRequest, signal: AbortSignal) => Promise<PveAnswer>
  /** Ends idle connections. */
  readonly close?: () => void
}

/** No usable answer. `delivered` is false only when the request certainly had no effect. */
export class TransportFailure extends Error {
  readonly delivered: boolean
  constructor(message: string, delivered: boolean) {
    super(message)
    this.name = "TransportFailure"
    this.delivered = delivered
  }
}

/** Codes of failures that come before the first byte of a request. */
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

/** Reads any rejection of a transport. */
export const asTransportFailure = (error: unknown): TransportFailure => {
  if (error instanceof TransportFailure) return error
  if (!(error instanceof Error)) return new TransportFailure("the connection failed", true)
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  const text = error.message === "" ? code : error.message
  // the same code may come from a connection that is being made and from one that was
  const connecting = "syscall" in error && error.syscall === "connect"
  return new TransportFailure(
    code === "" || text.includes(code) ? text : `${text} (${code})`,
    !connecting && !undelivered.has(code),
  )
}
