import type { DryRunPlan, InstallWish, InvalidInput, UndeclaredDependency } from "@rangewright/domain"
import { dryRunOf } from "@rangewright/domain"
import type { LibraryFault, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { concludeInstall } from "./conclude-install.ts"
import { type InstallServices, installStepsOf, performInstallStep } from "./install-steps.ts"
import type { Installation } from "./installation.ts"
import type { ItemOutcome } from "./item-outcome.ts"
import { prepareInstall } from "./prepare-install.ts"

/** How an installation ended, item by item. */
export interface InstallResult {
  readonly outcomes: readonly ItemOutcome[]
  /** Of all blueprints of the source. */
  readonly undeclared: readonly UndeclaredDependency[]
}

/** Installs from a snapshot of a source. An item that fails leaves the others; only a store that does not work ends it. */
export const installFrom = (
  installation: Installation,
  wish: InstallWish,
): Effect.Effect<InstallResult, InvalidInput | StorageFault | LibraryFault, InstallServices> =>
  Effect.gen(function* () {
    const prepared = yield* prepareInstall(installation, wish)
    const performed: ItemOutcome[] = []
    for (const step of installStepsOf(prepared, wish.force ?? false))
      performed.push(...(yield* performInstallStep(installation, step)))
    const outcomes = yield* concludeInstall(installation, prepared.plan, performed, wish.noDeps ?? false)
    return { outcomes, undeclared: prepared.plan.undeclared }
  })

/** What `installFrom` would do; changes nothing. */
export const dryRunInstall = (
  installation: Installation,
  wish: InstallWish,
): Effect.Effect<
  { readonly plan: DryRunPlan; readonly undeclared: readonly UndeclaredDependency[] },
  InvalidInput | StorageFault | LibraryFault,
  InstallServices
> =>
  Effect.map(prepareInstall(installation, wish), ({ plan }) => ({
    plan: dryRunOf(installation.source, plan),
    undeclared: plan.undeclared,
  }))
