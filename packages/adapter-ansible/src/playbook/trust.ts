import { type GuestObstacle, hinders, type User } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import { readdir } from "node:fs/promises"
import { parse } from "yaml"
import type { AutomationAvailability } from "./availability.ts"
import { type Settings, searchPaths } from "./options.ts"
import type { Site } from "./site.ts"
import { roleOf } from "./stage-input.ts"

interface Trusting {
  readonly settings: Settings
  readonly found: AutomationAvailability
}

/** Without the sandbox that there should be, only what administrators vouch for may run as the service. */
const isUnprotected = ({ host }: Pick<AutomationAvailability, "host">): boolean => !host.sandbox.works && host.choice !== "off"

/** The user whose own roles and collections a run finds besides the global ones, which administrators install. */
export const trustedScope = (found: Pick<AutomationAvailability, "host">, user: User | undefined): User["id"] | undefined =>
  isUnprotected(found) && user?.isAdmin !== true ? undefined : user?.id

/** Allowed in every configuration; the service substitutes it itself. */
const rangeId = /\{\{-?\s*range_id\s*-?\}\}/gu

const holdsTemplate = (value: unknown): boolean => {
  if (typeof value === "string") return /\{\{|\{%|\{#|#jinja2/iu.test(value.replace(rangeId, ""))
  if (typeof value !== "object" || value === null) return false
  return Object.entries(value).some(([key, below]) => holdsTemplate(key) || holdsTemplate(below))
}

/** Whether a configuration contains anything that Ansible could evaluate. An unreadable text could contain anything. */
export const configHoldsTemplate = (text: string): boolean => {
  try {
    return holdsTemplate(text) || holdsTemplate(parse(text))
  } catch {
    return true
  }
}

/** Names of a member's own roles, which take precedence over global ones. */
const ownRoles = async ({ settings }: Trusting, user: User | undefined): Promise<readonly string[]> =>
  user === undefined || user.isAdmin ? [] : readdir(searchPaths(settings, user.id).roles[0] ?? "").catch(() => [])

const holdsTemplates = "the range's configuration has templates, which are only evaluated in a sandbox, and there is none"

/**
 * What may not run without a sandbox for this user and configuration: roles of members, and templates in what members write, could do
 * whatever the service can. Empty with a sandbox, or if an operator chose to do without.
 */
export const trustObstacles = async (
  trusting: Trusting,
  user: User | undefined,
  configText: string,
): Promise<readonly GuestObstacle[]> => {
  const { host } = trusting.found
  if (host.sandbox.works || !isUnprotected(trusting.found)) return []
  const stages = ["role"] as const
  const hint = "Ask an administrator to install what the sandbox needs (docs/guides/operate.md), or set ansible_sandbox to off."
  const roles = await ownRoles(trusting, user)
  return [
    ...(roles.length === 0
      ? []
      : [
          {
            stages,
            roles,
            because: `it was installed by a member, and members' roles run only in a sandbox, but there is none: ${host.sandbox.because}`,
            hint,
          },
        ]),
    ...(configHoldsTemplate(configText) ? [{ stages, because: `${holdsTemplates}: ${host.sandbox.because}`, hint }] : []),
  ]
}

/** Why a role may not run without a sandbox; undefined when it may. A plan may contain what the configuration no longer does. */
export const trustProblem = async (trusting: Trusting, task: GuestTask, site: Site): Promise<string | undefined> => {
  if (task.stage !== "role" || !isUnprotected(trusting.found)) return undefined
  const work = { os: task.os, stage: task.stage, role: roleOf(task) }
  const text = holdsTemplate(task.input) ? "{{ }}" : site.configText
  const obstacle = (await trustObstacles(trusting, site.user, text)).find((one) => hinders(one, work))
  return obstacle === undefined ? undefined : `${obstacle.because}. ${obstacle.hint}`
}
