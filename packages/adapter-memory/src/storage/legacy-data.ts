import { LegacyData } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryStore } from "./memory-store.ts"

export const legacyDataLayer = (store: MemoryStore): Layer.Layer<LegacyData> =>
  Layer.succeed(LegacyData, { place: "memory", read: Effect.sync(() => store.legacy) })
