import { badParameter, failure } from "../core/errors.ts"
import { lockOf } from "../core/guest-config.ts"
import type { Routine } from "../core/routine.ts"
import type { Guest } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { type Call, flag } from "../http/call.ts"

/** The name of the lock on a guest's configuration file. */
export const configLock = (vmid: number): string => `config ${vmid}`

/** What waiting too long for a configuration file says. */
export const configLockFailure = (vmid: number): Error =>
  failure(`can't lock file '/var/lock/qemu-server/lock-${vmid}.conf' - got timeout`)

/** Runs `body` alone on a guest's configuration file. */
export const withConfig = <A>(
  world: World,
  vmid: number,
  body: () => Routine<A>,
  timeoutMs = world.timing.configLock,
): Routine<A> => world.locks.exclusive(configLock(vmid), timeoutMs, () => configLockFailure(vmid), body)

/** Only root@pam itself may pass over a lock. */
export const refuseSkiplock = (call: Call): void => {
  if (flag(call, "skiplock") && !call.identity.isRoot) throw badParameter({ skiplock: "Only root may use this option." })
}

/** Fails while a lock stands in the configuration. */
export const refuseLocked = (call: Call, guest: Guest): void => {
  const lock = lockOf(guest.config)
  if (lock !== undefined && !flag(call, "skiplock")) throw failure(`VM is locked (${lock})`)
}
