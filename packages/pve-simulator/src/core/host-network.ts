import type { HostRoute, NodeState } from "./state.ts"

/** The folder of a node's additional interfaces files. */
const folder = "/etc/network/interfaces.d/"

/** The settings of one device in an interfaces file, as far as they matter here. */
interface Stanza {
  readonly device: string
  readonly addresses: readonly string[]
  readonly routes: readonly { readonly network: string; readonly via: string | undefined }[]
}

const stanzasOf = (text: string): readonly Stanza[] => {
  const stanzas: { device: string; addresses: string[]; routes: { network: string; via: string | undefined }[] }[] = []
  for (const line of text.split("\n").map((each) => each.trim())) {
    const device = /^iface (\S+) inet /.exec(line)?.[1]
    if (device !== undefined) stanzas.push({ device, addresses: [], routes: [] })
    const address = /^address (\S+)$/.exec(line)?.[1]
    if (address !== undefined) stanzas.at(-1)?.addresses.push(address)
    const route = /^post-up ip route (?:add|replace) (\S+)(?: via (\S+))? dev \S+$/.exec(line)
    if (route?.[1] !== undefined) stanzas.at(-1)?.routes.push({ network: route[1], via: route[2] })
  }
  return stanzas
}

const hasDevice = (node: NodeState, device: string): boolean => node.interfaces.has(device) || node.vnets.has(device)

/**
 * A reload applies the configuration: manual addresses on configured devices are removed, and so are routes of devices that no longer
 * exist.
 */
export const adoptHostFiles = (node: NodeState): void => {
  const { files, added, removed, routes } = node.host
  removed.clear()
  added.clear()
  for (const [network, { device }] of routes) if (!hasDevice(node, device)) routes.delete(network)
  for (const [path, text] of files) {
    if (!path.startsWith(folder) || path.slice(folder.length).startsWith(".")) continue
    for (const stanza of stanzasOf(text)) {
      if (!hasDevice(node, stanza.device)) continue
      for (const address of stanza.addresses) added.add(`${stanza.device} ${address}`)
      for (const { network, via } of stanza.routes) routes.set(network, { via, device: stanza.device })
    }
  }
}

/** A boot drops manual routes. */
export const bootHost = (node: NodeState): void => {
  node.host.routes.clear()
  adoptHostFiles(node)
}

/** The node's own addresses with their devices: configured ones, with manual changes. */
export const hostAddresses = (node: NodeState): readonly { readonly device: string; readonly address: string }[] => {
  const configured = [...node.interfaces].flatMap(([device, iface]) =>
    iface["cidr"] === undefined ? [] : [`${device} ${String(iface["cidr"])}`],
  )
  return [...new Set([...configured, ...node.host.added])]
    .filter((one) => !node.host.removed.has(one) && hasDevice(node, one.split(" ")[0]!))
    .map((one) => {
      const [device = "", address = ""] = one.split(" ")
      return { device, address }
    })
}

/** `ip address replace` and `ip address flush … to`. */
export const setHostAddress = (node: NodeState, device: string, address: string, stands: boolean): void => {
  const { added, removed } = node.host
  const one = `${device} ${address}`
  if (stands) {
    removed.delete(one)
    added.add(one)
  } else {
    added.delete(one)
    removed.add(one)
  }
}

const numberOf = (address: string): number => address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0)
const bitsOf = (network: string): number => Number(network.split("/")[1] ?? 32)

const contains = (network: string, address: string): boolean => {
  const size = 2 ** (32 - bitsOf(network))
  return Math.floor(numberOf(network.split("/")[0]!) / size) === Math.floor(numberOf(address) / size)
}

/** The device through which the node sends to an address: that of the most specific route; of its own networks, the first. */
export const deviceTowards = (node: NodeState, address: string): string | undefined => {
  const connected = hostAddresses(node).map(({ device, address: own }): readonly [string, HostRoute] => [
    own,
    { via: undefined, device },
  ])
  const routes = [...node.host.routes, ...connected].filter(([network]) => contains(network, address))
  const best = routes.reduce<(typeof routes)[number] | undefined>(
    (found, one) => (found === undefined || bitsOf(one[0]) > bitsOf(found[0]) ? one : found),
    undefined,
  )?.[1]
  return best === undefined || !hasDevice(node, best.device) ? undefined : best.device
}
