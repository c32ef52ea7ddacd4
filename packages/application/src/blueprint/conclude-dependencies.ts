import { type Blueprint, installationOf, sayFailures } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { failuresAmong, type ItemOutcome } from "../source/item-outcome.ts"

/** Records on a blueprint how the installation of its requirements ended: with these failures, or none. */
export const noteInstallation = ({ id }: Pick<Blueprint, "id">, failures: readonly string[]) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* blueprints.setInstallation(id, installationOf(failures, at))
  })

/** The same from the outcome of each requirement. */
export const concludeDependencies = (blueprint: Pick<Blueprint, "id">, outcomes: readonly ItemOutcome[]) =>
  noteInstallation(
    blueprint,
    failuresAmong(outcomes).map((failure) => sayFailures([failure])),
  )
