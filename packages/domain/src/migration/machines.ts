import type { RangeId } from "../access/ids.ts"
import { readDescription, type MachineMark } from "../machine/mark.ts"
import { isRouter } from "../machine/router.ts"
import type { Installation, InstallationMachine, RecordedMachine } from "./installation.ts"
import { nicNetwork } from "./nic.ts"

/** Pool of the service's own machines. */
export const adminPool = "ADMIN"

/**
 * How a machine is proven to be the expected one before it is changed: by our mark or, when the first generation made it and it has none,
 * by its pool and its name.
 */
export type MoveGuard =
  | { readonly type: "mark"; readonly mark: MachineMark }
  | { readonly type: "pool"; readonly pool: string; readonly name: string }

/** A machine of ours, which may be moved. */
export interface OwnMachine {
  readonly machine: InstallationMachine
  /** Undefined: one of the service's own machines. */
  readonly range: RangeId | undefined
  readonly guard: MoveGuard
}

/** The machines of an installation by owner, as far as networks are concerned. */
export interface MachineSurvey {
  /** In the order in which they move: the service's own, then range by range, each range's router first. */
  readonly own: readonly OwnMachine[]
  /** Other people's. */
  readonly others: readonly InstallationMachine[]
  readonly templates: readonly InstallationMachine[]
  /** In the pool of one range but marked as another's. */
  readonly contradictory: readonly { readonly machine: InstallationMachine; readonly marked: RangeId; readonly pool: string }[]
  /** Ours by their pool, but they could not be read. */
  readonly unreadable: readonly InstallationMachine[]
}

/** The networks that a machine is attached to, each once. */
export const networksOf = (machine: Pick<InstallationMachine, "nics">): ReadonlySet<string> =>
  new Set((machine.nics ?? []).flatMap(({ text }) => nicNetwork(text) ?? []))

/** Sorts the machines by owner. */
export const surveyMachines = ({ machines, ranges }: Pick<Installation, "machines" | "ranges">): MachineSurvey => {
  const numbers = new Map<string, number>(ranges.map(({ id, number }) => [id, number]))
  const own: OwnMachine[] = []
  const others: InstallationMachine[] = []
  const templates: InstallationMachine[] = []
  const contradictory: MachineSurvey["contradictory"][number][] = []
  const unreadable: InstallationMachine[] = []
  for (const machine of machines) {
    const { mark } = readDescription(machine.description)
    const pool =
      machine.pool !== undefined && (machine.pool === adminPool || numbers.has(machine.pool)) ? machine.pool : undefined
    const marked = mark !== undefined && numbers.has(mark.range) ? mark : undefined
    if (machine.template) templates.push(machine)
    else if (machine.kind === "container" || (pool === undefined && (marked === undefined || machine.pool !== undefined)))
      others.push(machine)
    else if (machine.nics === undefined) unreadable.push(machine)
    else if (pool !== undefined && mark !== undefined && mark.range !== pool)
      contradictory.push({ machine, marked: mark.range, pool })
    else {
      const range = marked?.range ?? (pool === adminPool ? undefined : (pool as RangeId))
      const guard: MoveGuard =
        marked === undefined ? { type: "pool", pool: pool!, name: machine.name } : { type: "mark", mark: marked }
      own.push({ machine, range, guard })
    }
  }
  const rank = ({ range }: OwnMachine): number => (range === undefined ? -1 : numbers.get(range)!)
  const behind = ({ machine, range }: OwnMachine): number => (range !== undefined && isRouter(machine, range) ? 0 : 1)
  own.sort((a, b) => rank(a) - rank(b) || behind(a) - behind(b) || a.machine.vmid - b.machine.vmid)
  return { own, others, templates, contradictory, unreadable }
}

/** Whether a machine is the recorded one: its VMID may have been reused since. A mark keeps the machine's name when the VM is renamed. */
export const isRecorded = (recorded: Pick<RecordedMachine, "vmid" | "name" | "range">, machine: InstallationMachine): boolean => {
  if (machine.vmid !== recorded.vmid) return false
  const { mark } = readDescription(machine.description)
  const named = machine.name === recorded.name
  if (mark !== undefined) return mark.range === recorded.range && (named || mark.machine === recorded.name)
  return named && machine.pool === (recorded.range ?? adminPool)
}

/** `LAB-dc (VM 210 on pve1)`. */
export const machineLabel = ({ name, vmid, node, kind }: Pick<InstallationMachine, "name" | "vmid" | "node" | "kind">): string =>
  `${name === "" ? "a machine without a name" : name} (${kind === "vm" ? "VM" : "container"} ${vmid} on ${node})`
