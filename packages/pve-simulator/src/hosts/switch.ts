import { must, run } from "./command.ts"

/** The network of a card. VLANs of different bridges are different networks. */
export interface Port {
  /** Absent: the bridge of the service's host. */
  readonly bridge?: string
  readonly vlan: number
}

/** The networks of one set of hosts: a namespace with a bridge for each network, separate from the machine's own networks. */
export interface Switch {
  /** Creates an interface in another namespace, on this network. */
  readonly plug: (namespace: string, device: string, port: Port, mac: string | undefined) => Promise<void>
  /**
   * Removes all interfaces that were put into a namespace. Deleting the namespace removes them only when the kernel has finished with it, and
   * until then it answers under their addresses.
   */
  readonly unplug: (namespace: string) => Promise<void>
}

/** The names of everything that is created begin with `id`; interface names have at most 15 characters. */
export const makeSwitch = async (id: string): Promise<Switch> => {
  const namespace = `${id}-switch`
  await must("ip", "netns", "add", namespace)
  // a switch needs no addresses; with IPv6 enabled, its kernel would look for routers on every network like a host
  await must("ip", "netns", "exec", namespace, "sysctl", "--quiet", "--write", "net.ipv6.conf.default.disable_ipv6=1")
  const bridges = new Map<string, Promise<string>>()
  const portsOf = new Map<string, readonly string[]>()
  let ports = 0

  const make = async (name: string): Promise<string> => {
    await must("ip", "-n", namespace, "link", "add", name, "type", "bridge", "forward_delay", "0", "stp_state", "0")
    await must("ip", "-n", namespace, "link", "set", name, "up")
    return name
  }
  const bridgeOf = ({ bridge = "", vlan }: Port): Promise<string> => {
    const key = `${vlan} ${bridge}`
    const known = bridges.get(key) ?? make(`net${bridges.size}`)
    bridges.set(key, known)
    return known
  }

  return {
    plug: async (other, device, at, mac) => {
      const port = `p${(ports += 1)}`
      const master = await bridgeOf(at)
      portsOf.set(other, [...(portsOf.get(other) ?? []), port])
      const address = mac === undefined ? [] : ["address", mac]
      await must("ip", "-n", namespace, "link", "add", port, "type", "veth", "peer", "name", device, ...address, "netns", other)
      await must("ip", "-n", namespace, "link", "set", port, "master", master, "up")
      await must("ip", "-n", other, "link", "set", device, "up")
    },
    unplug: async (other) => {
      for (const port of portsOf.get(other) ?? []) await run("ip", ["-n", namespace, "link", "del", port])
      portsOf.delete(other)
    },
  }
}
