import { Conflict, type Fault, type PowerChange, type Range, type UserId, howTo } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RunEngine } from "@rangewright/run-engine"
import { namedMachines } from "./machine-names.ts"
import { runToEnd } from "./run-to-end.ts"

/** Names, VMIDs (also as text), or `all` alone. */
export const PowerBody = Schema.Struct({
  machines: Schema.optionalKey(Schema.Array(Schema.Union([Schema.String, Schema.Int]))),
})

/** The same, and the longest wait for a guest that is asked to shut down, in seconds. */
export const ShutdownBody = Schema.Struct({
  ...PowerBody.fields,
  timeout: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3600 }))),
})

const words: Readonly<Record<PowerChange, { readonly doing: string; readonly done: string }>> = {
  on: { doing: "power on", done: "powered on" },
  off: { doing: "power off", done: "powered off" },
  shutdown: { doing: "shut down", done: "shut down" },
  reboot: { doing: "reboot", done: "rebooted" },
  reset: { doing: "reset", done: "reset" },
}

/**
 * Changes the power of machines of a range and waits for it; those already in that state stay as they are. Off is a hard stop. Nothing is
 * changed when a name matches no machine of this range, or when a machine that is to restart is off, unless all are named. Returns the text
 * of the answer.
 */
export const changePower = (
  range: Range,
  { machines: wanted, timeout }: typeof ShutdownBody.Type,
  change: PowerChange,
  by: UserId,
): Effect.Effect<string, Fault, Machines | RunEngine> =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const doing = `${words[change].doing} machines of range ${range.id}`
    if (wanted === undefined || wanted.length === 0)
      return yield* new Conflict({ what: `Cannot ${doing}: no machine was named`, hint: 'Name machines, or ["all"].' })
    const named = namedMachines(wanted, yield* machines.ofRange(range.id))
    if (!named.known)
      return yield* new Conflict({
        what: `Cannot ${doing}: ${named.unknown.join(", ").slice(0, 500)} not found in it`,
        hint: `List its machines: ${howTo("GET /range", {}, range.id)}.`,
      })
    const [first] = named.machines
    if (first === undefined) return `Range ${range.id} has no machines`
    const vmids = named.machines.map(({ vmid }) => vmid)
    const isRestart = change === "reboot" || change === "reset"
    const request = { kind: "power", change, vmids, timeoutSeconds: timeout, ...(isRestart && { whereOn: named.all }) } as const
    const { plan } = yield* runToEnd(doing, range, request, by)
    // those that were off stay off
    const count = isRestart ? plan?.changes.filter(({ kind }) => kind === "change").length : named.machines.length
    const what = named.machines.length === 1 ? (first.name ?? `VM ${first.vmid}`) : `${count} machines`
    return `${what} of range ${range.id} ${words[change].done}`
  })
