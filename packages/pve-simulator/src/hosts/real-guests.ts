import type { BackedGuest, GuestBacking } from "../guest/backing.ts"
import type { HostAddress, RealHost } from "./host.ts"
import type { RealHosts } from "./hosts.ts"
import type { Port } from "./switch.ts"

/** Real hosts behind guests, for `createSimulator({ backing })`. */
export interface RealGuests extends GuestBacking {
  /** The host of a guest, once it runs. */
  readonly host: (vmid: number) => Promise<RealHost>
  /** Resolves when nothing is being started or stopped. */
  readonly settled: () => Promise<void>
}

/** How often a host is asked for its addresses: an agent tells no older ones. */
const askEveryMillis = 300

/** What untagged packets are on a bridge that knows VLANs. */
const untagged = 1

/** The bridge and the VNet between routers and the hypervisor: there the service's host is. */
const outerBridges = new Set(["vmbr1000", "ludusnat"])

const portOf = ({ bridge, tag = untagged }: BackedGuest["nics"][number]): Port =>
  bridge === undefined || outerBridges.has(bridge) ? { vlan: tag } : { bridge, vlan: tag }

/**
 * A host for each guest that comes up, on the networks of its cards. A guest that goes off keeps its host's folder, and boots from it when
 * it comes back. What goes wrong is thrown by `settled` and `host`, and told to `failed` when it happens.
 */
export const realGuests = (hosts: RealHosts, failed: (vmid: number, error: unknown) => void = () => {}): RealGuests => {
  const made = new Map<number, Promise<RealHost>>()
  const seen = new Map<number, readonly HostAddress[]>()
  const timers = new Map<number, NodeJS.Timeout>()
  const going = new Map<number, Promise<unknown>>()

  /** One thing after another for each guest. */
  const then = (vmid: number, work: () => Promise<unknown>): void => {
    const before = going.get(vmid) ?? Promise.resolve()
    const next = before.then(work)
    next.catch((error: unknown) => failed(vmid, error))
    going.set(vmid, next)
  }
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
        const nics = guest.nics.map((nic) => ({ ...portOf(nic), mac: nic.mac }))
        const host = known ?? hosts.add({ name: guest.name, nics })
        made.set(guest.vmid, host)
        if (known !== undefined) await (await known).start(nics)
        watch(guest.vmid, await host)
      }),
    down: (vmid) => {
      leave(vmid)
      if (made.has(vmid)) then(vmid, async () => (await made.get(vmid))?.stop())
    },
    gone: (vmid) =>
      then(vmid, async () => {
        await (await made.get(vmid))?.remove()
        made.delete(vmid)
      }),
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
