import { randomBytes } from "node:crypto"

/** What the pipeline knows of a request; Koa's `ctx.state`. */
export interface RequestState {
  readonly requestId: string
  readonly query: Readonly<Record<string, string>>
  /** Set once a route matched. */
  operation: string | undefined
}

const process = randomBytes(6).toString("hex")
let count = 0

/** Unique among all processes, and cheap: a random prefix for this process, then a counter. */
export const nextRequestId = (): string => `${process}-${(++count).toString(36)}`
