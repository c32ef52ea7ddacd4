import { normalise, optionsIn, withoutEmpty } from "./guest-config.ts"
import { withConfig } from "./guest-locks.ts"
import { checkOptions, demandOnGuest } from "./guest-rights.ts"
import { makeDisks } from "./new-disks.ts"
import { failure, forbidden } from "../core/errors.ts"
import { defaultBoot } from "../core/guest-config.ts"
import { newGuest, newIdentity } from "../core/new-guest.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config } from "../core/state.ts"
import { type World, nowSeconds } from "../core/world.ts"
import { removeResource } from "../ha/resources.ts"
import { type Call, type Routes, optionalText, spawn, text, vmidOf } from "../http/call.ts"

/** Puts a guest into a pool that its creator named. */
export const joinPool = (world: World, pool: string | undefined, vmid: number): void => {
  if (pool === undefined) return
  world.state.pools.get(pool)?.vms.add(vmid)
  world.state.access.version += 1
}

const create = (call: Call): string => {
  const { world } = call
  const vmid = vmidOf(call)
  const node = text(call, "node")
  const pool = optionalText(call, "pool")
  const changes = optionsIn(call)
  if (pool !== undefined && !world.state.pools.has(pool)) throw forbidden(`pool '${pool}' does not exist`)
  demandOnGuest(call, vmid, "VM.Allocate", pool)
  checkOptions(call, vmid, changes, [], pool)
  const existing = world.state.guests.get(vmid)
  if (existing !== undefined) throw failure(`unable to create VM ${vmid} - VM ${vmid} already exists on node '${existing.node}'`)
  return spawn(call, "qmcreate", vmid, (task) =>
    withConfig(
      world,
      vmid,
      function* (): Routine<void> {
        if (world.state.guests.has(vmid)) throw failure(`unable to create VM ${vmid}: config file already exists`)
        const guest = newGuest(world, vmid, node, { lock: "create" })
        world.state.guests.set(vmid, guest)
        try {
          yield* sleep(world.clock, world.timing.createTask)
          const made = yield* makeDisks(world, guest, changes, task.log)
          guest.config = {
            ...withoutEmpty(normalise(world, made)).kept,
            ...missingIdentity(world, made),
            meta: `creation-qemu=10.1.2,ctime=${nowSeconds(world)}`,
          }
          guest.config["boot"] ??= defaultBoot(guest.config)
        } catch (error) {
          world.state.guests.delete(vmid)
          throw error
        }
        joinPool(world, pool, vmid)
      },
      world.timing.createLock,
    ),
  )
}

const missingIdentity = (world: World, config: Config): Config => {
  const identity = newIdentity(world)
  return Object.fromEntries(Object.entries(identity).filter(([key]) => config[key] === undefined))
}

/** Takes a guest out of everything that names it. */
export const forget = (world: World, vmid: number): void => {
  world.state.guests.delete(vmid)
  world.state.firewalls.delete(`vm ${vmid}`)
  for (const pool of world.state.pools.values()) pool.vms.delete(vmid)
  removeResource(world, vmid)
  world.state.access.acl.delete(`/vms/${vmid}`)
  world.state.access.version += 1
}

/** Creation of VMs. */
export const guestCreateRoutes: Routes = {
  "POST /nodes/{node}/qemu": create,
}
