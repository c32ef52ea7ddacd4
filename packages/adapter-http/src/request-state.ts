import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import type { SentQuery } from "./decode/url.ts"

/** Names and values in turn, as `writeHead` takes them fastest. */
export type HeaderList = readonly string[]

/** What the pipeline knows of a request; Koa's `ctx.state`. */
export interface RequestState {
  readonly requestId: string
  /** Names and values in turn of the headers that its answer has whatever it is. */
  headers: HeaderList
  /** Whether the service has begun to stop. */
  readonly isStopping: () => boolean
  query: SentQuery
  /** Id of the operation, once a route matched. */
  operation: string | undefined
  /** The files that came with it; closed when it is answered. */
  uploads: Scope.Closeable | undefined
}

const process = randomBytes(6).toString("hex")
let count = 0

/** Unique among all processes, and cheap: a random prefix for this process, then a counter. */
export const nextRequestId = (): string => `${process}-${(++count).toString(36)}`
