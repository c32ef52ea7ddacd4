import {
  activationProblem,
  clientKeyFor,
  type Fault,
  isFault,
  isVmid,
  type Range,
  RangeBusy,
  rangeSubject,
  type RunState,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import {
  type GuestAutomation,
  Machines,
  type RangeMachine,
  Ranges,
  RunJournal,
  type SecretStore,
  type Users,
} from "@rangewright/ports"
import { anyEndOfRun, type RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import type { KmsRequest } from "../run/request.ts"
import { startRun } from "../range/run-to-end.ts"
import { Settings } from "../settings.ts"
import { bulkResult, type Outcome, reasonOf } from "../wire/bulk.ts"
import { obstacleOf } from "./able-machines.ts"
import { askedAtOnce, askingRange } from "./ask-in-turn.ts"
import { askWindows, requireAutomation } from "./ask-windows.ts"
import { configuredKms, kmsHostFor } from "./kms-host.ts"
import { sealKey } from "./license-key.ts"
import { kmsDoing, requireOpenRange } from "./open-range.ts"

type Chosen = Extract<KmsRequest, { readonly kind: "kms-license" }>["machines"][number]

/** Fails while a run of the range may be changing its machines. */
export const requireNoRun = Effect.fnUntraced(function* (range: Range) {
  const journal = yield* RunJournal
  const run = yield* journal.active(rangeSubject(range.id))
  if (run !== undefined) yield* new RangeBusy({ rangeId: range.id, runId: run.id, doing: run.kind })
})

/** The key to activate a machine with, or why nothing is started on it. */
const chosenFor = Effect.fnUntraced(function* (doing: string, machine: RangeMachine, own: string | undefined) {
  const report = yield* askWindows(doing, machine)
  const problem = activationProblem(report, own !== undefined)
  if (problem !== undefined) return `${machine.name ?? `VM ${machine.vmid}`}: ${problem}`
  const key =
    own === undefined
      ? { client_license_key: clientKeyFor(report.edition, report.build) ?? "" }
      : { sealed_license_key: yield* sealKey(machine.rangeId, machine.vmid, own) }
  const chosen: Chosen = { vmid: machine.vmid, key }
  return chosen
})

/** Why a machine was not activated; undefined: its step found it activated. */
const failureOf = ({ steps, status, message }: RunState, vmid: Vmid): string | undefined => {
  const step = [...steps.values()].find(({ step: { action } }) =>
    action.kind === "refuse" ? action.vmid === vmid : "machine" in action && action.machine.vmid === vmid,
  )
  if (step?.phase === "settled") return undefined
  if (step?.failure === undefined) return step?.skippedBecause ?? (message === "" ? `the run was ${status}` : message)
  return step.failure.hint === undefined ? step.failure.message : `${step.failure.message}. ${step.failure.hint}`
}

/**
 * Activates machines of a range, and waits for it. Machines that cannot be activated are reported one by one, and nothing is started on
 * them: each is asked for its edition first. `own`: the caller's product key.
 */
export const licenseMachines = (
  range: Range,
  items: readonly string[],
  own: string | undefined,
  by: UserId,
): Effect.Effect<
  ReturnType<typeof bulkResult> & { readonly runID?: string },
  Fault,
  GuestAutomation | Machines | Ranges | RunEngine | RunJournal | SecretStore | Settings | Users
> =>
  Effect.gen(function* () {
    const machineStore = yield* Machines
    const doing = kmsDoing({ kind: "kms-license" }, range)
    const { host, port } = yield* kmsHostFor(yield* configuredKms(doing), doing)
    yield* requireOpenRange(range, doing)
    yield* requireAutomation(doing)
    yield* requireNoRun(range)
    const machines = new Map((yield* machineStore.ofRange(range.id)).map((machine) => [String(machine.vmid), machine]))
    const obstacle = yield* obstacleOf(range)
    const look = (
      item: string,
    ): Effect.Effect<readonly [item: string, found: Chosen | string], never, GuestAutomation | SecretStore> => {
      const machine = machines.get(item)
      const problem =
        machine === undefined
          ? isVmid(Number(item))
            ? `VM ${item} is not a machine of range ${range.id}`
            : "this is not a VMID"
          : obstacle(machine)
      if (machine === undefined || problem !== undefined) return Effect.succeed([item, problem ?? ""])
      return chosenFor(doing, machine, own).pipe(
        Effect.catch((fault) => Effect.succeed(isFault(fault) ? reasonOf(fault) : String(fault))),
        Effect.map((found) => [item, found] as const),
      )
    }
    const looked = yield* askingRange(range.id, doing)(Effect.forEach(items, look, { concurrency: askedAtOnce }))
    const chosen = looked.flatMap(([, found]) => (typeof found === "string" ? [] : [found]))
    if (chosen.length === 0)
      return bulkResult(looked.map(([item, found]) => ({ item, refused: typeof found === "string" ? found : undefined })))
    const head = yield* startRun(doing, range, { kind: "kms-license", host, port, machines: chosen }, by)
    const state = yield* anyEndOfRun(doing, head.id)
    const outcomes = looked.map(([item, found]): Outcome => {
      return { item, refused: typeof found === "string" ? found : failureOf(state, found.vmid) }
    })
    return { ...bulkResult(outcomes), runID: head.id }
  })
