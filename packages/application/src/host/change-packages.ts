import { Failed, type Fault, installation, type UserId } from "@rangewright/domain"
import { anyEndOfRun, outcomeFault, RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { changeTexts, packagesRun, type PackageTarget } from "./packages-run.ts"

const keepRunning = "Running machines keep the emulator they were started with until they are shut down and started again."

/**
 * Installs these packages on all nodes in a run, and waits for its end; a caller that leaves does not end the run. Returns the outcome as
 * text.
 */
export const changePackages = (to: PackageTarget, by: UserId): Effect.Effect<string, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const { id } = yield* engine.start(packagesRun.request(installation, { to }), by)
    const state = yield* anyEndOfRun(changeTexts[to], id)
    const { steps, status } = state
    if (status !== "success") {
      const { message, hint } = outcomeFault(changeTexts[to], id, state)
      // hints of the node's own faults come first
      const hints = [...[...steps.values()].map(({ failure }) => failure?.hint), hint].filter((text) => text !== undefined)
      return yield* new Failed({ what: message, hint: hints.join(" ") })
    }
    const changed = [...steps.values()].flatMap(({ step, facts }) =>
      step.key.startsWith("node:") && facts?.changed === true ? [step.key.slice("node:".length)] : [],
    )
    if (changed.length === 0) return `All nodes had the ${to} packages already, and nothing was changed.`
    return `The ${to} packages are installed on ${changed.join(", ")}. ${keepRunning}`
  })
