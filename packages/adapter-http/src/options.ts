import type { AddressNetwork, Fault } from "@rangewright/domain"
import type { AppServices, Operation } from "@rangewright/application"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { UiFiles } from "./ui.ts"

/** Starts an effect on the application's services. What need not wait has ended when this returns. */
export type Runner = <A>(effect: Effect.Effect<A, Fault, AppServices>) => Fiber.Fiber<A, Fault>

/** One request that was answered. Holds no query, no header and no body, so that nothing secret can get into a log. */
export interface AnsweredRequest {
  readonly requestId: string
  readonly method: string
  /** Path as it was sent, without the query. */
  readonly path: string
  /** Id of the operation; undefined when no route matched. */
  readonly operation: string | undefined
  readonly status: number
  readonly milliseconds: number
}

/** What the owner of the process wants to know of the requests. Neither may throw. */
export interface HttpObserver {
  readonly answered: (request: AnsweredRequest) => void
  /** A bug: the caller was told its request id only. `cause` is for the log. */
  readonly defect: (defect: {
    readonly requestId: string
    readonly operation: string | undefined
    readonly cause: string
  }) => void
}

/** What monitors ask, outside authentication and outside the API. */
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
  readonly probes: Probes
  /** Origins whose pages may read answers. `*`: any; credentials are never allowed either way. */
  readonly corsOrigins: "*" | readonly string[]
  /** The built web page. Default: none; what is below `/ui` is unknown but the sessions. */
  readonly ui?: UiFiles
  /** Whether browsers are told to come over TLS alone from now on, for a certificate that they trust. Default: no. */
  readonly strictTransport?: boolean
  /** Networks of the proxies whose `X-Forwarded-For` is believed. Default: none; the sender is who is connected. */
  readonly trustedProxies?: readonly AddressNetwork[]
  /** Folder for uploaded files while their requests go on; made when it is missing. Default: the system's for temporary files. */
  readonly uploads?: string
  /** Uploads of one user that are kept in files and come in at a time; more of them wait. Default: 8. */
  readonly uploadsOfUser?: number
  readonly eventStreams: {
    /** Milliseconds between two comments that keep an idle stream open. */
    readonly heartbeat: number
    /** Milliseconds a reader may take to make room before it is dropped. */
    readonly patience: number
  }
  readonly sockets: {
    /** Milliseconds between two pings; who has not answered one when the next is due is dropped. */
    readonly ping: number
    /** Milliseconds a client has to answer that a socket is closed. */
    readonly farewell: number
  }
}

/** What most owners want: any origin, a comment every 15 s and a minute of patience, a ping every 30 s. */
export const usualHttpOptions = {
  corsOrigins: "*",
  eventStreams: { heartbeat: 15_000, patience: 60_000 },
  sockets: { ping: 30_000, farewell: 2_000 },
} as const satisfies Partial<HttpOptions>
