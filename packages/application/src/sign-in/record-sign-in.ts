import type { User } from "@rangewright/domain"
import { AuditTrail } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { RequestMeta } from "../operation/request-meta.ts"

/**
 * Who signed in, and from where; `detail`: what else came of it. The token or session is made already: a store that cannot take the entry
 * must not turn that around.
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
