import type { RangeId, UserId } from "../access/ids.ts"
import { parseRangeConfig } from "../range/config/parse.ts"
import { renderName } from "../range/config/variables.ts"
import * as Result from "effect/Result"
import { type Amounts, eachResource, noAmounts } from "./limits.ts"

/** What one VM takes. */
export interface MachineSize {
  /** Undefined for a VM that shows none. */
  readonly name: string | undefined
  readonly cpus: number
  readonly memoryMiB: number
}

/** A range as quotas see it. */
export interface CountedRange {
  readonly id: RangeId
  /** Who is charged for it (`payerOf`); undefined: nobody. */
  readonly payer: UserId | undefined
  /** Its VMs as they were last seen, without the router. */
  readonly machines: readonly MachineSize[]
  /** The machines of the configuration that an unfinished deploy brings about; empty: there is no such deploy. */
  readonly coming: readonly MachineSize[]
}

/** The machines of a configuration, without the router. None where it cannot be read: then nothing can be deployed, either. */
export const configSizes = (rangeId: RangeId, text: string): readonly MachineSize[] => {
  const read = parseRangeConfig(text)
  if (Result.isFailure(read)) return []
  return read.success.config.machines.map(({ name, cpus, ramGb }) => ({
    name: renderName(name, { rangeId }),
    cpus,
    memoryMiB: ramGb * 1024,
  }))
}

/** A machine that is there and is coming, too, counts once, with the larger of each of its two sizes. */
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

/** What ranges take together. Memory is rounded up to whole GiB once, in the end. */
export const useOf = (ranges: readonly Pick<CountedRange, "machines" | "coming">[]): Amounts => {
  const sum = ranges
    .flatMap(footprint)
    .map(({ cpus, memoryMiB }): Amounts => ({ ...noAmounts, ram: memoryMiB, cpus, vms: 1 }))
    .reduce(add, { ...noAmounts, ranges: ranges.length })
  return { ...sum, ram: Math.ceil(sum.ram / 1024) }
}

/**
 * Who is charged for a range: the user it was made for while that user has it directly, else the one with the lowest number who does.
 * Sharing a range charges nobody else.
 */
export const payerOf = (
  madeFor: UserId | undefined,
  direct: readonly { readonly id: UserId; readonly number: number }[],
): UserId | undefined =>
  direct.some(({ id }) => id === madeFor) ? madeFor : direct.toSorted((a, b) => a.number - b.number)[0]?.id
