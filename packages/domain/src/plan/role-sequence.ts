import type { DesiredMachine, DesiredRange } from "./desired.ts"
import type { StageHost } from "./stage-tasks.ts"
import type { Task } from "./task.ts"

/**
 * The stages with their roles one after another, as the file has them: the first when all other work in machines is over, whatever became
 * of it on other machines. A router's roles come with its own stages, before any machine has roles, unless they depend on one of a machine.
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

/** What of a machine is over last before its roles of the chain. */
const lastBefore = ({ stages }: DesiredMachine, host: StageHost | undefined, chain: ReadonlySet<string>): readonly string[] => {
  if (host === undefined) return []
  const last = stages.findLast((s) => !chain.has(s.key))
  return last === undefined ? host.after : [last.key]
}
