import type { HeldAccess } from "@rangewright/domain"
import { AccessRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Updates what is held; retried when somebody else updated it in between. */
export const changeHeld = (change: (held: HeldAccess) => HeldAccess) =>
  Effect.gen(function* () {
    const records = yield* AccessRecords
    const { held, version } = yield* records.held
    yield* records.hold(change(held), version)
  }).pipe(Effect.retry({ times: 5, while: (fault) => fault._tag === "StaleVersion" }))
