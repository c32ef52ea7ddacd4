import { createInterface } from "node:readline/promises"
import { migrationOutcome, migrationPreview, planNetworks, startMigration } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import {
  type Fault,
  installation,
  type MigrationDirection,
  type MigrationPlan,
  renderMigration,
  rootUserId,
  type RunHead,
  type RunState,
} from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Service } from "../../compose/assemble.ts"
import type { AppRuntime } from "../../compose/tokens.ts"
import { UsageError } from "../arguments.ts"
import { recorded } from "../recorded.ts"
import { untilTold } from "../serve.ts"
import { failed } from "./failed.ts"
import { migrationView } from "./progress.ts"
import { whileRecovering } from "./while-recovering.ts"
import { exit, type Options } from "./words.ts"

const say = (text: string): void => void process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)

/** Progress goes to stderr, so that a program can read the answer on stdout. */
const screen = () => ({
  live: process.stderr.isTTY,
  columns: process.stderr.columns > 0 ? process.stderr.columns : 120,
  write: (text: string) => void process.stderr.write(text),
})

/** Follows the run to its end, and works on it when no other process does. */
const follow = (run: RunHead): Effect.Effect<RunState, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    // the same clock as the journal's
    const view = yield* Clock.clockWith((clock) =>
      Effect.sync(() => migrationView(screen(), () => clock.currentTimeMillisUnsafe())),
    )
    yield* whileRecovering(Stream.runForEach(engine.events(run.id, 0), (entry) => Effect.sync(() => view.entry(entry))))
    view.end()
    return yield* engine.state(run.id)
  })

const tellPlan = ({ json }: Options, plan: MigrationPlan): void =>
  say(json ? JSON.stringify(migrationPreview(plan), null, 2) : renderMigration(plan))

const agrees = async (plan: MigrationPlan): Promise<boolean> => {
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new UsageError("There is no terminal to ask on: repeat with --yes")
  say(renderMigration(plan))
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await asking.question("Continue? [y/N] ").finally(() => asking.close())
  return /^y(?:es)?$/iu.test(answer.trim())
}

/** The unfinished run of the installation: joined if it has the requested direction, otherwise a reason to refuse. */
const running = Effect.flatMap(RunJournal, (journal) => journal.active(installation))

/**
 * Plans, asks for confirmation, moves the networks as a run and follows it, or joins a run in progress. Uses the same functions as the HTTP
 * interface, but waits longer for an unreachable hypervisor.
 */
export const moveNetworks = async (runtime: AppRuntime, direction: MigrationDirection, options: Options): Promise<number> => {
  const stop = new AbortController()
  const told = untilTold().then(() => stop.abort())
  const perform = <A>(effect: Effect.Effect<A, Fault, Service>): Promise<A> =>
    runtime.runPromise(effect as Effect.Effect<A, unknown, Service>, { signal: stop.signal })
  let run: RunHead | undefined
  const work = async (): Promise<number> => {
    const going = options.dryRun ? undefined : await perform(running)
    if (going === undefined) {
      const plan = await perform(planNetworks(direction, options.createZone))
      const barred = plan.blockers.length > 0
      if (options.dryRun || barred || plan.idle !== undefined) {
        tellPlan(options, plan)
        return barred ? exit.failed : exit.done
      }
      if (!options.yes && !(await agrees(plan))) {
        say("Nothing was changed.")
        return exit.failed
      }
    }
    run = await perform(recorded(`migrate ${options.what}`, startMigration(direction, options.createZone, rootUserId)))
    if (run === undefined) return exit.done
    const { id } = run
    process.stderr.write(going === undefined ? `Run ${id}\n` : `Run ${id} is already running: this command joins it.\n`)
    const state = await perform(follow(run))
    const result = await perform(migrationOutcome(direction, options.createZone, id, state))
    say(options.json ? JSON.stringify({ result, runID: id }) : result)
    return exit.done
  }
  const interrupted = told.then(() => {
    process.stderr.write(run === undefined ? "Stopped. Nothing was changed.\n" : left(run))
    return exit.interrupted
  })
  return Promise.race([
    work().catch((fault: unknown) => (stop.signal.aborted ? interrupted : failed(fault, options))),
    interrupted,
  ])
}

const left = ({ id }: RunHead): string =>
  `Stopped, but run ${id} is not: a running service continues it, otherwise the service at its next start, or this command when you run it again.\n`
