import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import type { SentQuery } from "./decode/url.ts"
import type { SlowReaders } from "./encode/slow-readers.ts"

/** Alternating names and values, which `writeHead` takes fastest. */
export type HeaderList = readonly string[]

/** What the pipeline knows of a request; Koa's `ctx.state`. */
export interface RequestState {
  readonly requestId: string
  /** The headers of its answer, whatever that will be. */
  headers: HeaderList
  /** Whether the service has begun to stop. */
  readonly isStopping: () => boolean
  readonly slowReaders: SlowReaders
  query: SentQuery
  /** Id of the operation, once a route matched. */
  operation: string | undefined
  /** Holds the uploaded files of the request; closed once it is answered. */
  uploads: Scope.Closeable | undefined
  /** Settles with the end of an answer that the middleware does not wait for. */
  ended: Promise<void> | undefined
}

const process = randomBytes(6).toString("hex")
let count = 0

/** Unique among all processes, and cheap: a random prefix for this process, followed by a counter. */
export const nextRequestId = (): string => `${process}-${(++count).toString(36)}`
