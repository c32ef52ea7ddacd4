import { osIdOf, taggedTemplates } from "../machine/guest-system.ts"
import { guestLoginOf } from "../range/render/guest-login.ts"
import type { DeployInput } from "./input.ts"
import type { Survey } from "./survey.ts"
import type { Task } from "./task.ts"

/** Machines that steps work in but for which no login is known, to say so before the steps fail there. */
export const loginNotes = ({ settings, world, range }: DeployInput, found: Survey, kept: readonly Task[]): readonly string[] => {
  // access through the hypervisor needs no login
  if (settings.guestsOverNetwork !== true) return []
  const worked = new Set(
    kept.flatMap(({ action, machine }) => (action.kind === "guest" && machine !== undefined ? [machine] : [])),
  )
  const tags = taggedTemplates(world.cluster.machines, range.id)
  return found.desired.machines.flatMap(({ name, template, os }) => {
    if (!worked.has(name) || settings.templatesWithLogin?.has(template) === true) return []
    const machineState = found.machineStates.get(name)
    const claimed = machineState?.kind === "there" ? world.systems?.get(machineState.existing.observed.vmid) : undefined
    const osId = osIdOf({ kind: os, claimed, tagged: tags.get(template), template })
    if (guestLoginOf({ osId }) !== undefined) return []
    const why = osId === "linux" || osId === undefined ? "its operating system is unknown" : `it runs ${osId}`
    return [
      `no login is known for ${name} (template ${template}): ${why}. Work inside it fails unless its guest agent reports an operating system whose login is known; you can set one in template_logins of the service's configuration`,
    ]
  })
}
