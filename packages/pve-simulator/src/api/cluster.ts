import { hasQuorum } from "../core/quorum.ts"
import { badParameter, failure } from "../core/errors.ts"
import { optionalNumber, type Call, type Routes } from "../http/call.ts"

const RELEASE = { release: "9.2", repoid: "c5d1f8a2b7e60934", version: "9.2.3" }

const nextid = (call: Call): string => {
  const { guests } = call.world.state
  const asked = optionalNumber(call, "vmid")
  if (asked !== undefined) {
    if (guests.has(asked)) throw badParameter({ vmid: `VM ${asked} already exists` })
    return String(asked)
  }
  for (let id = 100; id < 1_000_000; id += 1) if (!guests.has(id)) return String(id)
  throw failure("unable to get any free VMID in range [100, 1000000]")
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

const top = "version cluster nodes storage access pools".split(" ").map((subdir) => ({ subdir }))

/** Version, next free id, status and options of the cluster. */
export const clusterRoutes: Routes = {
  "GET /": () => top,
  "GET /version": () => RELEASE,
  "GET /cluster": () => children,
  "GET /cluster/nextid": nextid,
  "GET /cluster/status": status,
  "GET /cluster/options": () => ({ keyboard: "en-us", mac_prefix: "BC:24:11" }),
  "PUT /cluster/options": () => null,
  "GET /cluster/log": () => [],
  "GET /nodes/{node}/version": () => RELEASE,
}
