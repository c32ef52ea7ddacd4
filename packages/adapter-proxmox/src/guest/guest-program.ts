import { coverOf } from "@rangewright/domain"
import { type GuestAutomation, GuestFault, type GuestTask, HypervisorFault, retryOf } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { GuestSilent, PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import type { Identity } from "../hypervisor/identity.ts"
import { lookUntil } from "../tasks/settlement.ts"
import { number, recordOf } from "../wire/read.ts"
import { factsOf, type Finished, finishedOf, linesOf } from "./stage-output.ts"

export interface GuestProgramOptions {
  /** Longest run of one stage. */
  readonly stageSeconds: number
  /** How long a guest may stay silent within a stage: some stages reboot it. */
  readonly silentSeconds: number
}

/**
 * How long a node may be unreachable within a stage before the run reports that it is waiting: longer than its services take to restart.
 */
const awaySeconds = 20

/** The guest agent's exec call accepts no more (parameter `input-data`). */
const maxInput = 65_536

/**
 * Runs stages with a program called `guest-stage` in the guest, through the guest agent's exec call: its argument is the stage's name, its
 * stdin the input as JSON, and it prints the result. The simulator's guests have that program, real ones do not, so this is a stand-in for
 * Ansible. Repeating a stage with the same input changes nothing, so starting it again is always safe.
 */
export const guestProgramAutomation = (
  client: PveClient,
  identity: Identity,
  options: GuestProgramOptions,
): Context.Service.Shape<typeof GuestAutomation> => {
  const doingOf = (task: GuestTask): string => `run stage ${task.stage}`
  const faultOf =
    (task: GuestTask) =>
    (error: HypervisorFault | GuestSilent): GuestFault => {
      const passing = error._tag === "GuestSilent" || retryOf(error) !== "never"
      const detail = error._tag === "GuestSilent" ? error.detail : error.facts.detail
      return new GuestFault({ doing: doingOf(task), machine: task.name, reason: passing ? "away" : "failed", detail })
    }

  const execute = Effect.fnUntraced(function* (
    task: GuestTask,
  ): Effect.fn.Return<number, HypervisorFault | GuestSilent | GuestFault> {
    const input = JSON.stringify(task.input)
    const doing = `${doingOf(task)} on ${task.name}`
    if (Buffer.byteLength(input) > maxInput)
      return yield* new GuestFault({
        doing: doingOf(task),
        machine: task.name,
        reason: "unsupported",
        detail: `its input has ${Buffer.byteLength(input)} bytes; the guest agent takes at most ${maxInput}`,
      })
    // verified anew: what runs in a guest cannot be undone
    identity.forget(task.machine.vmid)
    const reply = yield* identity.at(task.machine, doing, ({ node }) =>
      client.guest.post(
        path`/nodes/${node}/qemu/${task.machine.vmid}/agent/exec`,
        { command: ["guest-stage", task.stage], "input-data": input },
        { doing },
      ),
    )
    const pid = number(recordOf(reply.data), "pid")
    if (pid !== undefined) return pid
    return yield* new HypervisorFault({ doing, reason: "unknown-effect", detail: "the answer names no process" })
  })

  /**
   * The program's end; `lost` when the guest does not know the process (it rebooted, or the end was read before); undefined while it runs.
   */
  const look = Effect.fnUntraced(function* (
    task: GuestTask,
    pid: number,
  ): Effect.fn.Return<Finished | "lost" | undefined, HypervisorFault | GuestSilent> {
    const doing = `${doingOf(task)} on ${task.name}`
    const answer = yield* identity
      .at(task.machine, doing, ({ node }) =>
        client.guest.get(path`/nodes/${node}/qemu/${task.machine.vmid}/agent/exec-status`, { pid }, { doing }),
      )
      .pipe(
        Effect.map((reply) => finishedOf(recordOf(reply.data))),
        Effect.catchIf(
          (error): error is HypervisorFault =>
            error._tag === "HypervisorFault" && (error.facts.reason === "failed" || error.facts.reason === "invalid"),
          () => Effect.succeed("lost" as const),
        ),
      )
    return answer
  })

  const patienceWith = (failure: HypervisorFault | GuestSilent): number => {
    if (failure._tag === "HypervisorFault") return retryOf(failure) !== "never" ? awaySeconds : 0
    // in a guest that is off the program has ended, and nothing is known to start the guest
    return failure.off ? 0 : options.silentSeconds
  }

  const maxStarts = 3

  const finish = Effect.fnUntraced(function* (
    task: GuestTask,
    firstPid: number,
  ): Effect.fn.Return<Finished, HypervisorFault | GuestSilent | GuestFault> {
    let pid = firstPid
    let starts = 1
    let silentSince: number | undefined
    const end = yield* lookUntil(
      (waited) =>
        Effect.gen(function* () {
          const seen = yield* Effect.result(look(task, pid))
          if (seen._tag === "Failure") {
            silentSince ??= waited
            return waited - silentSince >= patienceWith(seen.failure) ? yield* Effect.fail(seen.failure) : undefined
          }
          silentSince = undefined
          if (seen.success !== "lost") return seen.success
          if ((starts += 1) > maxStarts)
            return yield* new GuestFault({
              doing: doingOf(task),
              machine: task.name,
              reason: "failed",
              detail: `the guest lost the process ${maxStarts} times`,
            })
          pid = yield* execute(task)
          return undefined
        }),
      { seconds: options.stageSeconds, fastest: 0.5, slowest: 3 },
    )
    if (end !== undefined) return end
    return yield* new GuestFault({
      doing: doingOf(task),
      machine: task.name,
      reason: "timeout",
      detail: `it did not end within ${Math.round(options.stageSeconds / 60)} min`,
    })
  })

  const own = <A>(
    task: GuestTask,
    effect: Effect.Effect<A, HypervisorFault | GuestSilent | GuestFault>,
  ): Effect.Effect<A, GuestFault> =>
    Effect.mapError(effect, (error) => (error._tag === "GuestFault" ? error : faultOf(task)(error)))

  return {
    roles: () => Effect.succeed(undefined),
    dispatch: (task) =>
      own(
        task,
        Effect.map(execute(task), (pid) => ({ token: { pid } })),
      ),
    settle: Effect.fnUntraced(function* (task, token) {
      const pid = number(recordOf(token), "pid") ?? (yield* own(task, execute(task)))
      const end = yield* own(task, finish(task, pid))
      if (end.exitCode === 0) return { facts: factsOf(end.output), output: linesOf(end.output, task.input) }
      const words = coverOf(task.input)(end.errors === "" ? end.output : end.errors)
        .trim()
        .slice(-2000)
      return yield* new GuestFault({
        doing: doingOf(task),
        machine: task.name,
        reason: "failed",
        detail: words === "" ? `it ended with exit code ${end.exitCode}` : words,
      })
    }),
  }
}
