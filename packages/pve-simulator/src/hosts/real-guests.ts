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

/** How often a host's addresses are checked for changes, and so how old the agent's answer can be. */
const lookEveryMillis = 300
/**
 * After this many checks the addresses are read in any case, because a hardware address or a card that is down does not change the routes.
 */
const askAfterLooks = 10

/** The VLAN of untagged packets on a VLAN-aware bridge. */
const untagged = 1

/** The bridge and the VNet between routers and the hypervisor, where the service's host is. */
const outerBridges = new Set(["vmbr1000", "ludusnat"])

const portOf = ({ bridge, tag = untagged }: BackedGuest["nics"][number]): Port =>
  bridge === undefined || outerBridges.has(bridge) ? { vlan: tag } : { bridge, vlan: tag }

const nicsOf = (guest: BackedGuest) => guest.nics.map((nic) => ({ ...portOf(nic), mac: nic.mac }))

/** Fetches a text like an installer: waits for an address, and tries once. */
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
 * Runs a host for each guest that is up, on the networks of its cards. A guest that goes down keeps its host's folder, and boots from it
 * the next time. Errors are passed to `failed`, and thrown by `settled` and `host` until the next action on the guest.
 */
export const realGuests = (hosts: RealHosts, failed: (vmid: number, error: unknown) => void = () => {}): RealGuests => {
  const made = new Map<number, RealHost>()
  /** Folders of clones before their first boot. */
  const files = new Map<number, string>()
  const seen = new Map<number, readonly HostAddress[]>()
  const timers = new Map<number, NodeJS.Timeout>()
  const going = new Map<number, Promise<unknown>>()

  const busy = new Map<number, number>()
  const count = (vmid: number, change: 1 | -1): void => void busy.set(vmid, (busy.get(vmid) ?? 0) + change)

  /** Runs the actions on one guest one after another. */
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
        // a guest that comes up while it is up is a new one: the simulator was reset
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
        // it may have just come up
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
        // a snapshot from before its first boot has the files that it began with
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
