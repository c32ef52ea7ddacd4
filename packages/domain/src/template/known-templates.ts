import type { ObservedMachine } from "../machine/observed.ts"

export const templateSystems = ["linux", "windows", "macos", "other"] as const
export type TemplateSystem = (typeof templateSystems)[number]

export const templateStates = ["built", "not_built", "building"] as const
/** `built`: machines can be cloned from it. `building`: a build of it goes on, whatever was built before. */
export type TemplateState = (typeof templateStates)[number]

/** A template as lists show it. */
export interface KnownTemplate {
  readonly name: string
  readonly built: boolean
  readonly state: TemplateState
  readonly system: TemplateSystem
}

/** What a machine of this template runs, by the template's name alone. */
export const systemByName = (name: string): TemplateSystem => {
  const text = name.toLowerCase()
  // first: `darwin` ends like a Windows
  if (/macos|osx|darwin/u.test(text)) return "macos"
  return text.includes("win") ? "windows" : "linux"
}

export interface TemplateFacts {
  /** Whatever the hypervisor shows: templates and machines. */
  readonly machines: readonly Pick<ObservedMachine, "name" | "template" | "pool">[]
  /** Pools of ranges that the viewer may not use: what their users made is nobody else's, and no deploy of others clones it. */
  readonly closedPools: ReadonlySet<string>
  /** Names of the templates whose builder files the viewer has. */
  readonly installed: readonly string[]
  /** Names of those that are being built. */
  readonly building: ReadonlySet<string>
}

/** Each template that somebody can see, once, ascending by name: those on the hypervisor, and those that could be built. */
export const knownTemplates = ({ machines, closedPools, installed, building }: TemplateFacts): readonly KnownTemplate[] => {
  const built = new Set(
    machines.flatMap(({ name, template, pool }) =>
      template && name !== undefined && !closedPools.has(pool ?? "") ? [name] : [],
    ),
  )
  return [...new Set([...built, ...installed])].toSorted().map((name) => ({
    name,
    built: built.has(name),
    state: building.has(name) ? "building" : built.has(name) ? "built" : "not_built",
    system: systemByName(name),
  }))
}
