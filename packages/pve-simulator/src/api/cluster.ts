import { createHash } from "node:crypto"
import { hasQuorum } from "../core/quorum.ts"
import { badParameter, failure } from "../core/errors.ts"
import { optionalNumber, optionalText, type Call, type Routes } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"
import { methods } from "../schema/schema.ts"
import { parsePropertyString } from "../schema/validate.ts"

const RELEASE = { release: "9.2", repoid: "c5d1f8a2b7e60934", version: "9.2.3" }

const nextid = (call: Call): string => {
  const { guests } = call.world.state
  const asked = optionalNumber(call, "vmid")
  if (asked !== undefined) {
    if (guests.has(asked)) throw badParameter({ vmid: `VM ${asked} already exists` })
    return String(asked)
  }
  const { lower = 100, upper = 1_000_000 } = (options(call)["next-id"] ?? {}) as Record<string, string>
  for (let id = Number(lower); id < Number(upper); id += 1) if (!guests.has(id)) return String(id)
  throw failure(`unable to get any free VMID in range [${lower}, ${upper}]`)
}

const optionsMethod = methods.get("PUT /cluster/options")!

/** The options of the cluster, property strings as objects. */
const options = (call: Call): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(call.world.state.options).map(([name, value]) => {
      const format = optionsMethod.parameters[name]?.format
      return [name, typeof format === "object" && name !== "bwlimit" ? parsePropertyString(format, String(value), name) : value]
    }),
  )

const setOptions = (call: Call): null => {
  const { state } = call.world
  const { delete: _, digest: __, ...given } = call.parameters
  for (const name of splitList(optionalText(call, "delete") ?? "")) delete state.options[name]
  Object.assign(state.options, given)
  return null
}

const status = (call: Call): unknown[] => {
  const { state, faults } = call.world
  const nodes = [...state.nodes.values()]
  const entries = nodes.map((node, index) => ({
    id: `node/${node.name}`,
    type: "node",
    name: node.name,
    ip: node.address,
    level: "",
    local: index === 0 ? 1 : 0,
    nodeid: node.id,
    online: faults.isNodeDown(node.name) ? 0 : 1,
  }))
  if (nodes.length === 1) return entries.map((entry) => ({ ...entry, nodeid: 0 }))
  return [
    {
      id: "cluster",
      type: "cluster",
      name: state.clusterName,
      nodes: nodes.length,
      quorate: hasQuorum(call.world) ? 1 : 0,
      version: nodes.length,
    },
    ...entries,
  ]
}

const children =
  "replication metrics config firewall backup ha acme ceph jobs mapping sdn log resources tasks backup-info options status nextid"
    .split(" ")
    .map((name) => ({ name }))

const isCluster = (call: Call): boolean => call.world.state.nodes.size > 1

const totem = (call: Call) =>
  isCluster(call)
    ? {
        cluster_name: call.world.state.clusterName,
        config_version: String(call.world.state.nodes.size),
        interface: { "0": { linknumber: "0" } },
        ip_version: "ipv4-6",
        link_mode: "passive",
        secauth: "on",
        version: "2",
      }
    : {}

const joinInfo = (call: Call) => {
  const { nodes } = call.world.state
  if (!isCluster(call)) throw failure("node is not in a cluster, no join info available!")
  const nodelist = [...nodes.values()].map(({ name, id, address }) => ({
    name,
    nodeid: String(id),
    pve_addr: address,
    pve_fp: call.world.fingerprint,
    quorum_votes: "1",
    ring0_addr: address,
  }))
  const preferred = optionalText(call, "node") ?? nodelist[0]!.name
  const config_digest = createHash("sha1").update(JSON.stringify(nodelist)).digest("hex")
  return { config_digest, nodelist, preferred_node: preferred, totem: totem(call) }
}

const top = "version cluster nodes storage access pools".split(" ").map((subdir) => ({ subdir }))

/** Version, next free id, status and options of the cluster. */
export const clusterRoutes: Routes = {
  "GET /": () => top,
  "GET /version": () => RELEASE,
  "GET /cluster": () => children,
  "GET /cluster/nextid": nextid,
  "GET /cluster/status": status,
  "GET /cluster/options": options,
  "PUT /cluster/options": setOptions,
  "GET /cluster/log": () => [],
  "GET /cluster/config": () => ["nodes", "totem", "join"].map((name) => ({ name })),
  "GET /cluster/config/nodes": (call) =>
    isCluster(call) ? [...call.world.state.nodes.keys()].map((node) => ({ node, name: node })) : [],
  "GET /cluster/config/join": joinInfo,
  "GET /cluster/config/totem": totem,
  "GET /nodes/{node}/version": () => RELEASE,
}
