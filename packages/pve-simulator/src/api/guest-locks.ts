import { badParameter, failure } from "../core/errors.ts"
import { lockOf } from "../core/guest-config.ts"
import type { Routine } from "../core/routine.ts"
import type { Guest } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { type Call, flag } from "../http/call.ts"

/** The name of the lock on a guest's configuration file. */
export const configLock = (vmid: number): string => `config ${vmid}`

/** The error after waiting too long for a configuration file. */
export const configLockFailure = (vmid: number): Error =>
  failure(`can't lock file '/var/lock/qemu-server/lock-${vmid}.conf' - got timeout`)

/** Runs `body` with the exclusive lock of a guest's configuration file. */
export const withConfig = <A>(
  world: World,
  vmid: number,
  body: () => Routine<A>,
  timeoutMs = world.timing.configLock,
): Routine<A> => world.locks.exclusive(configLock(vmid), timeoutMs, () => configLockFailure(vmid), body)

/** Only root@pam may use `skiplock`. */
export const refuseSkiplock = (call: Call): void => {
  if (flag(call, "skiplock") && !call.identity.isRoot) throw badParameter({ skiplock: "Only root may use this option." })
}

/** Fails if the configuration has a `lock`. */
export const refuseLocked = (call: Call, guest: Guest): void => {
  const lock = lockOf(guest.config)
  if (lock !== undefined && !flag(call, "skiplock")) throw failure(`VM is locked (${lock})`)
}
