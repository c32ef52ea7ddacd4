import { withConfig } from "./guest-locks.ts"
import { badParameter, failure } from "../core/errors.ts"
import { lockOf, ownDisks, touch, volumeOf } from "../core/guest-config.ts"
import { toTemplate } from "../core/new-guest.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Guest } from "../core/state.ts"
import { findVolume, hasClones } from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { type Call, type Routes, guestOf, optionalText, spawn } from "../http/call.ts"

/** Turns a guest into a template: its disks become base volumes. */
const template = (call: Call): string => {
  const { world } = call
  const guest = guestOf(call)
  const lock = lockOf(guest.config)
  if (lock !== undefined) throw failure(`VM is locked (${lock})`)
  if (guest.snapshots.size > 0) throw failure("unable to create template, because VM contains snapshots")
  if (guest.config["template"] === 1) throw failure("you can't convert a template to a template")
  if (guest.status === "running") throw failure("you can't convert a VM to template if VM is running")
  const only = optionalText(call, "disk")
  if (only !== undefined && guest.config[only] === undefined) throw badParameter({ disk: `disk '${only}' does not exist` })
  return spawn(call, "qmtemplate", guest.vmid, () =>
    withConfig(world, guest.vmid, function* (): Routine<void> {
      yield* sleep(world.clock, world.timing.configTask)
      touch(world, guest)
      toTemplate(world, guest)
    }),
  )
}

/** Fails if a linked clone depends on one of a guest's disks. */
export const refuseUsedBase = (world: World, guest: Guest): void => {
  for (const [, disk] of ownDisks(guest.config)) {
    const volume = findVolume(world, guest.node, volumeOf(disk))
    if (volume !== undefined && hasClones(world, volume))
      throw failure(`base volume '${volume.volid}' is still in use by linked cloned`)
  }
}

/** Templates. */
export const guestTemplateRoutes: Routes = {
  "POST /nodes/{node}/qemu/{vmid}/template": template,
}
