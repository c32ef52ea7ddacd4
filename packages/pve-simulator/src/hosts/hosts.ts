import { randomBytes } from "node:crypto"
import { mkdtemp, readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { must } from "./command.ts"
import { type HostSpec, makeHost, type RealHost } from "./host.ts"
import { clear, clearLeftovers, enter } from "./leftovers.ts"
import { type Link, makeLink, makeOutside, type OuterNetwork } from "./outside.ts"
import type { Account } from "./root-folder.ts"
import { makeSwitch } from "./switch.ts"

export interface RealHosts {
  /** The namespace that stands for the service's host: in front of a command it runs there. */
  readonly outside: readonly string[]
  readonly add: (spec: HostSpec) => Promise<RealHost>
  /** The path of a new folder beside those of the hosts, which goes with them. */
  readonly newFolder: () => string
  /** Joins that namespace to the machine's own network, so that programs there and here can speak to each other. */
  readonly link: () => Promise<Link>
  /** Everything goes: processes, namespaces, folders. */
  readonly remove: () => Promise<void>
}

export interface HostsOptions {
  /** Root's password on every host. */
  readonly password: string
  /** Further people of every host, who become root with their own password. */
  readonly accounts?: readonly Account[]
  readonly outer: OuterNetwork
  /** Networks that the service reaches through an address of the outer one. */
  readonly routes?: readonly { readonly to: string; readonly via: string }[]
}

/**
 * Makes a place for hosts. Names, namespaces and folders are its own: several may be on one machine at once. What a killed process left of
 * its own goes first.
 */
export const makeRealHosts = async (options: HostsOptions): Promise<RealHosts> => {
  await clearLeftovers()
  const id = `rw${randomBytes(3).toString("hex")}`
  const folder = await mkdtemp(join(tmpdir(), `${id}-`))
  await enter(id, folder)
  const hosts: RealHost[] = []
  const outside = `${id}-outside`
  let made = 0
  let folders = 0

  const setUp = async () => {
    const network = await makeSwitch(id)
    const stopServing = await makeOutside(outside, folder, network, options.outer, options.routes ?? [])
    await must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(folder, "host_key"))
    return { network, stopServing, hostKey: await readFile(join(folder, "host_key"), "utf8") }
  }
  const { network, stopServing, hostKey } = await setUp().catch(async (error: unknown) => {
    await clear(id, folder)
    throw error
  })
  const accounts = [{ name: "root", password: options.password }, ...(options.accounts ?? [])]

  return {
    outside: ["ip", "netns", "exec", outside],
    add: async (spec) => {
      const own = `${id}-${(made += 1)}`
      const host = await makeHost({ own, folder, network, accounts, hostKey }, spec)
      hosts.push(host)
      return host
    },
    newFolder: () => join(folder, `files-${(folders += 1)}`),
    link: () => makeLink(id, outside),
    remove: async () => {
      await Promise.all(hosts.map((host) => host.stop()))
      stopServing()
      await clear(id, folder)
    },
  }
}
