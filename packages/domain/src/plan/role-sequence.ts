import type { DesiredMachine, DesiredRange } from "./desired.ts"
import type { StageHost } from "./stage-tasks.ts"
import type { Task } from "./task.ts"

/**
 * The stages with their roles one after another, in the order of the file: the first role runs when all other work in machines is over,
 * even if it failed on other machines. The router's roles run with its own stages, before any machine's, unless they depend on a machine's.
 */
export const inFileOrder = (
  stages: readonly Task[],
  desired: DesiredRange,
  hosts: ReadonlyMap<string, StageHost>,
): readonly Task[] => {
  const known = new Set(stages.map((t) => t.key))
  const early = new Set(desired.machines.filter((m) => m.isRouter).flatMap((m) => m.stages.map((s) => s.key)))
  const first = desired.roles.findIndex((key) => !early.has(key))
  const chain = first === -1 ? [] : desired.roles.slice(first).filter((key) => known.has(key))
  const inChain = new Set(chain)
  const others = desired.machines.flatMap((machine) => lastBefore(machine, hosts.get(machine.name), inChain))
  const behind = new Map(chain.map((key, i) => [key, i === 0 ? others : [chain[i - 1]!]]))
  return stages.map((t) => {
    const keys = behind.get(t.key)?.filter((key) => !t.after.includes(key)) ?? []
    return keys.length === 0 ? t : { ...t, behind: keys }
  })
}

/** The last work on a machine before its roles in the chain. */
const lastBefore = ({ stages }: DesiredMachine, host: StageHost | undefined, chain: ReadonlySet<string>): readonly string[] => {
  if (host === undefined) return []
  const last = stages.findLast((s) => !chain.has(s.key))
  return last === undefined ? host.after : [last.key]
}
