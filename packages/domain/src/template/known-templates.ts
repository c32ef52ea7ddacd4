import type { ObservedMachine } from "../machine/observed.ts"
import { systemByName, type TemplateDefinition, type TemplateSystem } from "./definition.ts"

export const templateStates = ["built", "not_built", "building"] as const
/** `built`: machines can be cloned from it. `building`: a build is in progress, whether or not one was built before. */
export type TemplateState = (typeof templateStates)[number]

/** The status of a required template. `missing`: there is nothing to build it from. */
export interface NeededTemplate {
  readonly name: string
  readonly built: boolean
  readonly status: TemplateState | "missing"
}

/** A template as shown in lists. */
export interface KnownTemplate {
  readonly name: string
  readonly built: boolean
  readonly state: TemplateState
  readonly system: TemplateSystem
  readonly description?: string | undefined
  /** Whether its files include a picture. */
  readonly hasPicture?: boolean
}

/** Prefix of the pools of builds. Templates in them are not finished, or not moved out yet. */
const buildPool = "rw-build-"

/** Whether a VM is a finished template, which machines can be cloned from: those in the pools of builds are not. */
export const isFinishedTemplate = ({ template, pool }: Pick<ObservedMachine, "template" | "pool">): boolean =>
  template && pool?.startsWith(buildPool) !== true

export interface TemplateFacts {
  /** All templates and machines on the hypervisor. */
  readonly machines: readonly Pick<ObservedMachine, "name" | "template" | "pool">[]
  /** Pools of ranges that the viewer may not use: templates in them belong to their users, and no other range's deploy clones them. */
  readonly closedPools: ReadonlySet<string>
  /** The templates whose builder files are available to the viewer, the viewer's own before the global ones. */
  readonly installed: readonly TemplateDefinition[]
  /** Names of the templates being built. */
  readonly building: ReadonlySet<string>
}

/** All templates visible to the viewer, ascending by name and unique: those on the hypervisor, and those that could be built. */
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
