import { failure, wrapped } from "../core/errors.ts"
import { randomUuid } from "../core/random.ts"
import { sleep, type Routine } from "../core/routine.ts"
import { startTask, type TaskHandle } from "../core/tasks.ts"
import { flag, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { reloadNetwork } from "./network.ts"
import { edit, hasPending } from "./sdn-views.ts"

const invalidToken = () => failure("invalid lock token provided! at /usr/share/perl5/PVE/Network/SDN.pm line 291.")

const lock = (call: Call): string => {
  const { sdn, random } = call.world.state
  try {
    if (sdn.lock !== undefined) throw invalidToken()
    if (hasPending(call) && !flag(call, "allow-pending"))
      throw failure("configuration has pending changes at /usr/share/perl5/PVE/API2/Network/SDN.pm line 150.")
  } catch (error) {
    throw wrapped("could not acquire lock for SDN config", error)
  }
  sdn.lock = randomUuid(random)
  return sdn.lock
}

const unlock = (call: Call): null => {
  const { sdn } = call.world.state
  if (!flag(call, "force") && sdn.lock !== optionalText(call, "lock-token"))
    throw wrapped("could not release lock", invalidToken())
  sdn.lock = undefined
  return null
}

/** An apply or a rollback releases the lock, unless `release-lock` is 0. */
const release = (call: Call): void => {
  if (call.parameters["release-lock"] === undefined || flag(call, "release-lock")) call.world.state.sdn.lock = undefined
}

/** Commits at once; the task then makes every node reload its network. It ends OK even if a node fails. */
const apply = (call: Call): string => {
  const { world } = call
  edit(call, "could not apply SDN configuration", () => {
    const { sdn } = world.state
    sdn.running = structuredClone(sdn.config)
    sdn.version += 1
  })
  release(call)
  const [home = ""] = world.state.nodes.keys()
  return startTask(world, { node: home, type: "reloadnetworkall", id: "", author: call.identity }, (task) =>
    reloadAll(call, task),
  )
}

function* reloadAll(call: Call, task: TaskHandle): Routine<void> {
  const { world } = call
  const started: string[] = []
  for (const node of world.state.nodes.values()) {
    task.log(`${node.name}: reloading network config`)
    if (world.faults.isNodeDown(node.name)) {
      task.log(`ssh: connect to host ${node.address} port 22: No route to host`)
      continue
    }
    started.push(
      startTask(
        world,
        { node: node.name, type: "srvreload", id: "networking", author: { user: "root@pam", tokenid: undefined } },
        (reload) =>
          reloadNetwork(world, node, (complaint) => {
            reload.log(complaint)
            reload.log("")
          }),
      ),
    )
  }
  yield* sleep(world.clock, world.timing.sdnApply)
  while (started.some((upid) => world.running.has(upid))) yield* sleep(world.clock, 50)
  for (const upid of started) {
    const status = world.state.tasks.get(upid)?.exitstatus
    if (status !== undefined && status !== "OK") task.log(status)
  }
}

const rollback = (call: Call): null => {
  edit(call, "could not rollback SDN configuration", () => {
    call.world.state.sdn.config = structuredClone(call.world.state.sdn.running)
  })
  release(call)
  return null
}

/** The allocated addresses of subnets: only gateways, because the cluster does not know the guests' addresses here. */
const ipamStatus = (call: Call): unknown[] => {
  const { vnets, subnets } = call.world.state.sdn.config
  if (text(call, "ipam") !== "pve") throw failure(`sdn ipam '${text(call, "ipam")}' does not exist`)
  return [...subnets.values()].flatMap(({ vnet, gateway, cidr }) => {
    const zone = vnets.get(String(vnet))?.["zone"]
    if (gateway === undefined || zone === undefined) return []
    if (!may(call.world, call.identity, `/sdn/zones/${zone}/${vnet}`, ["SDN.Audit", "SDN.Allocate"], true)) return []
    return [{ zone, vnet, subnet: cidr, ip: gateway, gateway: 1 }]
  })
}

/** The SDN configuration as a whole: lock, apply, rollback. */
export const sdnRoutes: Routes = {
  "GET /cluster/sdn": () => ["vnets", "zones", "controllers", "ipams", "dns", "fabrics"].map((id) => ({ id })),
  "PUT /cluster/sdn": apply,
  "POST /cluster/sdn/lock": lock,
  "DELETE /cluster/sdn/lock": unlock,
  "POST /cluster/sdn/rollback": rollback,
  "GET /cluster/sdn/controllers": () => [],
  "GET /cluster/sdn/ipams/{ipam}/status": ipamStatus,
  "GET /cluster/sdn/ipams": () => [{ ipam: "pve", type: "pve", digest: "da39a3ee5e6b4b0d3255bfef95601890afd80709" }],
  "GET /cluster/sdn/dns": () => [],
}
