import type { Vmid } from "../access/ids.ts"
import { type MachineMark, readDescription, writeDescription } from "../machine/mark.ts"
import { olderClaims, passesForAnother } from "../range/naming.ts"
import type { DesiredMachine, DesiredRange } from "./desired.ts"
import { type Identified, unsureHint } from "./identify.ts"
import type { DeployInput } from "./input.ts"
import type { PlanIssue } from "./issue.ts"

/** The observed network that matches a desired one. */
export const findNetwork = (
  networks: DeployInput["world"]["networks"],
  network: DesiredRange["network"],
): DeployInput["world"]["networks"][number] | undefined =>
  networks.find((n) => n.name === network.name && (network.type === "vnet" || n.node === undefined || n.node === network.node))

/** Whether the range's network is the bridge that an older service made for it, because the range was taken over. It is used as it is. */
export const isOlderNetwork = ({ world, range }: DeployInput, { network }: DesiredRange): boolean =>
  range.takenOver === true && network.type === "bridge" && findNetwork(world.networks, network)?.ours === false

/** A network of the same name that somebody else made. */
export const networkIssues = (input: DeployInput, desired: DesiredRange): PlanIssue[] => {
  const { network } = desired
  const found = findNetwork(input.world.networks, network)
  if (found === undefined || found.ours || isOlderNetwork(input, desired)) return []
  const hint = "Remove it from the hypervisor if nothing is attached to it, or give the range another number."
  return [{ code: "network-not-ours", message: `the network ${network.name} exists and is not ours`, hint }]
}

/** Machines within the limit that do not exist as ours and cannot be created, with the reason for each. */
export const blockedMachines = (
  input: DeployInput,
  desired: DesiredRange,
  identified: Identified,
  limited: ReadonlySet<string>,
): ReadonlyMap<string, PlanIssue> => {
  const blocked = new Map<string, PlanIssue>()
  const names = new Set<string>()
  for (const machine of desired.machines) {
    const { name } = machine
    if (names.has(name)) blocked.set(name, { code: "name-taken", message: `two machines are named ${name}` })
    names.add(name)
    if (!limited.has(name) || identified.own.has(name) || blocked.has(name)) continue
    const issue = obstacleTo(input, machine, identified)
    if (issue !== undefined) blocked.set(name, issue)
  }
  return blocked
}

const obstacleTo = (
  { world, range }: DeployInput,
  machine: DesiredMachine,
  { unreadable }: Identified,
): PlanIssue | undefined => {
  const same = (m: { readonly vmid: Vmid; readonly name: string | undefined }): boolean =>
    m.name?.toLowerCase() === machine.name.toLowerCase()
  const hidden = unreadable.find((u) => same(u.machine) || u.machine.vmid === world.reservations.get(machine.name))
  if (hidden !== undefined) {
    const leaveOut = `leave the machine out: limit all,!${machine.name}.`
    const hint = hidden.code === "unsure" ? `${unsureHint} Or ${leaveOut}` : `Bring it back, or ${leaveOut}`
    return { code: hidden.code, message: hidden.message, hint }
  }
  if (passesForAnother(machine.name, range.id, olderClaims(range.id, world.otherRanges ?? [])))
    return {
      code: "name-of-another-range",
      message: `the name ${machine.name} begins with the ID of another range`,
      hint: `Give the machine another name; those that begin with ${range.id}- belong to the range.`,
    }
  // a name identifies nothing on the hypervisor: anybody may have it in another pool
  const other = world.cluster.machines.find((m) => m.pool === range.id && same(m))
  if (other === undefined) return undefined
  return {
    code: "not-ours",
    message: `a VM named ${machine.name} is in the pool ${range.id} (VM ${other.vmid} on ${other.node}) and does not carry our mark for it`,
    hint: lostMarkHint(world, { range: range.id, machine: machine.name }, other.vmid),
  }
}

/** For a VM that has a machine's name but not its mark. If it has the machine's VMID too, probably its notes were replaced. */
const lostMarkHint = ({ reservations, details }: DeployInput["world"], mark: MachineMark, vmid: Vmid): string => {
  const detail = details.get(vmid)
  const otherwise = "rename or remove it, or give the machine another name: the service never changes it."
  const isProbablyOurs =
    reservations.get(mark.machine) === vmid &&
    detail?.template === false &&
    readDescription(detail.description).mark === undefined
  return isProbablyOurs
    ? `If it is this machine and only its notes were changed, add this line to the notes of VM ${vmid} in Proxmox:\n${writeDescription(mark, [])}\nOtherwise ${otherwise}`
    : `R${otherwise.slice(1)}`
}
