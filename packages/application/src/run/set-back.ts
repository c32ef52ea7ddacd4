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

/**
 * The action that restores the settings of a machine after its rollback; undefined: the plan is of an older version, which has a separate
 * step for that.
 */
export const afterRollBack = ({ machine, settings }: RollBack): Configure | undefined =>
  settings === undefined ? undefined : { kind: "configure", machine, settings }

/** Text of the network cards that the machine has now, as far as they can be read. */
const cardsNow = ({ node, vmid }: MachineRef) =>
  Hypervisor.use((hypervisor) => hypervisor.detail(node, vmid)).pipe(
    Effect.map(({ nics }) => (nics.length === 0 ? "none" : nics.map(cardText).join("; "))),
    Effect.catch(() => Effect.succeed("those of the snapshot, which cannot be read now")),
  )

/**
 * The fault with what the machine is left with. The rollback itself is done, so only an unreachable hypervisor is a reason to begin the
 * step again: the step waits then.
 */
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
 * Restores the settings that a machine had before its rollback. Part of the rollback step, so that no abort comes between the two. May be
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

/** Hardware that is unknown, or not to be changed, counts as correct. */
const showsAsWanted = ({ hardware: has }: Pick<MachineDetail, "hardware">, { hardware: wanted }: MachineSettings): boolean =>
  has === undefined || wanted === undefined || hardwareText(has) === hardwareText(wanted)

/** Warnings about settings that a running machine gets only when it is started again. */
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
      Effect.succeed([`its settings may take effect only when it is stopped and started again: ${fault.message}`]),
    ),
  )
