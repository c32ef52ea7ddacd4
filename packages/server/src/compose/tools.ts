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

const addressesOf = async (host: string): Promise<readonly string[]> =>
  isIP(host) === 0 && parseNetwork(host) === undefined
    ? (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address)
    : [host]

const keptSeconds = 60

/** The networks of a setting. */
export const networksOf = (texts: readonly string[]): readonly AddressNetwork[] =>
  texts.flatMap((text) => parseNetwork(text) ?? [])

/** How programs of the service's host run: playbooks, ansible-galaxy, git. */
export const toolOptions = (config: Config): ToolOptions => ({
  sandbox: config.ansibleSandbox,
  internet: config.toolInternet,
  never: memoised(keptSeconds, async () => (await Promise.all(keptHosts(config).map(addressesOf))).flat()),
})
