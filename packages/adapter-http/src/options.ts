import type { AddressNetwork, Fault } from "@rangewright/domain"
import type { AppServices, Operation } from "@rangewright/application"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { UiFiles } from "./ui.ts"

/** Starts an effect on the application's services. Effects that need not wait have ended when this returns. */
export type Runner = <A>(effect: Effect.Effect<A, Fault, AppServices>) => Fiber.Fiber<A, Fault>

/** One answered request. Holds no query, header or body, so that nothing secret can get into a log. */
export interface AnsweredRequest {
  readonly requestId: string
  readonly method: string
  /** Path as sent, without the query. */
  readonly path: string
  /** Id of the operation; undefined when no route matched. */
  readonly operation: string | undefined
  readonly status: number
  readonly milliseconds: number
}

/** Callbacks for the owner of the process. Neither may throw. */
export interface HttpObserver {
  readonly answered: (request: AnsweredRequest) => void
  /** A bug: the caller only got the request id. `cause` is for the log. */
  readonly defect: (defect: {
    readonly requestId: string
    readonly operation: string | undefined
    readonly cause: string
  }) => void
}

/** Endpoints for monitors, outside authentication and the API. */
export interface Probes {
  /** Whether requests can be served. `detail` is shown and must hold nothing secret. */
  readonly ready: () => Promise<{ readonly ready: boolean; readonly detail: Readonly<Record<string, unknown>> }>
  /** Metrics in Prometheus' text format. */
  readonly metrics: () => Promise<string>
}

export interface HttpOptions {
  readonly operations: readonly Operation[]
  readonly run: Runner
  readonly observer: HttpObserver
  /** Default: none; their paths are unknown, for a program that has its own. */
  readonly probes?: Probes
  /** Origins whose pages may read answers. `*`: any; credentials are never allowed either way. */
  readonly corsOrigins: "*" | readonly string[]
  /** The built web page. Default: none; below `/ui` only the sessions exist. */
  readonly ui?: UiFiles
  /** Whether browsers are told to use only TLS from now on (HSTS), for a certificate that they trust. Default: no. */
  readonly strictTransport?: boolean
  /** Networks of the proxies whose `X-Forwarded-For` is trusted. Default: none; the sender is the peer of the connection. */
  readonly trustedProxies?: readonly AddressNetwork[]
  /** Folder for uploaded files during their requests; created if missing. Default: the system's temporary folder. */
  readonly uploads?: string
  /**
   * Uploads of one user that are stored in files and received at a time, and large bodies of one user that are held in memory; more of
   * them wait. Default: 8 of each.
   */
  readonly uploadsOfUser?: number
  /** Bytes of whole answers that may wait for slow readers, over all connections. Default: 256 MiB. */
  readonly unsentBytes?: number
  readonly eventStreams: {
    /** Milliseconds between two comments that keep an idle stream open. */
    readonly heartbeat: number
    /** Milliseconds a reader may take to make room before it is dropped. */
    readonly patience: number
  }
  readonly sockets: {
    /** Milliseconds between two pings; a client that has not answered one when the next is due is dropped. */
    readonly ping: number
    /** Milliseconds for a client to answer the closing of a socket. */
    readonly farewell: number
  }
}

/** Usual settings: any origin, a comment every 15 s and a minute of patience, a ping every 30 s. */
export const usualHttpOptions = {
  corsOrigins: "*",
  eventStreams: { heartbeat: 15_000, patience: 60_000 },
  sockets: { ping: 30_000, farewell: 2_000 },
} as const satisfies Partial<HttpOptions>
