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
  /** Prefix that runs a command in the namespace that stands for the service's host. */
  readonly outside: readonly string[]
  readonly add: (spec: HostSpec) => Promise<RealHost>
  /** The path of a new folder next to those of the hosts, which is removed with them. */
  readonly newFolder: () => string
  /** Links that namespace to the machine's own network, so that programs on both sides can connect to each other. */
  readonly link: () => Promise<Link>
  /** Removes everything: processes, namespaces, folders. */
  readonly remove: () => Promise<void>
}

export interface HostsOptions {
  /** Root's password on every host. */
  readonly password: string
  /** Additional accounts on every host, which become root with their own password. */
  readonly accounts?: readonly Account[]
  readonly outer: OuterNetwork
  /** Networks that the service reaches through an address in the outer network. */
  readonly routes?: readonly { readonly to: string; readonly via: string }[]
}

/**
 * Creates a set of hosts with names, namespaces and folders of its own, so that one machine can have several sets. First removes what
 * killed processes left behind.
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
