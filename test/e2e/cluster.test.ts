import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, describe, expect, test } from "vitest"
import type { ApiClient, StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectMachines, expectSuccess, follow, runEnd, type RunView, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { openRelay, type Relay } from "./support/relay.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { type Guest, type SimulatorProcess, startSimulator } from "./support/simulator.ts"

const relays: Relay[] = []
const servers: Server[] = []
afterAll(async () => {
  await endAll()
  relays.splice(0).forEach((relay) => relay.close())
  servers.splice(0).forEach((server) => server.close())
  removeFolders()
})

const machines = ["router-debian11-x64", "m1", "m2", "m3", "m4"]

interface Cluster {
  readonly simulator: SimulatorProcess
  readonly service: ServiceProcess
  readonly admin: ApiClient
}

/** A service on a simulated cluster of three nodes, with a range LAB ready to deploy. `urls` makes the endpoints from the simulator. */
const cluster = async (
  options: { readonly speed?: number; readonly urls?: (simulator: SimulatorProcess) => string | Promise<string> } = {},
): Promise<Cluster> => {
  const simulator = await startSimulator(["--speed", String(options.speed ?? 120), "--nodes", "3"])
  const url = (await options.urls?.(simulator)) ?? simulator.url
  const service = await startService(temporaryFolder(), onSimulator({ ...simulator, url }))
  const admin = service.as(await addUser(service.root, "ADA", true))
  await addLab(service, "LAB", smallLab(machines.length - 1))
  return { simulator, service, admin }
}

const isSettled = ({ type }: StreamEvent): boolean => type === "StepSettled"
const isWaiting = ({ type }: StreamEvent): boolean => type === "Waiting"
const settledIs =
  (step: string) =>
  ({ type, data }: StreamEvent): boolean =>
    type === "StepSettled" && data.key === step

const guestNamed = async ({ simulator }: Cluster, name: string): Promise<Guest> => {
  const guest = (await simulator.guests()).find((one) => one.name === name)
  if (guest === undefined) throw new Error(`there is no ${name}`)
  return guest
}

/** Changes a VM as root does by hand, and waits for the task. */
const byHand = async (
  { simulator }: Cluster,
  { vmid, node }: Pick<Guest, "vmid" | "node">,
  what: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const upid = await simulator.post<string>(`/nodes/${node}/qemu/${vmid}/${what}`, parameters)
  await eventually(
    `the end of the ${what} of VM ${vmid}`,
    () => simulator.read<{ readonly exitstatus?: string }>(`/nodes/${node}/tasks/${encodeURIComponent(upid)}/status`),
    ({ exitstatus }) => exitstatus === "OK",
  )
}

/** Moves a VM to the next node, and waits until it is there. */
const moveOn = async (lab: Cluster, guest: Guest): Promise<string> => {
  const target = `pve${(Number(guest.node.slice(3)) % 3) + 1}`
  await byHand(lab, guest, "migrate", { target, ...(guest.status === "running" ? { online: "1" } : {}) })
  return target
}

const stepsOf = async ({ admin }: Cluster, runId: string): Promise<readonly string[]> =>
  (await admin.get<RunView>(`/runs/${runId}`)).steps.map(({ key }) => key)

/** The range is deployed, and deploying it again finds nothing to do. */
const expectDeployed = async (lab: Cluster): Promise<void> => {
  await expectMachines(lab.simulator, lab.admin, "LAB", machines)
  const again = await deploy(lab.admin, "LAB")
  await expectSuccess(lab.admin, again)
  expect(await stepsOf(lab, again)).toEqual([])
}

/** Starts a deploy that cannot end before `release`: until then no work inside a machine ends. */
const deployHeld = async ({ simulator, admin }: Cluster) => {
  const release = await simulator.fault({
    kind: "garbage",
    match: { method: "GET", path: "/nodes/*/qemu/*/agent/exec-status" },
    when: "before",
    body: JSON.stringify({ data: { exited: 0 } }),
    times: "always",
  })
  return { runId: await deploy(admin, "LAB"), release }
}

describe.concurrent("a node that fails during a deploy", { timeout: 300_000 }, () => {
  test("and is unreachable for a while is named and waited for, and the run continues when it is back", async () => {
    const lab = await cluster()
    const { runId, release } = await deployHeld(lab)
    const seen: StreamEvent[] = []
    await follow(lab.admin, runId, seen, settledIs("clone:LAB-m2"))
    const { node } = await guestNamed(lab, "LAB-m2")
    const back = await lab.simulator.fault({ kind: "node-down", node })
    await release()
    expect(await follow(lab.admin, runId, seen, isWaiting)).toBe(true)
    expect((await lab.admin.get<RunView>(`/runs/${runId}`)).waiting).toContain(`node ${node} cannot be reached`)
    await back()
    await expectSuccess(lab.admin, runId)
    await expectDeployed(lab)
  })

  test("and loses power may end the run; once it is back, one more deploy completes the range", async () => {
    const lab = await cluster()
    const { runId, release } = await deployHeld(lab)
    const seen: StreamEvent[] = []
    const started = () => seen.filter(({ type, data }) => type === "StepSettled" && String(data.key).startsWith("start:"))
    await follow(lab.admin, runId, seen, () => started().length === machines.length)
    const { node } = await guestNamed(lab, "LAB-m3")
    const back = await lab.simulator.fault({ kind: "node-off", node })
    await release()
    expect(await follow(lab.admin, runId, seen, isWaiting)).toBe(true)
    await back()
    await runEnd(lab.admin, runId)
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    await expectDeployed(lab)
  })

  test("and stays away does not prevent deploys on the remaining nodes", async () => {
    const lab = await cluster()
    await lab.simulator.fault({ kind: "node-off", node: "pve3" })
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    const nodes = (await lab.simulator.guests()).map(({ node }) => node)
    expect(new Set(nodes)).toEqual(new Set(["pve1", "pve2"]))
    await expectDeployed(lab)
  })
})

describe.concurrent("a VM that somebody else migrates", { timeout: 300_000 }, () => {
  test("between deploys is followed: there is nothing to do, and power and removal reach it", async () => {
    const lab = await cluster({ speed: 300 })
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    const moved = await guestNamed(lab, "LAB-m1")
    const target = await moveOn(lab, moved)
    await expectDeployed(lab)
    expect(await guestNamed(lab, "LAB-m1")).toMatchObject({ vmid: moved.vmid, node: target })
    await lab.admin.send("PUT", "/range/poweroff?rangeID=LAB", { machines: ["LAB-m1"] })
    await eventually(
      "a VM that is off",
      () => guestNamed(lab, "LAB-m1"),
      ({ status }) => status === "stopped",
    )
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    expect(await guestNamed(lab, "LAB-m1")).toMatchObject({ vmid: moved.vmid, node: target, status: "running" })
    await lab.admin.send("DELETE", "/range?rangeID=LAB&force=true")
    expect(await lab.simulator.guests()).toEqual([])
    expect(JSON.stringify(await lab.simulator.read("/cluster/sdn/vnets"))).not.toMatch(/"r\d/u)
    // no other range has a network, so none has rights on one
    expect(JSON.stringify(await lab.simulator.read("/access/acl"))).not.toMatch(/LAB|\/sdn\//u)
  })

  test("during a deploy is changed where it is, each step once", async () => {
    const lab = await cluster({ speed: 60 })
    const runId = await deploy(lab.admin, "LAB")
    const seen: StreamEvent[] = []
    await follow(lab.admin, runId, seen, settledIs("start:LAB-m1"))
    const before = await guestNamed(lab, "LAB-m1")
    const target = await moveOn(lab, before)
    await expectSuccess(lab.admin, runId)
    expect(await guestNamed(lab, "LAB-m1")).toMatchObject({ vmid: before.vmid, node: target })
    await expectDeployed(lab)
  })

  test("off a node that lost power, by high availability, is found on its new node; power and removal reach it there", async () => {
    const lab = await cluster({ speed: 300 })
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    const { node } = await guestNamed(lab, "LAB-m1")
    for (const guest of await lab.simulator.guests())
      await lab.simulator.post("/cluster/ha/resources", { sid: `vm:${guest.vmid}`, state: "started" })
    await lab.simulator.fault({ kind: "node-off", node })
    await eventually(
      "guests that came up elsewhere",
      () => lab.simulator.guests(),
      (guests) => guests.every((guest) => guest.node !== node && guest.status === "running"),
    )
    await expectDeployed(lab)
    await lab.admin.send("PUT", "/range/poweroff?rangeID=LAB", { machines: ["LAB-m1"] })
    await eventually(
      "a VM that is off",
      () => guestNamed(lab, "LAB-m1"),
      ({ status }) => status === "stopped",
    )
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    await expectDeployed(lab)
    await lab.admin.send("DELETE", "/range?rangeID=LAB&force=true")
    expect([await lab.simulator.guests(), await lab.simulator.read("/cluster/ha/resources")]).toEqual([[], []])
  })
})

describe.concurrent("a cluster that loses quorum during a deploy", { timeout: 300_000 }, () => {
  test("refuses changes but not reads, and the run continues once it is quorate", async () => {
    const lab = await cluster()
    const runId = await deploy(lab.admin, "LAB")
    const seen: StreamEvent[] = []
    await follow(lab.admin, runId, seen, isSettled)
    const regained = await lab.simulator.fault({ kind: "quorum-lost" })
    expect(await follow(lab.admin, runId, seen, isWaiting)).toBe(true)
    const { status, waiting } = await lab.admin.get<RunView>(`/runs/${runId}`)
    expect([status, waiting]).toEqual(["running", expect.stringContaining("no quorum")])
    expect((await lab.admin.ask("GET", "/range?rangeID=LAB")).status).toBe(200)
    await regained()
    await expectSuccess(lab.admin, runId)
    await expectDeployed(lab)
  })
})

/** Two connections to the simulator; callers may break the first. */
const twoWires = async (simulator: SimulatorProcess): Promise<readonly [Relay, Relay]> => {
  const pair = [await openRelay(simulator.port), await openRelay(simulator.port)] as const
  relays.push(...pair)
  return pair
}
const urlsOf = (pair: readonly Relay[]): string => pair.map(({ port }) => `https://127.0.0.1:${port}`).join(", ")

/** Another web server where a node's API should be. */
const stranger = async (): Promise<string> => {
  const server = createServer((_, response) => response.end("<html>It works!</html>"))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.concurrent("a service with two endpoints", { timeout: 300_000 }, () => {
  const atTheStart = {
    "refuses connections": async (simulator: SimulatorProcess) => {
      const pair = await twoWires(simulator)
      pair[0].cut()
      return urlsOf(pair)
    },
    "takes connections and says nothing": async (simulator: SimulatorProcess) => {
      const pair = await twoWires(simulator)
      pair[0].stall()
      return urlsOf(pair)
    },
    "answers what no node says": async (simulator: SimulatorProcess) => `${await stranger()}, ${simulator.url}`,
  }
  for (const [what, urls] of Object.entries(atTheStart))
    test(`uses the second when the first ${what} from the start`, async () => {
      const lab = await cluster({ urls })
      await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
      await expectDeployed(lab)
    })

  test("switches to the second when the first fails during a deploy, and does nothing twice", async () => {
    const wires: Relay[] = []
    const lab = await cluster({
      urls: async (simulator) => {
        wires.push(...(await twoWires(simulator)))
        return urlsOf(wires)
      },
    })
    const runId = await deploy(lab.admin, "LAB")
    const seen: StreamEvent[] = []
    await follow(lab.admin, runId, seen, settledIs("clone:LAB-m2"))
    wires[0]?.cut()
    await expectSuccess(lab.admin, runId)
    await expectDeployed(lab)
    wires[0]?.restore()
    wires[1]?.cut()
    await expectDeployed(lab)
  })
})

/** The state of the zone on a node, as the node reports it. */
const zoneOn = async ({ simulator }: Cluster, node: string): Promise<string> =>
  (await simulator.read<readonly { readonly status: string }[]>(`/nodes/${node}/sdn/zones`)).map(({ status }) => status).join()

/** A lab with this many machines, new ones on this node. */
const labOn = (node: string, count = machines.length - 1): string => `${smallLab(count)}defaults:\n  target_node: ${node}\n`

const configure = async ({ admin }: Cluster, config: string): Promise<void> => {
  // the service's view of the hypervisor may be slightly outdated
  await eventually(
    "a configuration that is taken",
    () => admin.upload("/range/config?rangeID=LAB", config),
    ({ status }) => status === 200,
  )
}

describe.concurrent("a node that missed the networks of a range", { timeout: 300_000 }, () => {
  test("because it was unreachable gets them when a machine is to be placed there, and not before", async () => {
    const lab = await cluster({ speed: 300 })
    const back = await lab.simulator.fault({ kind: "node-down", node: "pve3" })
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    await back()
    await expectDeployed(lab)
    expect(await zoneOn(lab, "pve3")).toBe("pending")
    await configure(lab, labOn("pve3", machines.length))
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    expect(await zoneOn(lab, "pve3")).toBe("available")
    expect(await guestNamed(lab, `LAB-m${machines.length}`)).toMatchObject({ node: "pve3", status: "running" })
  })

  test("because its reload failed is named with the reload's error; once fixed, one more deploy completes the range", async () => {
    const lab = await cluster({ speed: 300 })
    await configure(lab, labOn("pve2"))
    const complaint = "error: vmbr0: port eno1 does not exist"
    const repaired = await lab.simulator.fault({ kind: "network-reload-fails", node: "pve2", text: complaint })
    const { status, steps } = await runEnd(lab.admin, await deploy(lab.admin, "LAB"))
    const failures = steps.flatMap(({ key, failure }) => (failure === undefined ? [] : [[key, failure.message]]))
    expect([status, failures]).toEqual(["failure", [["network", expect.stringContaining(complaint)]]])
    await repaired()
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    expect(await zoneOn(lab, "pve2")).toBe("available")
    await expectDeployed(lab)
  })

  test("because it was unreachable during the deploy gets them when its machines are started", async () => {
    const lab = await cluster()
    await configure(lab, labOn("pve3"))
    // the node is present for the plan and unreachable when the network is made
    await lab.simulator.fault({ kind: "delay", match: { method: "POST", path: "/cluster/sdn/vnets" }, ms: 30_000 })
    const runId = await deploy(lab.admin, "LAB")
    const seen: StreamEvent[] = []
    await follow(lab.admin, runId, seen, ({ type }) => type === "Planned")
    const back = await lab.simulator.fault({ kind: "node-down", node: "pve3" })
    await follow(lab.admin, runId, seen, settledIs("network"))
    await back()
    await expectSuccess(lab.admin, runId)
    expect(await zoneOn(lab, "pve3")).toBe("available")
    await expectDeployed(lab)
  })
})

describe.concurrent("a template on the local storage of one node", { timeout: 300_000 }, () => {
  test("is cloned only there, and a machine placed elsewhere is refused with the reason", async () => {
    const lab = await cluster({ speed: 300 })
    const all = await lab.simulator.read<readonly Guest[]>("/cluster/resources?type=vm")
    const shared = all.find(({ name }) => name === "debian-12-x64-server-template")
    if (shared === undefined) throw new Error("there is no template for small machines")
    const own = { vmid: 150, name: "near-template" }
    await byHand(lab, shared, "clone", { newid: "150", name: own.name, full: "1", storage: "local", pool: "SHARED" })
    await byHand(lab, { ...own, node: shared.node }, "migrate", { target: "pve2" })
    await byHand(lab, { ...own, node: "pve2" }, "template")
    const near = (config: string): string => config.replaceAll(shared.name, own.name)
    await configure(lab, near(labOn("pve3")))
    const refused = await lab.admin.ask("POST", "/range/deploy?rangeID=LAB", {})
    expect(refused.status).toBe(409)
    expect(JSON.stringify(refused.body)).toContain("near-template cannot be cloned to pve3")
    expect(JSON.stringify(refused.body)).toContain("it is on pve2, and its disk is not on shared storage")
    await configure(lab, near(smallLab(machines.length - 1)))
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    const placed = (await lab.simulator.guests()).filter(({ name }) => /LAB-m/u.test(name)).map(({ node }) => node)
    expect(placed).toEqual(machines.slice(1).map(() => "pve2"))
    await expectDeployed(lab)
  })
})

describe.concurrent("a configuration that names nodes", { timeout: 300_000 }, () => {
  test("is followed for a machine, for the router and by default; an unknown node is refused by name", async () => {
    const lab = await cluster({ speed: 300 })
    const named = `${smallLab(4).replace("    linux: true", "    linux: true\n    target_node: pve3")}
defaults:
  target_node: pve2
router:
  target_node: pve1
`
    expect((await lab.admin.upload("/range/config?rangeID=LAB", named)).status).toBe(200)
    await expectSuccess(lab.admin, await deploy(lab.admin, "LAB"))
    const places = Object.fromEntries((await lab.simulator.guests()).map(({ name, node }) => [name.replace("LAB-", ""), node]))
    expect(places).toEqual({ "router-debian11-x64": "pve1", m1: "pve3", m2: "pve2", m3: "pve2", m4: "pve2" })
    const router = await guestNamed(lab, "LAB-router-debian11-x64")
    const config = await lab.simulator.read<{ readonly net0: string; readonly net1: string }>(
      `/nodes/pve1/qemu/${router.vmid}/config`,
    )
    // networks that all nodes have, so that machines reach the router and the router the outside from any node
    expect([config.net0, config.net1]).toEqual([
      expect.stringContaining("bridge=ludusnat"),
      expect.stringMatching(/bridge=r\d+,mtu=1,tag=10/u),
    ])
    const refused = await lab.admin.upload("/range/config?rangeID=LAB", named.replaceAll("pve3", "pve9"))
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/pve9.*pve1, pve2, pve3/u)])
  })
})
