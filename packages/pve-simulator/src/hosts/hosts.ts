import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { must, run } from "./command.ts"
import { type HostSpec, makeHost, type RealHost } from "./host.ts"
import { makeSwitch } from "./switch.ts"

export interface RealHosts {
  /** The namespace that stands for the service's host: in front of a command it runs there. */
  readonly outside: readonly string[]
  readonly add: (spec: HostSpec) => Promise<RealHost>
  /** Everything goes: processes, namespaces, folders. */
  readonly remove: () => Promise<void>
}

export interface HostsOptions {
  /** Root's password on every host. */
  readonly password: string
  /** The network between the service's host and routers: its VLAN here, and the service's address with the length. */
  readonly outer: { readonly vlan: number; readonly address: string }
  /** Networks that the service reaches through an address of the outer one. */
  readonly routes?: readonly { readonly to: string; readonly via: string }[]
}

/** Makes a place for hosts. Names, namespaces and folders are its own: several may be on one machine at once. */
export const makeRealHosts = async (options: HostsOptions): Promise<RealHosts> => {
  const id = `rw${randomBytes(3).toString("hex")}`
  const folder = await mkdtemp(join(tmpdir(), `${id}-`))
  const hosts: RealHost[] = []
  const outside = `${id}-outside`
  let made = 0

  const network = await makeSwitch(id)
  await must("ip", "netns", "add", outside)
  await must("ip", "-n", outside, "link", "set", "lo", "up")
  await network.plug(outside, "eth0", options.outer.vlan, undefined)
  await must("ip", "-n", outside, "address", "add", options.outer.address, "dev", "eth0")
  for (const { to, via } of options.routes ?? []) await must("ip", "-n", outside, "route", "add", to, "via", via)
  await must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(folder, "host_key"))
  const hostKey = await readFile(join(folder, "host_key"), "utf8")

  return {
    outside: ["ip", "netns", "exec", outside],
    add: async (spec) => {
      const own = `${id}-${(made += 1)}`
      const host = await makeHost({ own, folder, network, password: options.password, hostKey }, spec)
      hosts.push(host)
      return host
    },
    remove: async () => {
      await Promise.all(hosts.map((host) => host.stop()))
      await run("ip", ["netns", "del", outside])
      await network.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
