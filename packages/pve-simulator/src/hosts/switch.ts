import { must, run } from "./command.ts"

/** The networks of one set of hosts: a namespace with a bridge for each VLAN, apart from the machine's own networks. */
export interface Switch {
  /** Puts an interface into another namespace, on this VLAN. */
  readonly plug: (namespace: string, device: string, vlan: number, mac: string | undefined) => Promise<void>
  readonly remove: () => Promise<void>
}

/** `id` begins the names of everything that is made; interfaces have names of at most 15 characters. */
export const makeSwitch = async (id: string): Promise<Switch> => {
  const namespace = `${id}-switch`
  await must("ip", "netns", "add", namespace)
  const bridges = new Map<number, Promise<string>>()
  let ports = 0

  const make = async (name: string): Promise<string> => {
    await must("ip", "-n", namespace, "link", "add", name, "type", "bridge", "forward_delay", "0", "stp_state", "0")
    await must("ip", "-n", namespace, "link", "set", name, "up")
    return name
  }
  const bridge = (vlan: number): Promise<string> => {
    const known = bridges.get(vlan) ?? make(`vlan${vlan}`)
    bridges.set(vlan, known)
    return known
  }

  return {
    plug: async (other, device, vlan, mac) => {
      const port = `p${(ports += 1)}`
      const master = await bridge(vlan)
      const address = mac === undefined ? [] : ["address", mac]
      await must("ip", "-n", namespace, "link", "add", port, "type", "veth", "peer", "name", device, ...address, "netns", other)
      await must("ip", "-n", namespace, "link", "set", port, "master", master, "up")
      await must("ip", "-n", other, "link", "set", device, "up")
    },
    remove: async () => {
      await run("ip", ["netns", "del", namespace])
    },
  }
}
