import type { Method } from "../operation/operation.ts"

/** An operation that clients of the API know and that is not offered yet. */
export interface NotYetOffered {
  /** The contract's operationId. */
  readonly id: string
  /** `GET /templates/logs/{logID}`, below `/api/v2`. */
  readonly route: `${Method} /${string}`
  /** What it would do, in words that complete "Cannot …". */
  readonly does: string
}

/** By the contract's operationId: its route, and what it would do. */
const table: Readonly<Record<string, readonly [NotYetOffered["route"], string]>> = {}

/** Operations whose calls get a 404 that names them. The list only shrinks: conformance tests compare it with the contract and the operations. */
export const notYetOffered: readonly NotYetOffered[] = Object.entries(table).map(([id, [route, does]]) => ({ id, route, does }))
