import { rm } from "node:fs/promises"
import type { BackedGuest, GuestBacking } from "../guest/backing.ts"
import { copyFolder } from "./copy-folder.ts"
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

/** How often it is looked whether a host's addresses changed: an agent tells no older ones. */
const lookEveryMillis = 300
/** After so many looks a host is asked whatever they show: a hardware address, or a card that is down, changes no routes. */
const askAfterLooks = 10

/** What untagged packets are on a bridge that knows VLANs. */
const untagged = 1

/** The bridge and the VNet between routers and the hypervisor: there the service's host is. */
const outerBridges = new Set(["vmbr1000", "ludusnat"])

const portOf = ({ bridge, tag = untagged }: BackedGuest["nics"][number]): Port =>
  bridge === undefined || outerBridges.has(bridge) ? { vlan: tag } : { bridge, vlan: tag }

const nicsOf = (guest: BackedGuest) => guest.nics.map((nic) => ({ ...portOf(nic), mac: nic.mac }))

/** As an installer does: it waits for an address, and asks once. */
const fetchScript = `
import subprocess, sys, time, urllib.request
for _ in range(300):
    if "inet " in subprocess.run(["ip", "-4", "address", "show", "scope", "global"], capture_output=True, text=True).stdout: break
    time.sleep(0.1)
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], timeout=20).read(1 << 20))
`

const fetchInside = async (host: RealHost, url: string): Promise<string> => {
  const { code, output, errors } = await host.run("python3", "-c", fetchScript, url)
  if (code !== 0) throw new Error(`${url} was not fetched: ${errors.trim()}`)
  return output
}

/**
 * A host for each guest that comes up, on the networks of its cards. A guest that goes off keeps its host's folder, and boots from it when
 * it comes back. What goes wrong is told to `failed`, and thrown by `settled` and `host` until something else was done with the guest.
 */
export const realGuests = (hosts: RealHosts, failed: (vmid: number, error: unknown) => void = () => {}): RealGuests => {
  const made = new Map<number, RealHost>()
  /** What clones have before their first boot. */
  const files = new Map<number, string>()
  const seen = new Map<number, readonly HostAddress[]>()
  const timers = new Map<number, NodeJS.Timeout>()
  const going = new Map<number, Promise<unknown>>()

  const busy = new Map<number, number>()
  const count = (vmid: number, change: 1 | -1): void => void busy.set(vmid, (busy.get(vmid) ?? 0) + change)

  /** One thing after another for each guest. */
  const then = (vmid: number, work: () => Promise<unknown>): void => {
    const before = going.get(vmid) ?? Promise.resolve()
    count(vmid, 1)
    const next = before
      .catch(() => {})
      .then(work)
      .finally(() => count(vmid, -1))
    next.catch((error: unknown) => failed(vmid, error))
    going.set(vmid, next)
  }
  const watch = (vmid: number, host: RealHost): void => {
    let before: string | undefined
    let looks = 0
    const look = async (): Promise<void> => {
      looks += 1
      const routes = await host.routes().catch(() => undefined)
      if (routes === before && looks % askAfterLooks !== 0) return
      const cards = await host.cards().catch(() => undefined)
      if (cards === undefined || !timers.has(vmid)) return
      before = routes
      seen.set(vmid, cards)
    }
    timers.set(vmid, setInterval(() => void look(), lookEveryMillis).unref())
  }
  const leave = (vmid: number): void => {
    clearInterval(timers.get(vmid))
    timers.delete(vmid)
    seen.delete(vmid)
  }

  const forget = async (vmid: number): Promise<void> => {
    leave(vmid)
    await made.get(vmid)?.remove()
    made.delete(vmid)
  }

  return {
    up: (guest) =>
      then(guest.vmid, async () => {
        // one that comes up while it is up is another: the simulator began anew
        if (timers.has(guest.vmid)) await forget(guest.vmid)
        const nics = nicsOf(guest)
        const known = made.get(guest.vmid)
        const copied = files.get(guest.vmid)
        const { name, accounts } = guest
        const begun = { ...(copied === undefined ? {} : { files: copied }), ...(accounts === undefined ? {} : { accounts }) }
        const host = known ?? (await hosts.add({ name, nics, ...begun }))
        made.set(guest.vmid, host)
        if (known !== undefined) await known.start(nics)
        watch(guest.vmid, host)
      }),
    fetch: async (guest, url) => {
      let text = ""
      then(guest.vmid, async () => {
        const host = await hosts.add({ name: guest.name, nics: nicsOf(guest), bare: true })
        try {
          text = await fetchInside(host, url)
        } finally {
          await host.remove()
        }
      })
      await going.get(guest.vmid)
      return text
    },
    down: (vmid) => {
      leave(vmid)
      then(vmid, async () => {
        // it may have come up only now
        leave(vmid)
        await made.get(vmid)?.stop()
      })
    },
    gone: (vmid) =>
      then(vmid, async () => {
        await forget(vmid)
        const copied = files.get(vmid)
        files.delete(vmid)
        if (copied !== undefined) await rm(copied, { recursive: true, force: true })
      }),
    copy: (from, to, name) =>
      then(to, async () => {
        await going.get(from)?.catch(() => {})
        const folder = hosts.newFolder()
        const before = files.get(from)
        if (await made.get(from)?.copy(folder, name)) files.set(to, folder)
        else if (before !== undefined) {
          await copyFolder(before, folder)
          files.set(to, folder)
        }
      }),
    keep: (vmid, name) => then(vmid, async () => made.get(vmid)?.keep(name)),
    goBack: (vmid, name) =>
      then(vmid, async () => {
        // what was kept before its first boot is what it began with
        if ((await made.get(vmid)?.goBack(name)) === false) await forget(vmid)
      }),
    drop: (vmid, name) => then(vmid, async () => made.get(vmid)?.drop(name)),
    isBusy: (vmid) => (busy.get(vmid) ?? 0) > 0,
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
