import {
  type Action,
  cardText,
  hardwareText,
  type MachineDetail,
  type MachineRef,
  type MachineSettings,
} from "@rangewright/domain"
import { Hypervisor, HypervisorFault, retryOf } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { insist } from "./insist.ts"

type RollBack = Extract<Action, { readonly kind: "roll-back" }>
type Configure = Extract<Action, { readonly kind: "configure" }>

/** What sets a machine that was rolled back to what it had before; undefined: a plan of an older version, which has a step of its own for it. */
export const afterRollBack = ({ machine, settings }: RollBack): Configure | undefined =>
  settings === undefined ? undefined : { kind: "configure", machine, settings }

/** The cards that the machine has now, as far as the hypervisor says so. */
const cardsNow = ({ node, vmid }: MachineRef) =>
  Hypervisor.use((hypervisor) => hypervisor.detail(node, vmid)).pipe(
    Effect.map(({ nics }) => (nics.length === 0 ? "none" : nics.map(cardText).join("; "))),
    Effect.catch(() => Effect.succeed("those of the snapshot, which cannot be read now")),
  )

/** Says what the machine is left with. The rollback is over, so only a hypervisor that is unreachable is a reason to begin the step again: it waits. */
const leftWith = Effect.fnUntraced(function* ({ machine, snapshot }: RollBack, fault: HypervisorFault) {
  const { facts } = fault
  const retry = retryOf(fault)
  return new HypervisorFault({
    doing: `restore the settings that VM ${machine.vmid} (${machine.mark.machine}) had before its rollback to snapshot ${snapshot}`,
    reason: retry === "wait" || retry === "never" ? facts.reason : "failed",
    detail: `${facts.detail}. It is rolled back, and its network cards are now: ${yield* cardsNow(machine)}`,
    hint: [
      ...(facts.hint === undefined ? [] : [facts.hint]),
      "A deploy of the range, powering it on or another rollback does that. Do not start it on the hypervisor before that.",
    ].join(" "),
  })
})

/**
 * Sets a machine that was rolled back to what it had before. A part of the step that rolls it back, so that no abort comes between the two. May be
 * repeated, also after a restart.
 */
export const setBack = (action: RollBack, configure: Configure): Effect.Effect<void, HypervisorFault, Hypervisor> =>
  Hypervisor.use((hypervisor) =>
    Effect.flatMap(hypervisor.dispatch(configure), ({ token }) => hypervisor.settle(configure, token)),
  ).pipe(
    (set) => insist(set, "while-reached"),
    Effect.catch((fault) => Effect.flatMap(leftWith(action, fault), Effect.fail)),
    Effect.asVoid,
  )

const textOf: readonly ((has: Pick<MachineSettings, "cpus" | "memoryMiB" | "balloonMiB" | "nics">) => string)[] = [
  ({ cpus }) => `${cpus} ${cpus === 1 ? "processor" : "processors"}`,
  ({ memoryMiB }) => `${memoryMiB} MiB of memory`,
  ({ balloonMiB }) => (balloonMiB === undefined ? "no ballooning" : `ballooning down to ${balloonMiB} MiB`),
  ({ nics }) => nics.map((nic) => `${cardText(nic)} (${nic.model} ${nic.mac})`).join("; ") || "no network card",
]

/** What nobody knows, or nobody wants changed, is as wanted. */
const showsAsWanted = ({ hardware: has }: Pick<MachineDetail, "hardware">, { hardware: wanted }: MachineSettings): boolean =>
  has === undefined || wanted === undefined || hardwareText(has) === hardwareText(wanted)

/** Warnings of what a machine that runs is set to, and takes over only when it starts again. */
export const untilItStarts = (
  { machine }: RollBack,
  { settings }: Configure,
): Effect.Effect<readonly string[], never, Hypervisor> =>
  Hypervisor.use((hypervisor) => hypervisor.detail(machine.node, machine.vmid)).pipe(
    (read) => insist(read, "while-reached"),
    Effect.map((has) => [
      ...textOf.flatMap((text) =>
        text(has) === text(settings)
          ? []
          : [`it has ${text(has)} until it is stopped and started again, and ${text(settings)} then`],
      ),
      ...(showsAsWanted(has, settings)
        ? []
        : ["it shows the hardware of the snapshot, with another disguise or none, until it is stopped and started again"]),
    ]),
    Effect.catch((fault) =>
      Effect.succeed([`what it was set to may count only when it is stopped and started again: ${fault.message}`]),
    ),
  )
