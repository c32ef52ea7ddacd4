import type { Vmid } from "../access/ids.ts"
import { macOf } from "../machine/mark.ts"
import type { Json } from "../plan/action.ts"
import type { Step } from "../plan/plan.ts"

/** The most NICs that a VM can have (Proxmox: net0 to net31). */
const nicsAtMost = 32

/** MAC addresses are derived from the VMID, so they change with it. */
const macsBetween = (from: Vmid, to: Vmid): ReadonlyMap<string, string> =>
  new Map(Array.from({ length: nicsAtMost }, (_, nic) => [macOf(from, nic), macOf(to, nic)]))

const replaceMacs = (value: Json, macs: ReadonlyMap<string, string>): Json => {
  if (typeof value === "string") return macs.get(value.toUpperCase()) ?? value
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => replaceMacs(item, macs))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceMacs(item, macs)]))
}

/** The step with the machine's new VMID: its reference, the MAC addresses of its NICs, and those in the input of a stage. */
export const reallocateStep = (step: Step, from: Vmid, to: Vmid): Step => {
  const { action } = step
  if (!("machine" in action) || action.machine.vmid !== from) return step
  const machine = { ...action.machine, vmid: to }
  const macs = macsBetween(from, to)
  if (action.kind === "configure") {
    const nics = action.settings.nics.map((nic) => ({ ...nic, mac: macs.get(nic.mac) ?? nic.mac }))
    return { ...step, action: { ...action, machine, settings: { ...action.settings, nics } } }
  }
  if (action.kind === "guest") return { ...step, action: { ...action, machine, input: replaceMacs(action.input, macs) } }
  return { ...step, action: { ...action, machine } }
}
