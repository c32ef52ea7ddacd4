import { importLegacy, readMigrationReport, readMigrationStatus } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import type * as Effect from "effect/Effect"
import type { Service } from "../../compose/assemble.ts"
import type { AppRuntime } from "../../compose/tokens.ts"
import { recorded } from "../recorded.ts"
import { moveNetworks } from "./networks.ts"
import { reportText } from "./report-text.ts"
import { whileRecovering } from "./while-recovering.ts"
import { exit, type Options } from "./words.ts"

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Performs the command and prints its result; returns the exit status. Rejects with a fault. */
export const perform = async (runtime: AppRuntime, options: Options): Promise<number> => {
  const run = <A>(effect: Effect.Effect<A, Fault, Service>): Promise<A> =>
    runtime.runPromise(effect as Effect.Effect<A, unknown, Service>)
  switch (options.what) {
    case "sdn":
      return moveNetworks(runtime, "to-sdn", options)
    case "rollback":
      return moveNetworks(runtime, "to-bridges", options)
    case "status": {
      const status = await run(readMigrationStatus)
      say(options.json ? JSON.stringify(status, null, 2) : status.message)
      return status.needs_migration ? exit.needed : exit.done
    }
    case "report": {
      const report = await run(readMigrationReport)
      say(options.json ? JSON.stringify(report, null, 2) : reportText(report))
      return exit.done
    }
    case "sqlite": {
      const done = options.dryRun ? importLegacy(true) : recorded("migrate sqlite", whileRecovering(importLegacy(false)))
      const result = await run(done)
      say(options.json ? JSON.stringify({ result }) : result)
      return exit.done
    }
  }
}
