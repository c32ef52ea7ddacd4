import { type MigrationDirection, planMigration, planReturn } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { doubtsAbout } from "./doubts.ts"
import { emptyInstallation, migrationOptions, readInstallation } from "./read-installation.ts"

/**
 * Plans the move of the installation's networks from the current state; changes nothing. On a single node it makes hardly any call to the
 * hypervisor. The steps do not depend on snapshots: without them only the warnings about snapshots are missing, and many calls are saved.
 */
export const planNetworks = (
  direction: MigrationDirection,
  createZone: boolean,
  look: { readonly snapshots: boolean } = { snapshots: true },
) =>
  Effect.gen(function* () {
    const options = yield* migrationOptions(createZone)
    const plan = direction === "to-sdn" ? planMigration : planReturn
    if (!options.clusterMode) return plan(emptyInstallation, options)
    const installation = yield* readInstallation(options.zone, { ...look, accounts: true })
    return plan({ ...installation, doubts: yield* doubtsAbout(installation.machines) }, options)
  })
