import type { Config, NodeState } from "../core/state.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { nodeOf, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { checkDigest, digestOfPart } from "./digests.ts"
import { nodeLoads } from "./resources.ts"

const GIB = 1024 ** 3

const uptime = (world: World, node: NodeState): number => Math.max(1, Math.floor((world.clock.now() - node.bootedAt) / 1000))

const list = (call: Call): unknown[] => {
  const { world, identity } = call
  const loads = nodeLoads(world)
  return [...world.state.nodes.values()].map((node) => {
    const down = world.faults.isNodeDown(node.name)
    const fixed = {
      id: `node/${node.name}`,
      type: "node",
      node: node.name,
      status: down ? "offline" : "online",
      ssl_fingerprint: world.fingerprint,
      level: "",
    }
    if (down || !may(world, identity, `/nodes/${node.name}`, ["Sys.Audit"])) return fixed
    const load = loads.get(node.name)!
    return {
      ...fixed,
      cpu: load.cpu,
      maxcpu: node.cores,
      mem: load.mem,
      maxmem: node.memoryBytes,
      disk: 8 * GIB,
      maxdisk: 100 * GIB,
      uptime: uptime(world, node),
    }
  })
}

const status = (call: Call) => {
  const { world } = call
  const node = nodeOf(call)
  const load = nodeLoads(world).get(node.name)!
  return {
    "boot-info": { mode: "efi", secureboot: 0 },
    cpu: load.cpu,
    cpuinfo: {
      cores: node.cores / 2,
      cpus: node.cores,
      sockets: 1,
      model: "Simulated CPU",
      hvm: "1",
      mhz: "3000.000",
      user_hz: 100,
      flags: "fpu vme de pse",
    },
    "current-kernel": { sysname: "Linux", release: "6.17.4-1-pve", version: "#1 SMP PREEMPT_DYNAMIC", machine: "x86_64" },
    idle: 0,
    ksm: { shared: 0 },
    kversion: "Linux 6.17.4-1-pve #1 SMP PREEMPT_DYNAMIC",
    loadavg: ["0.10", "0.08", "0.05"],
    memory: {
      total: node.memoryBytes,
      used: load.mem,
      free: node.memoryBytes - load.mem,
      available: node.memoryBytes - load.mem,
    },
    pveversion: "pve-manager/9.2.3/c5d1f8a2b7e60934",
    rootfs: { total: 100 * GIB, used: 8 * GIB, avail: 92 * GIB, free: 92 * GIB },
    swap: { total: 8 * GIB, used: 0, free: 8 * GIB },
    uptime: uptime(world, node),
    wait: 0,
  }
}

const time = (call: Call) => {
  const node = nodeOf(call)
  return { timezone: node.timezone, time: nowSeconds(call.world), localtime: nowSeconds(call.world) }
}

const setDns = (call: Call): null => {
  const node = nodeOf(call)
  const optional = (name: "dns1" | "dns2" | "dns3") => {
    const value = optionalText(call, name)
    return value === undefined ? {} : { [name]: value }
  }
  node.dns = { search: text(call, "search"), ...optional("dns1"), ...optional("dns2"), ...optional("dns3") }
  return null
}

const options = (call: Call) => {
  const { options: set = {} } = nodeOf(call)
  const only = optionalText(call, "property")
  if (only !== undefined) return set[only] === undefined ? {} : { [only]: set[only] }
  return { ...set, digest: digestOfPart(set) }
}

const setOptions = (call: Call): null => {
  const node = nodeOf(call)
  const { node: _, delete: __, digest: ___, ...given } = call.parameters
  const set = { ...node.options }
  checkDigest(call, set)
  for (const name of splitList(optionalText(call, "delete") ?? "")) delete set[name]
  node.options = { ...set, ...given } as Config
  return null
}

const hostsFile = "/etc/hosts"

const hosts = (call: Call) => {
  const { name, address, host, dns } = nodeOf(call)
  const data =
    host.files.get(hostsFile) ?? `127.0.0.1 localhost.localdomain localhost\n${address} ${name}.${dns.search} ${name}\n`
  return { data, digest: digestOfPart(data) }
}

const setHosts = (call: Call): null => {
  checkDigest(call, hosts(call).data)
  nodeOf(call).host.files.set(hostsFile, text(call, "data"))
  return null
}

const children = "qemu lxc firewall status version syslog tasks storage network dns time sdn vncshell termproxy"
  .split(" ")
  .map((name) => ({ name }))

/** Nodes: list, load, time, DNS. */
export const nodeRoutes: Routes = {
  "GET /nodes": list,
  "GET /nodes/{node}": () => children,
  "GET /nodes/{node}/status": status,
  "GET /nodes/{node}/time": time,
  "PUT /nodes/{node}/time": (call) => ((nodeOf(call).timezone = text(call, "timezone")), null),
  "GET /nodes/{node}/dns": (call) => nodeOf(call).dns,
  "PUT /nodes/{node}/dns": setDns,
  "GET /nodes/{node}/config": options,
  "PUT /nodes/{node}/config": setOptions,
  "GET /nodes/{node}/hosts": hosts,
  "POST /nodes/{node}/hosts": setHosts,
  "GET /nodes/{node}/rrddata": () => [],
  "GET /nodes/{node}/lxc": () => [],
}
