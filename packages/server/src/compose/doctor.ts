import { Doctor } from "@rangewright/application"
import type { LegacyData } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Config } from "../config/config.ts"
import type { Storage } from "./assemble.ts"
import type { BoundHypervisor } from "./hypervisor.ts"

/** The checks of the `doctor` command, run on the service's open database. */
export const doctorLayer = (
  config: Config,
  hypervisor: BoundHypervisor,
): Layer.Layer<never, never, Exclude<Storage, LegacyData>> =>
  Layer.effect(
    Doctor,
    Effect.gen(function* () {
      const context = yield* Effect.context<Exclude<Storage, LegacyData>>()
      const look = Effect.gen(function* () {
        // loaded on demand: no start needs it
        const { inspect } = yield* Effect.promise(() => import("../doctor/inspect.ts"))
        const findings = yield* Effect.promise(() => inspect(config, { hypervisor, inStore: Effect.runPromiseWith(context) }))
        return { at: new Date(yield* Clock.currentTimeMillis), findings }
      })
      const [recent, forget] = yield* Effect.cachedInvalidateWithTTL(look, "1 minute")
      return { recent, again: Effect.andThen(forget, recent) }
    }),
  )
