import { isRouter } from "../machine/router.ts"
import { wanAddress } from "../network/addressing.ts"
import type { DesiredMachine } from "./desired.ts"
import { labelOf, type OwnMachine } from "./identify.ts"
import type { DeployInput } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import type { KeptMachine } from "./plan.ts"

/** The template that the VM was made from, if the configuration now names another one. */
export const otherTemplate = (machine: DesiredMachine, { mark }: OwnMachine): string | undefined =>
  mark.template === machine.template ? undefined : mark.template

/** Why an object stays although it is not as configured, for people. */
export const keptReason = ({ template }: KeptMachine): string =>
  template === undefined
    ? "not in the configuration: stays unless the deploy prunes"
    : `made from ${template.made}, not ${template.wanted}: stays unless the deploy replaces`

/** How many machines a sentence names. */
const namedAtMost = 10

const listed = (kept: readonly KeptMachine[], textOf: (kept: KeptMachine) => string): string =>
  [...kept.slice(0, namedAtMost).map(textOf), ...(kept.length > namedAtMost ? [`${kept.length - namedAtMost} more`] : [])].join(
    ", ",
  )

/** What a deploy leaves as it is although the configuration says otherwise, and how to remove it: a sentence or two for each kind. */
export const keptTexts = (kept: readonly KeptMachine[] = []): readonly string[] => {
  const unwanted = kept.filter(({ template }) => template === undefined)
  const older = kept.filter(({ template }) => template !== undefined)
  const label = ({ machine, vmid }: KeptMachine): string => `${machine} (VM ${vmid})`
  const made = (one: KeptMachine): string => `${label(one)} from ${one.template?.made}, not ${one.template?.wanted}`
  const byHand = "with DELETE /vm/{vmID} (on the command line: vm destroy)"
  return [
    ...(unwanted.length === 0
      ? []
      : [
          `Not in the configuration, and kept: ${listed(unwanted, label)}. A deploy with "prune": true removes what is not in the configuration; remove one VM ${byHand}.`,
        ]),
    ...(older.length === 0
      ? []
      : [
          `Made from another template than the configuration names, and kept: ${listed(older, made)}. A deploy with "replace": true creates them again, and so does any deploy after you remove a VM ${byHand}.`,
        ]),
  ]
}

/** Addresses that a VM has or claims to have: either way a new machine cannot use them. */
const heldBy = ({ range, world }: DeployInput, { observed }: OwnMachine): ReadonlySet<string | undefined> =>
  new Set([
    world.addresses.get(observed.vmid),
    ...(world.foreignAddresses?.get(observed.vmid) ?? []),
    ...(isRouter(observed, range.id) ? [wanAddress(range.number)] : []),
  ])

/**
 * Machines that are to get the address of a VM that stays: refused while that VM runs, because two machines with one address do not work. A
 * machine that has its address already is not affected, whatever others claim.
 */
export const takenAddresses = (
  input: DeployInput,
  machines: readonly DesiredMachine[],
  own: ReadonlyMap<string, OwnMachine>,
  staying: readonly OwnMachine[],
): { readonly issues: readonly PlanIssue[]; readonly notes: readonly string[] } => {
  const found = machines.flatMap((machine) => {
    const existing = own.get(machine.name)
    if (existing !== undefined && heldBy(input, existing).has(machine.address)) return []
    const holder = staying.find((other) => heldBy(input, other).has(machine.address))
    return holder === undefined ? [] : [{ machine, holder }]
  })
  const isOff = ({ holder }: (typeof found)[number]): boolean => holder.observed.power === "stopped"
  const subject = ({ machine, holder }: (typeof found)[number]): string =>
    `${machine.name} should get ${machine.address}, which ${labelOf(holder.observed)} has`
  return {
    issues: found
      .filter((one) => !isOff(one))
      .map((one): PlanIssue => ({
        code: "address-taken",
        message: `${subject(one)}: it is not in the configuration and stays`,
        hint: `Deploy with "prune": true to remove ${one.holder.mark.machine}, or remove it with DELETE /vm/${one.holder.observed.vmid} (on the command line: vm destroy ${one.holder.observed.vmid}), or give ${one.machine.name} another address.`,
      })),
    notes: found.filter(isOff).map((one) => `${subject(one)}: it is off; do not start both`),
  }
}
