import { type MigrationDirection, planMigration, planReturn } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { doubtsAbout } from "./doubts.ts"
import { emptyInstallation, migrationOptions, readInstallation } from "./read-installation.ts"

/**
 * The plan that would take the installation's networks there now; changes nothing. On a single node the hypervisor is hardly asked. The
 * steps do not depend on snapshots: without them only the warnings about them are missing, and many calls are saved.
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
