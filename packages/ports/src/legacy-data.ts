import type { LegacyInstallation } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** The data that an installation of the first generation left on this host. It is read, never changed. */
export class LegacyData extends Context.Service<
  LegacyData,
  {
    /** Where it is searched for, for display. */
    readonly place: string
    /** Undefined if there is none. Fails if it exists but cannot be read. */
    readonly read: Effect.Effect<LegacyInstallation | undefined, StorageFault>
  }
>()("rangewright/LegacyData") {}
