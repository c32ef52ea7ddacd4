import type { User } from "@rangewright/domain"
import { AuditTrail } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { RequestMeta } from "../operation/request-meta.ts"

/**
 * Records who signed in, and from where; `detail`: further information. The token or session exists already: failing to store the entry
 * must not fail the sign-in.
 */
export const recordSignIn = Effect.fnUntraced(function* (
  operation: string,
  { id }: User,
  { requestId, remote }: RequestMeta,
  detail = "",
) {
  const trail = yield* AuditTrail
  const at = new Date(yield* Clock.currentTimeMillis)
  const entry = {
    at,
    requestId,
    callerId: id,
    actingAs: id,
    operation,
    rangeId: undefined,
    detail,
    outcome: "ok",
    remote,
  }
  yield* trail.record(entry).pipe(Effect.ignore({ log: "Error" }))
})
