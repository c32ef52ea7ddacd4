import type { ObservedMachine } from "../machine/observed.ts"
import { systemByName, type TemplateDefinition, type TemplateSystem } from "./definition.ts"

export const templateStates = ["built", "not_built", "building"] as const
/** `built`: machines can be cloned from it. `building`: a build of it goes on, whatever was built before. */
export type TemplateState = (typeof templateStates)[number]

/** How it is with a template that somebody needs. `missing`: there is nothing that it could be built from. */
export interface NeededTemplate {
  readonly name: string
  readonly built: boolean
  readonly status: TemplateState | "missing"
}

/** A template as lists show it. */
export interface KnownTemplate {
  readonly name: string
  readonly built: boolean
  readonly state: TemplateState
  readonly system: TemplateSystem
  readonly description?: string | undefined
  /** Whether its files have a picture of it. */
  readonly hasPicture?: boolean
}

/** Pools of builds begin so. What is in one is not finished, or not taken over yet. */
const buildPool = "rw-build-"

/** Whether a VM is a template that machines can be cloned from: those in the pools of builds are not finished. */
export const isFinishedTemplate = ({ template, pool }: Pick<ObservedMachine, "template" | "pool">): boolean =>
  template && pool?.startsWith(buildPool) !== true

export interface TemplateFacts {
  /** Whatever the hypervisor shows: templates and machines. */
  readonly machines: readonly Pick<ObservedMachine, "name" | "template" | "pool">[]
  /** Pools of ranges that the viewer may not use: what their users made is nobody else's, and no deploy of others clones it. */
  readonly closedPools: ReadonlySet<string>
  /** The templates whose builder files the viewer has, the viewer's own before those of everybody. */
  readonly installed: readonly TemplateDefinition[]
  /** Names of those that are being built. */
  readonly building: ReadonlySet<string>
}

/** Each template that somebody can see, once, ascending by name: those on the hypervisor, and those that could be built. */
export const knownTemplates = ({ machines, closedPools, installed, building }: TemplateFacts): readonly KnownTemplate[] => {
  const built = new Set(
    machines.flatMap((machine) =>
      isFinishedTemplate(machine) && machine.name !== undefined && !closedPools.has(machine.pool ?? "") ? [machine.name] : [],
    ),
  )
  const told = new Map(installed.toReversed().map((definition) => [definition.name, definition]))
  return [...new Set([...built, ...told.keys()])].toSorted().map((name) => ({
    name,
    built: built.has(name),
    state: building.has(name) ? "building" : built.has(name) ? "built" : "not_built",
    system: told.get(name)?.system ?? systemByName(name),
    description: told.get(name)?.description,
    hasPicture: told.get(name)?.picture !== undefined,
  }))
}
