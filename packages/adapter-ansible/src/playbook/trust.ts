import { type GuestObstacle, hinders, type User } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import { readdir } from "node:fs/promises"
import { parse } from "yaml"
import type { AutomationAvailability } from "./availability.ts"
import { type Settings, searchPaths } from "./options.ts"
import type { Site } from "./site.ts"
import { isAnsiblesOwn } from "./own-variables.ts"
import { roleOf } from "./stage-input.ts"

interface Trusting {
  readonly settings: Settings
  readonly found: AutomationAvailability
}

/** Without the sandbox that there should be, only what administrators vouch for may run as the service. */
export const isUnprotected = ({ host }: Pick<AutomationAvailability, "host">): boolean =>
  !host.sandbox.works && host.choice !== "off"

/** The user whose own roles and collections a run finds besides the global ones, which administrators install. */
export const trustedScope = (found: Pick<AutomationAvailability, "host">, user: User | undefined): User["id"] | undefined =>
  isUnprotected(found) && user?.isAdmin !== true ? undefined : user?.id

/** Allowed in every configuration; the service substitutes it itself. */
const rangeId = /\{\{-?\s*range_id\s*-?\}\}/gu

const isTemplate = (text: string): boolean => /\{\{|\{%|\{#|#jinja2/iu.test(text.replace(rangeId, ""))

/** Ends of lines for Ansible, which reads YAML 1.1, but not for our parser: what follows one in a comment is a comment for us alone. */
const strangeLineEnd = /\r(?!\n)|[\u0085\u2028\u2029]/u

/** What members wrote, as far as Ansible does more with it than hand it to roles. */
interface Effective {
  readonly templates: boolean
  /** Names of Ansible's own variables. */
  readonly variables: readonly string[]
}

const everything: Effective = { templates: true, variables: [] }

const bothOf = (one: Effective, other: Effective): Effective => ({
  templates: one.templates || other.templates,
  variables: [...new Set([...one.variables, ...other.variables])],
})

/** At any depth: a role may make variables of members of another one, and YAML may merge mappings into others. */
const effectiveIn = (value: unknown): Effective => {
  const variables = new Set<string>()
  let templates = false
  const look = (at: unknown): void => {
    if (typeof at === "string") templates ||= isTemplate(at)
    if (typeof at !== "object" || at === null) return
    for (const [key, below] of Object.entries(at)) {
      templates ||= isTemplate(key)
      if (isAnsiblesOwn(key)) variables.add(key)
      look(below)
    }
  }
  look(value)
  return { templates, variables: [...variables] }
}

/** What a configuration contains of it. An unreadable text could contain anything. */
export const effectiveInConfig = (text: string): Effective => {
  if (strangeLineEnd.test(text)) return everything
  try {
    return bothOf(effectiveIn(text), effectiveIn(parse(text)))
  } catch {
    return everything
  }
}

/** Names of a member's own roles, which take precedence over global ones. */
const ownRoles = async ({ settings }: Trusting, user: User | undefined): Promise<readonly string[]> =>
  user === undefined || user.isAdmin ? [] : readdir(searchPaths(settings, user.id).roles[0] ?? "").catch(() => [])

const stages = ["role"] as const
const repair =
  "ask an administrator to install what the sandbox needs (bubblewrap; docs/guides/operate.md), or to set ansible_sandbox to off"

/** A configuration may set thousands. */
const mostNamed = 5

const named = (variables: readonly string[]): string =>
  [...variables.slice(0, mostNamed), ...(variables.length > mostNamed ? [`${variables.length - mostNamed} more`] : [])].join(", ")

const obstaclesIn = ({ templates, variables }: Effective, because: string): readonly GuestObstacle[] => [
  ...(templates
    ? [
        {
          stages,
          because: `the range's configuration has templates, or text that could hide them, which are only evaluated in a sandbox, and there is none: ${because}`,
          hint: `Remove them, or ${repair}.`,
        },
      ]
    : []),
  ...(variables.length === 0
    ? []
    : [
        {
          stages,
          because: `the range's configuration sets ${named(variables)}: Ansible's own variables can start programs on the service's host, so they are only used in a sandbox, and there is none: ${because}`,
          hint: `Remove ${variables.length === 1 ? "the variable" : "the variables"}, or ${repair}.`,
        },
      ]),
]

const obstaclesOf = async (
  trusting: Trusting,
  user: User | undefined,
  effective: () => Effective,
): Promise<readonly GuestObstacle[]> => {
  const { host } = trusting.found
  if (host.sandbox.works || !isUnprotected(trusting.found)) return []
  const roles = await ownRoles(trusting, user)
  const because = `it was installed by a member, and members' roles run only in a sandbox, but there is none: ${host.sandbox.because}`
  return [
    ...(roles.length === 0 ? [] : [{ stages, roles, because, hint: `Let an administrator install the role, or ${repair}.` }]),
    ...obstaclesIn(effective(), host.sandbox.because),
  ]
}

/**
 * What may not run without a sandbox for this user and configuration: roles of members, and in what members write templates and Ansible's
 * own variables, could do whatever the service can. Empty with a sandbox, or if an operator chose to do without.
 */
export const trustObstacles = (
  trusting: Trusting,
  user: User | undefined,
  configText: string,
): Promise<readonly GuestObstacle[]> => obstaclesOf(trusting, user, () => effectiveInConfig(configText))

/** Why a role may not run without a sandbox; undefined when it may. A plan may contain what the configuration no longer does. */
export const trustProblem = async (trusting: Trusting, task: GuestTask, site: Site): Promise<string | undefined> => {
  if (task.stage !== "role" || !isUnprotected(trusting.found)) return undefined
  const work = { os: task.os, stage: task.stage, role: roleOf(task) }
  const effective = () => bothOf(effectiveInConfig(site.configText), effectiveIn(task.input))
  const obstacle = (await obstaclesOf(trusting, site.user, effective)).find((one) => hinders(one, work))
  return obstacle === undefined ? undefined : `${obstacle.because}. ${obstacle.hint}`
}
