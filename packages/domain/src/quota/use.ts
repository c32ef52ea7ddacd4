import type { RangeId, UserId } from "../access/ids.ts"
import { parseRangeConfig } from "../range/config/parse.ts"
import { renderName } from "../range/config/variables.ts"
import * as Result from "effect/Result"
import { type Amounts, eachResource, noAmounts } from "./limits.ts"

/** The size of a VM. */
export interface MachineSize {
  /** Undefined for a VM without a visible name. */
  readonly name: string | undefined
  readonly cpus: number
  readonly memoryMiB: number
}

/** The data of a range that quotas count. */
export interface CountedRange {
  readonly id: RangeId
  /** The user charged for it (`payerOf`); undefined: nobody. */
  readonly payer: UserId | undefined
  /** Its VMs as last seen, without the router. */
  readonly machines: readonly MachineSize[]
  /** The machines of the configuration that an unfinished deploy is creating; empty if there is no such deploy. */
  readonly coming: readonly MachineSize[]
}

/** The machines of a configuration, without the router. Empty if it cannot be parsed, because then it cannot be deployed either. */
export const configSizes = (rangeId: RangeId, text: string): readonly MachineSize[] => {
  const read = parseRangeConfig(text)
  if (Result.isFailure(read)) return []
  return read.success.config.machines.map(({ name, cpus, ramGb }) => ({
    name: renderName(name, { rangeId }),
    cpus,
    memoryMiB: ramGb * 1024,
  }))
}

/** A machine that both exists and is being deployed counts once, with the larger value of each size. */
const footprint = ({ machines, coming }: Pick<CountedRange, "machines" | "coming">): readonly MachineSize[] => {
  const rest = new Map(coming.map((machine) => [machine.name, machine]))
  const there = machines.map((machine) => {
    const later = machine.name === undefined ? undefined : rest.get(machine.name)
    rest.delete(machine.name)
    return later === undefined
      ? machine
      : { ...machine, cpus: Math.max(machine.cpus, later.cpus), memoryMiB: Math.max(machine.memoryMiB, later.memoryMiB) }
  })
  return [...there, ...rest.values()]
}

const add = (a: Amounts, b: Amounts): Amounts => eachResource((resource) => a[resource] + b[resource])

/** Total usage of ranges. Memory is rounded up to whole GiB once, at the end. */
export const useOf = (ranges: readonly Pick<CountedRange, "machines" | "coming">[]): Amounts => {
  const sum = ranges
    .flatMap(footprint)
    .map(({ cpus, memoryMiB }): Amounts => ({ ...noAmounts, ram: memoryMiB, cpus, vms: 1 }))
    .reduce(add, { ...noAmounts, ranges: ranges.length })
  return { ...sum, ram: Math.ceil(sum.ram / 1024) }
}

/**
 * The user charged for a range: the one it was created for, as long as that user has direct access, else the user with the lowest number
 * who has. Sharing a range charges nobody else.
 */
export const payerOf = (
  madeFor: UserId | undefined,
  direct: readonly { readonly id: UserId; readonly number: number }[],
): UserId | undefined =>
  direct.some(({ id }) => id === madeFor) ? madeFor : direct.toSorted((a, b) => a.number - b.number)[0]?.id
