import type { LegacyInstallation } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** What an installation of the first generation left on this host. It is read and never changed. */
export class LegacyData extends Context.Service<
  LegacyData,
  {
    /** Where it is looked for, for people. */
    readonly place: string
    /** Undefined when there is none. Fails when there is one and it cannot be read. */
    readonly read: Effect.Effect<LegacyInstallation | undefined, StorageFault>
  }
>()("rangewright/LegacyData") {}
