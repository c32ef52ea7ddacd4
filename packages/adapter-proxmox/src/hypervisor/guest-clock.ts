import type { MachineRef } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GuestSilent } from "../client/client.ts"
import { path } from "../client/form.ts"
import { type Finished, finishedOf } from "../guest/stage-output.ts"
import { lookUntil } from "../tasks/settlement.ts"
import { number, recordOf } from "../wire/read.ts"
import type { MachineContext } from "./machine-kind.ts"

type Context = Pick<MachineContext, "client" | "identity">

/** Differences up to this many seconds are not worth a command in the guest. */
const worthSetting = 5
/** Difference allowed after setting the clock, in seconds: the command takes time to start. Kerberos tolerates five minutes. */
const closeEnough = 30
/** How long a guest resumed from its memory may take to answer, and the command to end. */
const answerSeconds = 15
const commandSeconds = 60

/** The earliest and latest possible time on the node, in seconds, and the time that the guest shows. */
interface Times {
  readonly from: number
  readonly to: number
  readonly shown: number
}

const differenceOf = ({ from, to, shown }: Times): number => (shown < from ? from - shown : Math.max(0, shown - to))

/** Undefined when it is not a valid time. */
const dateText = (seconds: number): string | undefined => {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** A command to set the clock that every system of this type has. */
const commandFor = (osType: string, seconds: number): readonly string[] =>
  osType.startsWith("w")
    ? [
        "powershell.exe",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        `Set-Date -Date ((New-Object DateTime 1970,1,1,0,0,0,([DateTimeKind]::Utc)).AddSeconds(${seconds}).ToLocalTime())`,
      ]
    : ["date", "-u", "-s", `@${seconds}`]

const nodeTime = Effect.fnUntraced(function* ({ client }: Context, node: string, doing: string) {
  const { data } = yield* client.get(path`/nodes/${node}/time`, {}, { doing })
  return number(recordOf(data), "time")
})

const readTimes = Effect.fnUntraced(function* (context: Context, ref: MachineRef, node: string, doing: string) {
  const from = yield* nodeTime(context, node, doing)
  const reply = yield* context.client.guest.get(path`/nodes/${node}/qemu/${ref.vmid}/agent/get-time`, {}, { doing })
  const to = yield* nodeTime(context, node, doing)
  const nanoseconds = number(recordOf(reply.data), "result")
  if (from === undefined || to === undefined) return "the time of its node is not known"
  if (nanoseconds === undefined || dateText(nanoseconds / 1e9) === undefined) return "its guest agent does not report the time"
  return { from, to, shown: nanoseconds / 1e9 } satisfies Times
})

/** The same for a guest that may need a moment to answer. */
const awaitTimes = (context: Context, ref: MachineRef, node: string, doing: string) =>
  lookUntil(
    (waited) =>
      readTimes(context, ref, node, doing).pipe(
        Effect.catchTag("GuestSilent", (silent) =>
          silent.off || waited >= answerSeconds ? Effect.fail(silent) : Effect.succeed(undefined),
        ),
      ),
    { seconds: answerSeconds, fastest: 1, slowest: 2 },
  ).pipe(Effect.map((times) => times ?? "its guest agent does not answer"))

/** Exit code of the command; undefined when it is not known in time. */
const run = Effect.fnUntraced(function* (
  { client }: Context,
  { vmid }: MachineRef,
  node: string,
  command: readonly string[],
  doing: string,
) {
  const reply = yield* client.guest.post(path`/nodes/${node}/qemu/${vmid}/agent/exec`, { command }, { doing })
  const pid = number(recordOf(reply.data), "pid")
  if (pid === undefined) return undefined
  return yield* lookUntil(
    () =>
      client.guest.get(path`/nodes/${node}/qemu/${vmid}/agent/exec-status`, { pid }, { doing }).pipe(
        Effect.map(({ data }) => finishedOf(recordOf(data))),
        // a new clock may confuse the agent for a moment
        Effect.catchTag("GuestSilent", () => Effect.succeed(undefined)),
      ),
    { seconds: commandSeconds, fastest: 0.2, slowest: 2 },
  )
})

const endText = (end: Finished | undefined): string => {
  if (end === undefined) return `the command in the guest did not end within ${commandSeconds} s`
  if (end.exitCode === 0) return "the command in the guest succeeded"
  const said = (end.errors === "" ? end.output : end.errors).trim().slice(0, 300)
  return `the command in the guest ended with exit code ${end.exitCode}${said === "" ? "" : ` (${said})`}`
}

const detailOf = (error: HypervisorFault | GuestSilent): string =>
  error._tag === "GuestSilent" ? `its guest agent does not answer (${error.detail})` : error.facts.detail

const setClock = Effect.fnUntraced(function* (context: Context, ref: MachineRef, doing: string) {
  // verified anew: a command that runs in a guest cannot be undone
  context.identity.forget(ref.vmid)
  return yield* context.identity.at(
    ref,
    doing,
    Effect.fnUntraced(function* ({ node, osType }): Effect.fn.Return<string | undefined, HypervisorFault | GuestSilent> {
      const before = yield* awaitTimes(context, ref, node, doing)
      if (typeof before === "string") return before
      if (differenceOf(before) <= worthSetting) return undefined
      const now = (yield* nodeTime(context, node, doing)) ?? before.to
      // even when its answer was lost: what the clock shows then decides
      const end = yield* Effect.result(run(context, ref, node, commandFor(osType, Math.floor(now)), doing))
      const after = yield* awaitTimes(context, ref, node, doing)
      if (typeof after === "string") return after
      const difference = Math.round(differenceOf(after))
      if (difference <= closeEnough) return undefined
      const because = Result.isFailure(end) ? detailOf(end.failure) : endText(end.success)
      return `${because}, and the clock still shows ${dateText(after.shown)}, ${difference} s off`
    }),
  )
})

const wayOut =
  "It shows the time of the snapshot until its own time service corrects it; a reboot (PUT /range/reboot) ends that at once"

/**
 * Sets the clock of a machine resumed from saved memory to its node's clock, through its guest agent. Returns why the clock could not be
 * set; undefined when it is right. Never fails: the machine was rolled back in any case.
 */
export const correctClock = (context: Context, ref: MachineRef): Effect.Effect<string | undefined> =>
  setClock(context, ref, `set the clock of VM ${ref.vmid} (${ref.mark.machine})`).pipe(
    Effect.catch((error) => Effect.succeed(detailOf(error))),
    Effect.map((because) => because && `its clock was not corrected: ${because}. ${wayOut}`),
  )
