import type { BackedGuest, GuestBacking } from "../guest/backing.ts"
import type { HostAddress, RealHost } from "./host.ts"
import type { RealHosts } from "./hosts.ts"

/** Real hosts behind guests, for `createSimulator({ backing })`. */
export interface RealGuests extends GuestBacking {
  /** The host of a guest, once it runs. */
  readonly host: (vmid: number) => Promise<RealHost>
  /** Resolves when nothing is being started or stopped. */
  readonly settled: () => Promise<void>
}

/** How often a host is asked for its addresses: an agent tells no older ones. */
const askEveryMillis = 300

/** The networks of labs have it in common. */
const gatewayOf = (lease: string): string => `${lease.split(".").slice(0, 3).join(".")}.254`

/**
 * A host for each guest that comes up. Untagged cards are on the VLAN of the outer network. A guest that goes off keeps its host's folder,
 * and has its addresses again when it comes back. What goes wrong is thrown by `settled` and `host`.
 */
export const realGuests = (hosts: RealHosts, outerVlan: number): RealGuests => {
  const made = new Map<number, Promise<RealHost>>()
  const seen = new Map<number, readonly HostAddress[]>()
  const timers = new Map<number, NodeJS.Timeout>()
  const going = new Map<number, Promise<unknown>>()

  /** One thing after another for each guest. */
  const then = (vmid: number, work: () => Promise<unknown>): void => {
    const before = going.get(vmid) ?? Promise.resolve()
    const next = before.then(work)
    // whoever waits hears of it
    next.catch(() => {})
    going.set(vmid, next)
  }
  const first = ({ name, nics }: BackedGuest): Promise<RealHost> =>
    hosts.add({
      name,
      nics: nics.map(({ mac, tag, lease }, index) => ({
        vlan: tag ?? outerVlan,
        mac,
        ...(lease === undefined ? {} : { address: lease }),
        ...(index === 0 && lease !== undefined ? { gateway: gatewayOf(lease) } : {}),
      })),
    })
  const watch = (vmid: number, host: RealHost): void => {
    const ask = async (): Promise<void> => {
      const cards = await host.cards().catch(() => undefined)
      if (cards !== undefined && timers.has(vmid)) seen.set(vmid, cards)
    }
    timers.set(vmid, setInterval(() => void ask(), askEveryMillis).unref())
  }
  const leave = (vmid: number): void => {
    clearInterval(timers.get(vmid))
    timers.delete(vmid)
    seen.delete(vmid)
  }

  return {
    up: (guest) =>
      then(guest.vmid, async () => {
        const known = made.get(guest.vmid)
        const host = known ?? first(guest)
        made.set(guest.vmid, host)
        if (known !== undefined) await (await known).start()
        watch(guest.vmid, await host)
      }),
    down: (vmid) => {
      leave(vmid)
      if (made.has(vmid)) then(vmid, async () => (await made.get(vmid))?.stop())
    },
    addresses: (vmid) => seen.get(vmid),
    host: async (vmid) => {
      await going.get(vmid)
      const host = made.get(vmid)
      if (host === undefined) throw new Error(`guest ${vmid} has no host`)
      return host
    },
    settled: async () => void (await Promise.all(going.values())),
  }
}
