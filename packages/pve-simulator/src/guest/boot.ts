import { nicsOf } from "../core/guest-config.ts"
import type { Guest } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { addressesOf, backedGuest } from "./addresses.ts"
import { beginInstaller, resumeInstaller, typeKey } from "./installer.ts"
import { stopStages } from "./stages.ts"

/** Duration of the rest of a boot once QEMU runs. */
const bootTime = (world: World, guest: Guest): number =>
  Math.max(0, (guest.os?.family === "windows" ? world.timing.bootWindows : world.timing.bootLinux) - world.timing.startTask)

const queueOf = (world: World, node: string): number[] => {
  const queue = world.bootQueues.get(node) ?? []
  world.bootQueues.set(node, queue)
  return queue
}

const bootingOn = (world: World, node: string): number => {
  let n = 0
  for (const vmid of world.boots.keys()) if (world.state.guests.get(vmid)?.node === node) n += 1
  return n
}

/** Starts the boot of a running guest; it waits while the maximum number of guests on the node are booting. */
export const beginBoot = (world: World, guest: Guest): void => {
  if (guest.os === undefined) {
    guest.boot = { kind: "off" }
    beginInstaller(world, guest, () => beginBoot(world, guest))
    return
  }
  guest.boot = { kind: "queued" }
  queueOf(world, guest.node).push(guest.vmid)
  admit(world, guest.node)
}

/** Presses a key on a guest's keyboard; only installers react to it. */
export const pressKey = (world: World, guest: Guest, keys: string): void =>
  typeKey(world, guest, keys, () => beginBoot(world, guest))

/** Ends everything in a guest that is turned off or restarted. */
export const powerOff = (world: World, guest: Guest): void => {
  const { node } = guest
  const queue = queueOf(world, node)
  const at = queue.indexOf(guest.vmid)
  if (at >= 0) queue.splice(at, 1)
  world.boots.get(guest.vmid)?.()
  world.boots.delete(guest.vmid)
  if (guest.boot.kind === "up") world.backing?.down(guest.vmid)
  if (guest.boot.kind === "installer") world.backing?.gone(guest.vmid)
  guest.boot = { kind: "off" }
  guest.execs.clear()
  stopStages(world, guest)
  admit(world, node)
}

const admit = (world: World, node: string): void => {
  const queue = queueOf(world, node)
  while (queue.length > 0 && bootingOn(world, node) < world.timing.bootsPerNode) {
    const guest = world.state.guests.get(queue.shift()!)
    if (guest?.boot.kind === "queued") arm(world, guest, world.clock.now() + bootTime(world, guest))
  }
}

const arm = (world: World, guest: Guest, until: number): void => {
  guest.boot = { kind: "booting", until }
  const cancel = world.clock.schedule(until - world.clock.now(), () => {
    world.boots.delete(guest.vmid)
    guest.boot = { kind: "up", since: world.clock.now() }
    if (guest.os?.family === "linux") world.backing?.up(backedGuest(guest))
    world.trace.add(world.clock.now(), `agent up ${guest.vmid}`)
    admit(world, guest.node)
  })
  world.boots.set(guest.vmid, cancel)
}

/** Moves a guest's boot to another node: a boot in progress continues, and a waiting one waits there. */
export const moveBoot = (world: World, guest: Guest, target: string): void => {
  const from = guest.node
  const queue = queueOf(world, from)
  const at = queue.indexOf(guest.vmid)
  if (at >= 0) queue.splice(at, 1)
  guest.node = target
  if (guest.boot.kind === "queued") queueOf(world, target).push(guest.vmid)
  admit(world, from)
  admit(world, target)
}

/** Restarts the timers of booting guests after a state was restored. */
export const resumeBoots = (world: World): void => {
  for (const guest of world.state.guests.values()) {
    resumeInstaller(world, guest, () => beginBoot(world, guest))
    if (guest.boot.kind === "booting") arm(world, guest, Math.max(world.clock.now(), guest.boot.until))
  }
  for (const guest of world.state.guests.values()) {
    if (guest.boot.kind === "queued") queueOf(world, guest.node).push(guest.vmid)
  }
  for (const node of world.state.nodes.keys()) admit(world, node)
}

/** True if the agent answers. */
export const agentAnswers = (world: World, guest: Guest): boolean =>
  guest.boot.kind === "up" && guest.os?.agent !== false && !guest.paused && !world.faults.isAgentSilent(guest.vmid)

/** The interfaces as the guest's agent names them, including the loopback. */
export const networkInterfaces = (world: World, guest: Guest): unknown[] => {
  const windows = guest.os?.family === "windows"
  const addresses = addressesOf(world, guest)
  const nics = nicsOf(guest.config).map((nic) => {
    const own = addresses.filter((address) => address.nic.index === nic.index)
    return {
      name: windows ? `Ethernet${nic.index === 0 ? "" : ` ${nic.index + 1}`}` : `ens${18 + nic.index}`,
      "hardware-address": nic.mac.toLowerCase(),
      "ip-addresses": [
        ...own.map(({ address, prefix }) => ({ "ip-address": address, "ip-address-type": "ipv4", prefix })),
        { "ip-address": linkLocal(nic.mac, windows ? `%${nic.index + 4}` : ""), "ip-address-type": "ipv6", prefix: 64 },
      ],
      ...(windows
        ? {}
        : {
            statistics: {
              "rx-bytes": 0,
              "rx-dropped": 0,
              "rx-errs": 0,
              "rx-packets": 0,
              "tx-bytes": 0,
              "tx-dropped": 0,
              "tx-errs": 0,
              "tx-packets": 0,
            },
          }),
    }
  })
  const loopback = {
    name: windows ? "Loopback Pseudo-Interface 1" : "lo",
    ...(windows ? {} : { "hardware-address": "00:00:00:00:00:00" }),
    "ip-addresses": [
      { "ip-address": "127.0.0.1", "ip-address-type": "ipv4", prefix: 8 },
      { "ip-address": "::1", "ip-address-type": "ipv6", prefix: 128 },
    ],
  }
  return windows ? [...nics, loopback] : [loopback, ...nics]
}

/** The link-local address derived from a MAC address. */
const linkLocal = (mac: string, zone: string): string => {
  const octets = mac.split(":").map((part) => Number.parseInt(part, 16))
  if (octets.length !== 6 || octets.some(Number.isNaN)) return `fe80::1${zone}`
  const [a, b, c, d, e, f] = octets as [number, number, number, number, number, number]
  const hex = (n: number) => n.toString(16)
  return `fe80::${hex(((a ^ 2) << 8) | b)}:${hex((c << 8) | 0xff)}:${hex(0xfe00 | d)}:${hex((e << 8) | f)}${zone}`
}

/** A guest whose memory was restored continues at once, without a boot. */
export const wake = (world: World, guest: Guest): void => {
  if (guest.os === undefined) return
  powerOff(world, guest)
  guest.boot = { kind: "up", since: world.clock.now() }
  if (guest.os.family === "linux") world.backing?.up(backedGuest(guest))
}
