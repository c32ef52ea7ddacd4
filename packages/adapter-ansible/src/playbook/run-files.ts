import { renderInventory } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import type { AutomationAvailability } from "./availability.ts"
import type { CarriedFacts } from "./carry-facts.ts"
import { workspaceSeen } from "./command.ts"
import { connections, loginOf } from "./connection.ts"
import type { LoginTry } from "./login.ts"
import type { Settings } from "./options.ts"
import { factsToJson } from "./role-facts.ts"
import { rolePlay, sameMachineVariable } from "./role-play.ts"
import { sameMachineCommand } from "./same-machine.ts"
import type { Site } from "./site.ts"
import { roleOf, stageVariables } from "./stage-input.ts"
import { unsafeYaml } from "./unsafe-yaml.ts"
import { localhostVariables, roleVariables } from "./variables.ts"

/** Names of the files with the facts that earlier roles set, and with those that this one sets. */
export const carriedIn = "facts.json"
export const carriedOut = "facts-set.json"

interface Tools {
  readonly settings: Settings
  readonly found: AutomationAvailability
}

/** Paths of one run on this host. */
interface Places {
  readonly scratch: string
  readonly workspace: string
}

/** The files of a role: its play and variables are written by its author. */
const roleFiles = (
  { settings, found }: Tools,
  task: GuestTask,
  site: Site,
  { scratch, workspace }: Places,
  { before, others }: CarriedFacts,
) => {
  const host = site.target.name
  const variables = {
    ...roleVariables(settings, site, workspaceSeen(found, workspace), task.onlyRoles),
    [sameMachineVariable]: sameMachineCommand(task.os, site.detail, site.target.address),
  }
  const play = { host, role: roleOf(task) ?? "", input: task.input, begins: !before.initial.has(host), others }
  return {
    "play.yml": rolePlay(play),
    "range-config.yml": site.configText,
    "host_vars/localhost.json": JSON.stringify(localhostVariables(settings, site, `${scratch}/home`)),
    "variables.json": JSON.stringify(variables),
    [carriedIn]: factsToJson(before.facts),
  }
}

/** The files of one run, by name in its scratch folder. The input of stages is taken literally; `carried` is set for roles. */
export const filesOf = (
  tools: Tools,
  task: GuestTask,
  site: Site,
  login: LoginTry,
  places: Places,
  carried: CarriedFacts | undefined,
) => {
  const { settings } = tools
  const { password: _, ...asTemplate } = site.target
  const newPassword = login.set && (login.set.password ?? loginOf(settings, asTemplate)?.password)
  const own =
    carried === undefined
      ? { "stage.yml": `rangewright: ${unsafeYaml(stageVariables(task, site, newPassword))}\n` }
      : roleFiles(tools, task, site, places, carried)
  return {
    ...own,
    "ansible.cfg": "",
    "inventory.yml": renderInventory([{ rangeId: site.range.id, hosts: site.hosts }]),
    "connections.json": connections(settings, site.hosts),
  }
}
