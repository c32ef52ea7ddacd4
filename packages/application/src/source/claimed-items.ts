import type { Source } from "@rangewright/domain"
import { type ClaimKind, type SourceClaim, Sources, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * The items of these kinds that were installed from the source, ascending by name, each once however many copies there are. If their
 * versions differ, that of the global copy counts, or else the first user's.
 */
export const claimedItems = (
  source: Pick<Source, "recordId">,
  kinds: readonly ClaimKind[],
): Effect.Effect<readonly SourceClaim[], StorageFault, Sources> =>
  Effect.gen(function* () {
    const sources = yield* Sources
    const found = new Map<string, SourceClaim>()
    for (const claim of yield* sources.claims(source.recordId)) {
      const key = `${claim.kind} ${claim.name}`
      const known = found.get(key)
      if (kinds.includes(claim.kind) && (known === undefined || known.version === "")) found.set(key, claim)
    }
    return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  })
