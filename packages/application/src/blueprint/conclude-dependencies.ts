import { type Blueprint, installationOf, sayFailures } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { failuresAmong, type ItemOutcome } from "../source/item-outcome.ts"

/** Notes on a blueprint how the installation of what it requires ended (contract C 12.5). */
export const concludeDependencies = ({ id }: Pick<Blueprint, "id">, outcomes: readonly ItemOutcome[]) =>
  Effect.gen(function* () {
    const lines = failuresAmong(outcomes).map((failure) => sayFailures([failure]))
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* (yield* Blueprints).setInstallation(id, installationOf(lines, at))
  })
