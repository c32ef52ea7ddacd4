import type { RunId, Vmid } from "@rangewright/domain"

/** Facts by host and name, each value as JSON text, which is never parsed here: machines and roles wrote it. */
export type Facts = ReadonlyMap<string, ReadonlyMap<string, string>>

/** What one role on one machine set in its last run. */
export interface KeptFacts {
  /** Key of the role's step. */
  readonly key: string
  readonly machine: string
  readonly vmid: Vmid
  readonly run: RunId
  /** Milliseconds. */
  readonly at: number
  /** Facts set before the role: those that the hosts begin with in this run. */
  readonly initial: Facts
  /** Facts set by the role, including those on other hosts. */
  readonly set: Facts
}

/** A role that is about to run. */
export interface RoleStep {
  readonly key: string
  readonly run: { readonly id: RunId; readonly steps: ReadonlySet<string> }
  /** Whether the role of this step is done on this VM and still in the configuration. */
  readonly isDone: (vmid: Vmid, key: string) => boolean
}

/** The facts that a role finds. */
export interface FactsBefore {
  /** All facts of the hosts. */
  readonly facts: Facts
  /** The facts they began with, by host. */
  readonly initial: Facts
}

/** Whether the facts may still be needed: by this run, or by another one that finds the role done. */
export const isNeeded = (kept: KeptFacts, { run, isDone }: Pick<RoleStep, "run" | "isDone">): boolean =>
  kept.run === run.id || isDone(kept.vmid, kept.key)

/**
 * The facts that a role finds: those that hosts began this run with, overlaid with those that other roles set, later ones over earlier
 * ones. These are the roles of this run that ran before, and those skipped because they are done: they count as if they had run first.
 */
export const factsBefore = (all: readonly KeptFacts[], step: RoleStep): FactsBefore => {
  const inOrder = all.filter((kept) => isNeeded(kept, step)).toSorted((a, b) => a.at - b.at)
  const ofRun = inOrder.filter(({ run }) => run === step.run.id)
  const others = inOrder.filter(({ run, key }) => key !== step.key && (run === step.run.id || !step.run.steps.has(key)))
  // when roles began side by side, a machine's own role determines its initial facts, otherwise the first role does
  const own = ofRun.map(({ machine, initial }) => new Map([...initial].filter(([host]) => host === machine)))
  const initial = merged([...ofRun.map((kept) => kept.initial).toReversed(), ...own])
  return { initial, facts: merged([initial, ...others.map(({ set }) => set)]) }
}

/** The facts whose names pass. */
export const factsNamed = (facts: Facts, passes: (name: string, host: string) => boolean): Facts =>
  new Map([...facts].map(([host, values]) => [host, new Map([...values].filter(([name]) => passes(name, host)))]))

/** Merges facts; later ones override earlier ones. */
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
