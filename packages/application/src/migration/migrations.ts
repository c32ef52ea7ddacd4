import type { Fault, MigrationDirection, MigrationPlan, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MigrationReportObject, MigrationStatusObject } from "../wire/migration.ts"
import { importLegacy } from "./import-legacy.ts"
import { migrateToEnd } from "./migrate-to-end.ts"
import { planNetworks } from "./plan-networks.ts"
import { readMigrationReport, readMigrationStatus } from "./read-report.ts"

/** Migrations of the whole installation, for operations. */
export class Migrations extends Context.Service<
  Migrations,
  {
    readonly status: Effect.Effect<typeof MigrationStatusObject.Type, Fault>
    readonly report: Effect.Effect<typeof MigrationReportObject.Type, Fault>
    /** See `planNetworks`. */
    readonly plan: (direction: MigrationDirection, createZone: boolean) => Effect.Effect<MigrationPlan, Fault>
    /** See `migrateToEnd`. */
    readonly networks: (direction: MigrationDirection, createZone: boolean, by: UserId) => Effect.Effect<string, Fault>
    /** See `importLegacy`. */
    readonly legacy: (dryRun: boolean) => Effect.Effect<string, Fault>
  }
>()("rangewright/Migrations") {}

type Needs = Effect.Services<
  | ReturnType<typeof planNetworks | typeof migrateToEnd | typeof importLegacy>
  | typeof readMigrationStatus
  | typeof readMigrationReport
>

export const migrationsLayer = Layer.effect(
  Migrations,
  Effect.gen(function* () {
    const services = yield* Effect.context<Needs>()
    return {
      status: Effect.provideContext(readMigrationStatus, services),
      report: Effect.provideContext(readMigrationReport, services),
      plan: (direction, createZone) => Effect.provideContext(planNetworks(direction, createZone), services),
      networks: (direction, createZone, by) => Effect.provideContext(migrateToEnd(direction, createZone, by), services),
      legacy: (dryRun) => Effect.provideContext(importLegacy(dryRun), services),
    }
  }),
)
