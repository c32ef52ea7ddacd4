import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { listens, must, processTree, run } from "./command.ts"
import type { Switch } from "./switch.ts"

/** The network between the service's host and the routers. */
export interface OuterNetwork {
  readonly vlan: number
  /** The address of the service's host there, with the prefix length. */
  readonly address: string
  /** First and last address that the service's host leases there; absent: none. */
  readonly leases?: readonly [string, string]
}

/** A link between the machine's own network and the namespace that stands for the service's host. */
export interface Link {
  /** The address of the machine's end. */
  readonly here: string
  /** The address of the end in the namespace. */
  readonly there: string
}

/** Stops the servers of the outer network. */
type Stop = () => void

/** Creates the namespace that stands for the service's host: an address in the outer network, DHCP for it, routes to other networks. */
export const makeOutside = async (
  namespace: string,
  folder: string,
  network: Switch,
  outer: OuterNetwork,
  routes: readonly { readonly to: string; readonly via: string }[],
): Promise<Stop> => {
  await must("ip", "netns", "add", namespace)
  await must("ip", "-n", namespace, "link", "set", "lo", "up")
  await network.plug(namespace, "eth0", outer, undefined)
  await must("ip", "-n", namespace, "address", "add", outer.address, "dev", "eth0")
  const ways = routes.map(({ to, via }) => `route add ${to} via ${via}\n`).join("")
  const { code, errors } = await run("ip", ["-n", namespace, "-batch", "-"], ways)
  if (code !== 0) throw new Error(`the routes to ranges cannot be set: ${errors.trim()}`)
  if (outer.leases === undefined) return () => {}
  const server = handOut(namespace, folder, outer.leases)
  while (!(await listens(namespace, "udp", dhcpPort))) {
    if (server.exitCode !== null) throw new Error(`what hands out addresses in ${outer.address} ended with ${server.exitCode}`)
    await setTimeout(20)
  }
  return () => void server.kill("SIGKILL")
}

const dhcpPort = 67
const leaseTime = "5m"

/** Serves DHCP, and DNS without any names, because there is no internet. */
const handOut = (namespace: string, folder: string, [first, last]: readonly [string, string]): ChildProcess => {
  const settings = [
    "--keep-in-foreground",
    "--conf-file=/dev/null",
    "--pid-file=",
    "--user=root",
    "--interface=eth0",
    "--bind-interfaces",
    "--no-hosts",
    "--no-resolv",
    "--log-facility=-",
    `--dhcp-range=${first},${last},${leaseTime}`,
    `--dhcp-leasefile=${join(folder, "leases")}`,
    "--dhcp-authoritative",
  ]
  const [program, ...args] = [
    ...processTree(namespace),
    "/bin/sh",
    "-c",
    '"$@" & wait $!',
    "sh",
    "/usr/sbin/dnsmasq",
    ...settings,
  ]
  return spawn(program, args, { stdio: "ignore" })
}

/**
 * Links the namespace to the machine's own network by two link-local addresses that are free on this machine. The interface is named `id`;
 * nothing is routed over it.
 */
export const makeLink = async (id: string, namespace: string): Promise<Link> => {
  const taken = await must("ip", "-4", "-oneline", "address", "show")
  // networks of four addresses, from 169.254.1 to 169.254.254; 169.254.169 is for the services of clouds
  const numbers = Array.from({ length: 64 }, (_, i) => 64 + ((Number.parseInt(id.slice(2), 16) + i * 257) % (254 * 64)))
  const nets = numbers.map((n) => ({ prefix: `169.254.${n >> 6}.`, first: (n & 63) * 4 }))
  const free = nets.find(({ prefix, first }) => !prefix.startsWith("169.254.169.") && !taken.includes(` ${prefix}${first + 1}/`))
  if (free === undefined) throw new Error("no link-local addresses are free for the link to the hosts' network")
  const [here, there] = [`${free.prefix}${free.first + 1}`, `${free.prefix}${free.first + 2}`]
  await must("ip", "link", "add", id, "type", "veth", "peer", "name", "link0", "netns", namespace)
  await must("ip", "address", "add", `${here}/30`, "dev", id)
  await must("ip", "link", "set", id, "up")
  await must("ip", "-n", namespace, "address", "add", `${there}/30`, "dev", "link0")
  await must("ip", "-n", namespace, "link", "set", "link0", "up")
  return { here, there }
}
