import { osIdOf, type OsKind, type Range, type RangeConfig, renderName } from "@rangewright/domain"
import { Machines, type RangeMachine, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readRangeConfig } from "../range/read-config.ts"

/** What is known about a machine's Windows without asking the machine. */
interface KnownMachine {
  readonly kind: OsKind | undefined
  readonly isDomainController: boolean
}

const knownIn = (range: Range, config: RangeConfig | undefined): ReadonlyMap<string, KnownMachine> =>
  new Map(
    (config?.machines ?? []).map(({ name, os, domain }) => [
      renderName(name, { rangeId: range.id }),
      { kind: os.kind, isDomainController: domain !== undefined && domain.role !== "member" },
    ]),
  )

/**
 * Returns a function that gives the reason, as a sentence, why a machine of the range cannot be asked for its licence; undefined: it can.
 * Uses stored state only: starts nothing and contacts no machine.
 */
export const obstacleOf = Effect.fnUntraced(function* (range: Range) {
  const ranges = yield* Ranges
  const machines = yield* Machines
  const text = yield* ranges.deployedConfig(range.id)
  const parsed = text === undefined ? undefined : yield* readRangeConfig(text)
  const known = knownIn(range, parsed !== undefined && Result.isSuccess(parsed) ? parsed.success.config : undefined)
  const systems = yield* machines.systems(range.id)
  return (machine: RangeMachine): string | undefined => {
    const { name, isRouter, vmid, power } = machine
    const label = name ?? `VM ${vmid}`
    const of = known.get(name ?? "")
    const system = osIdOf({ kind: of?.kind, claimed: systems.get(vmid), template: undefined })
    if (isRouter) return `${label} is the router of the range, which does not run Windows`
    if (name === undefined || system !== "windows")
      return `${label} ${system === undefined ? "is not known to run Windows" : `does not run Windows but ${system}`}`
    if (of?.isDomainController === true) return `${label} is a domain controller, which cannot be activated`
    return power === "running" ? undefined : `${label} is ${power}: power it on`
  }
})
