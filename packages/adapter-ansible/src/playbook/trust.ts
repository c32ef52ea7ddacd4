import type { User } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { parse } from "yaml"
import type { AutomationAvailability } from "./availability.ts"
import { type Settings, searchPaths } from "./options.ts"
import type { Site } from "./site.ts"
import { roleOf } from "./stage-input.ts"

interface Trusting {
  readonly settings: Settings
  readonly found: AutomationAvailability
}

/** Where there should be a sandbox and is none, only what administrators are answerable for runs as the service. */
const isUnprotected = ({ host }: Pick<AutomationAvailability, "host">): boolean => !host.sandbox.works && host.choice !== "off"

/** Whose own roles and collections a run finds beside the global ones, which administrators install. */
export const trustedScope = (found: Pick<AutomationAvailability, "host">, user: User | undefined): User["id"] | undefined =>
  isUnprotected(found) && user?.isAdmin !== true ? undefined : user?.id

/** What every configuration may hold; the service replaces it itself. */
const rangeId = /\{\{-?\s*range_id\s*-?\}\}/gu

const holdsTemplate = (value: unknown): boolean => {
  if (typeof value === "string") return /\{\{|\{%|\{#|#jinja2/iu.test(value.replace(rangeId, ""))
  if (typeof value !== "object" || value === null) return false
  return Object.entries(value).some(([key, below]) => holdsTemplate(key) || holdsTemplate(below))
}

/** Whether Ansible could evaluate something of a configuration. A text that cannot be read could hold anything. */
export const configHoldsTemplate = (text: string): boolean => {
  try {
    return holdsTemplate(text) || holdsTemplate(parse(text))
  } catch {
    return true
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** A member's own role of this name would be found before a global one. */
const hidesOwnRole = async ({ settings }: Trusting, site: Site, role: string): Promise<boolean> =>
  site.user !== undefined && !site.user.isAdmin && (await isThere(join(searchPaths(settings, site.user.id).roles[0] ?? "", role)))

/**
 * Why a role may not run without a sandbox; undefined where it may. Roles of members, and templates in what members write, could do whatever
 * the service can.
 */
export const trustProblem = async (trusting: Trusting, task: GuestTask, site: Site): Promise<string | undefined> => {
  const { sandbox } = trusting.found.host
  if (task.stage !== "role" || sandbox.works || !isUnprotected(trusting.found)) return undefined
  const wayOut = `${sandbox.because}. Let an administrator install what the sandbox needs (see the operator's guide), or set ansible_sandbox to off`
  if (await hidesOwnRole(trusting, site, roleOf(task) ?? ""))
    return `it was installed by a member, whose roles run in a sandbox alone, and there is none: ${wayOut}`
  return configHoldsTemplate(site.configText) || holdsTemplate(task.input)
    ? `the range's configuration holds templates, which are evaluated in a sandbox alone, and there is none: ${wayOut}`
    : undefined
}
