import { Conflict, isClosed, type Range } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { KmsRequest } from "../run/request.ts"

/** Completes "Cannot …". */
export const kmsDoing = ({ kind }: Pick<KmsRequest, "kind">, { id }: Pick<Range, "id">): string =>
  kind === "kms-license" ? `activate Windows on machines of range ${id}` : `set up a KMS host in range ${id}`

/** Fails in testing mode: machines reach no server then, and changes in them are rolled back. */
export const requireOpenRange = ({ testing }: Range, doing: string): Effect.Effect<void, Conflict> =>
  isClosed(testing)
    ? Effect.fail(new Conflict({ what: `Cannot ${doing}: testing is on`, hint: "Stop testing first." }))
    : Effect.void
