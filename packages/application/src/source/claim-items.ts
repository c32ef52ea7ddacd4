import type { RecordId } from "@rangewright/domain"
import { type SourceClaim, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Records that a source brought these. A source that was deleted meanwhile claims nothing. */
export const claimItems = (source: RecordId, claims: readonly SourceClaim[]) =>
  claims.length === 0
    ? Effect.void
    : Effect.flatMap(Sources, (sources) => sources.claim(source, claims)).pipe(
        Effect.catchTag("SourceNotFound", () => Effect.void),
      )
