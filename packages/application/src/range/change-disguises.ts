import {
  type Disguise,
  Disguise as DisguiseSchema,
  type Fault,
  InvalidInput,
  type Range,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import { Machines, type RangeMachine } from "@rangewright/ports"
import type { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AntiSandboxOutcome, AntiSandboxPayload } from "../wire/anti-sandbox.ts"
import type { AntiSandboxRequest } from "../run/request.ts"
import { bulkResult, itemsOf, type Outcome } from "../wire/bulk.ts"
import { endOrWait, errorOf, stepsByMachine } from "./machine-outcomes.ts"
import { startRun } from "./run-to-end.ts"

const itemsAtMost = 1000

const readable = Schema.decodeUnknownOption(DisguiseSchema)

const problems: Readonly<Record<string, string>> = {
  processorSpeed: "give it in megahertz, as a number of two to five digits",
  registeredOwner:
    "letters, digits, spaces and the characters . , _ ( ) @ / & + # : ' - only, at most 63, and a letter or digit first",
  registeredOrganization:
    "letters, digits, spaces and the characters . , _ ( ) @ / & + # : ' - only, at most 63, and a letter or digit first",
}
const firmwareProblem =
  "English letters, digits, spaces and the characters . , _ ( ) @ / & + # : ' - only, at most 63, and a letter or digit first"

/** The disguise that a caller asks for. */
export const disguiseOf = (doing: string, body: typeof AntiSandboxPayload.Type): Effect.Effect<Disguise, InvalidInput> => {
  const said = Object.fromEntries(Object.entries(body).filter(([name, value]) => name !== "vmIDs" && value !== ""))
  const plain = { vendor: "Dell", dropFiles: false, browserData: false, persist: false } as const
  const whole = readable({ ...plain, ...said })
  if (Option.isSome(whole)) return Effect.succeed(whole.value)
  const issues = Object.entries(said).flatMap(([path, value]) =>
    Option.isSome(readable({ ...plain, [path]: value })) ? [] : [{ path, message: problems[path] ?? firmwareProblem }],
  )
  return Effect.fail(
    new InvalidInput({ what: `Cannot ${doing}: ${issues[0]?.path ?? "a text"} contains characters that cannot be used`, issues }),
  )
}

/** The machines that a caller names by VMID or name, and those that are not in the range. */
const named = (range: Range, items: readonly string[], machines: readonly RangeMachine[]) =>
  items.map((item) => ({
    item,
    machine: machines.find(({ vmid, name }) => (/^\d{1,9}$/u.test(item) ? vmid === Number(item) : name === item)),
    refused: `${/^\d{1,9}$/u.test(item) ? `VM ${item}` : item} is not a machine of range ${range.id}`,
  }))

/**
 * Disguises machines of a range, or removes their disguises, and waits for it. Failures are reported per machine. `doing` completes "Cannot
 * …".
 */
export const changeDisguises = (
  doing: string,
  range: Range,
  vmIDs: string,
  disguise: Disguise | undefined,
  by: UserId,
): Effect.Effect<typeof AntiSandboxOutcome.Type, Fault, Machines | RunEngine> =>
  Effect.gen(function* () {
    const parts = vmIDs.split(",").filter((part) => part.trim() !== "")
    const items = yield* itemsOf(doing, "vmIDs", parts)
    if (items.length > itemsAtMost)
      return yield* new InvalidInput({
        what: `Cannot ${doing}: ${items.length} machines are named`,
        issues: [{ path: "vmIDs", message: `name ${itemsAtMost} at most` }],
      })
    const asked = named(range, items, yield* Machines.use((machines) => machines.ofRange(range.id)))
    const vmids = [...new Set(asked.flatMap(({ machine }): readonly Vmid[] => (machine === undefined ? [] : [machine.vmid])))]
    if (vmids.length === 0) return bulkResult(asked)
    const request: AntiSandboxRequest =
      disguise === undefined ? { kind: "anti-sandbox-disable", vmids } : { kind: "anti-sandbox-enable", vmids, disguise }
    const head = yield* startRun(doing, range, request, by)
    const { state, away } = yield* endOrWait(doing, head.id)
    const unfinished = away === undefined ? undefined : `${away.message}. ${away.hint}`
    const steps = stepsByMachine(state)
    // without the record that comes first, nothing is done to any machine
    const noted = [...state.steps.values()].filter(({ step }) => step.action.kind === "record-disguises")
    const outcomes = asked.map(({ item, machine, refused }): Outcome => {
      if (machine === undefined) return { item, refused }
      const own = steps.get(machine.vmid) ?? []
      const isRefused = own.some(({ step }) => step.action.kind === "refuse")
      return { item, refused: errorOf(isRefused ? own : [...noted, ...own], state, unfinished) }
    })
    const told = [...state.steps.values()].flatMap(({ step, facts }) =>
      (facts?.warnings ?? []).map((warning) => (step.machine === undefined ? warning : `${step.machine}: ${warning}`)),
    )
    const warnings = [...(state.plan?.notes ?? []), ...told]
    return { ...bulkResult(outcomes), ...(warnings.length === 0 ? {} : { warnings }), runID: head.id }
  })
