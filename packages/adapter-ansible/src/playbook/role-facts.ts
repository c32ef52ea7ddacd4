import type { RunId, Vmid } from "@rangewright/domain"

/** Facts by host and name, each value as JSON in a text, which is never read here: machines and roles wrote it. */
export type Facts = ReadonlyMap<string, ReadonlyMap<string, string>>

/** What one role on one machine set when it ran last. */
export interface KeptFacts {
  /** Key of the role's step. */
  readonly key: string
  readonly machine: string
  readonly vmid: Vmid
  readonly run: RunId
  /** Milliseconds. */
  readonly at: number
  /** What was set before the role: that with which the hosts begin in this run. */
  readonly initial: Facts
  /** What the role set, also on other hosts. */
  readonly set: Facts
}

/** A role that is about to run. */
export interface RoleStep {
  readonly key: string
  readonly run: { readonly id: RunId; readonly steps: ReadonlySet<string> }
  /** Whether the role of this step is done on this VM, and the configuration still has it. */
  readonly isDone: (vmid: Vmid, key: string) => boolean
}

/** What a role finds. */
export interface FactsBefore {
  /** All that hosts have. */
  readonly facts: Facts
  /** What they began with, by host. */
  readonly initial: Facts
}

/** Whether it may still be needed: by this run, or by another one that finds the role done. */
export const isNeeded = (kept: KeptFacts, { run, isDone }: Pick<RoleStep, "run" | "isDone">): boolean =>
  kept.run === run.id || isDone(kept.vmid, kept.key)

/**
 * What a role finds: what hosts began this run with, and upon it what other roles set, the later ones over the earlier. These are the roles
 * of this run that ran before, and those that it leaves out because they are done: they count as if they had run first.
 */
export const factsBefore = (all: readonly KeptFacts[], step: RoleStep): FactsBefore => {
  const inOrder = all.filter((kept) => isNeeded(kept, step)).toSorted((a, b) => a.at - b.at)
  const ofRun = inOrder.filter(({ run }) => run === step.run.id)
  const others = inOrder.filter(({ run, key }) => key !== step.key && (run === step.run.id || !step.run.steps.has(key)))
  // where roles began side by side, what a machine's own role made of its variables holds, and else the first one's
  const own = ofRun.map(({ machine, initial }) => new Map([...initial].filter(([host]) => host === machine)))
  const initial = merged([...ofRun.map((kept) => kept.initial).toReversed(), ...own])
  return { initial, facts: merged([initial, ...others.map(({ set }) => set)]) }
}

/** The facts of all of them, the later over the earlier. */
export const merged = (all: readonly Facts[]): Facts => {
  const result = new Map<string, Map<string, string>>()
  for (const facts of all)
    for (const [host, values] of facts) {
      const known = result.get(host) ?? new Map<string, string>()
      result.set(host, known)
      for (const [name, text] of values) known.set(name, text)
    }
  return result
}

export const factsToJson = (facts: Facts): string =>
  JSON.stringify(Object.fromEntries([...facts].map(([host, values]) => [host, Object.fromEntries(values)])))

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value)

/** Facts as `factsToJson` and the tool write them; undefined for anything else. */
export const factsFrom = (value: unknown): Facts | undefined => {
  if (!isObject(value)) return undefined
  const facts = new Map<string, ReadonlyMap<string, string>>()
  for (const [host, values] of Object.entries(value)) {
    if (!isObject(values)) return undefined
    const texts = Object.entries(values)
    if (!texts.every((entry): entry is [string, string] => typeof entry[1] === "string")) return undefined
    facts.set(host, new Map(texts))
  }
  return facts
}
