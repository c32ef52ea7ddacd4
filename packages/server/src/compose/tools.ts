import { type AddressNetwork, parseNetwork } from "@rangewright/domain"
import { memoised, type ToolOptions } from "@rangewright/host-tools"
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import type { Config } from "../config/config.ts"

const hostOf = (url: string): readonly string[] => {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/gu, "")
  return host === undefined || host === "" ? [] : [host]
}

/** Hosts that the service itself depends on, and networks. Runs of tools must not connect to them. */
const keptHosts = (config: Config): readonly string[] => [
  ...config.proxmoxUrl.flatMap(hostOf),
  ...[config.sshHost, config.ansibleJumpHost].filter((host) => host !== undefined),
  ...(config.databaseUrl === undefined ? [] : hostOf(config.databaseUrl)),
  ...config.protectedAddresses,
]

type Find = (host: string) => Promise<readonly string[]>
const byHost: Find = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * Tells the addresses of these hosts. While a name cannot be resolved, its last known addresses count; nobody who slows down the name
 * servers opens the way to them. A name that does not exist has none.
 */
export const keptAddresses = (config: Config, find: Find = byHost): (() => Promise<readonly string[]>) => {
  const known = new Map<string, readonly string[]>()
  const addressesOf = async (host: string): Promise<readonly string[]> => {
    if (isIP(host) !== 0 || parseNetwork(host) !== undefined) return [host]
    const found = await find(host).catch((error: NodeJS.ErrnoException) => {
      const before = known.get(host) ?? (error.code === "ENOTFOUND" ? [] : undefined)
      if (before === undefined)
        throw new Error("nothing can be reached now: the names of protected addresses cannot be resolved", { cause: error })
      return before
    })
    known.set(host, found)
    return found
  }
  return async () => (await Promise.all(keptHosts(config).map(addressesOf))).flat()
}

const keptSeconds = 60

/** The networks of a setting. */
export const networksOf = (texts: readonly string[]): readonly AddressNetwork[] =>
  texts.flatMap((text) => parseNetwork(text) ?? [])

/** How programs of the service's host run: playbooks, ansible-galaxy, git. */
export const toolOptions = (config: Config): ToolOptions => ({
  sandbox: config.ansibleSandbox,
  internet: config.toolInternet,
  never: memoised(keptSeconds, keptAddresses(config)),
})
