import {
  type MigrationOptions,
  type MigrationPlan,
  migrationStatus,
  planMigration,
  planReturn,
  undoMigration,
} from "@rangewright/domain"
import { type HypervisorInstallation, NetworkMigration, type NetworkMigrationAction } from "@rangewright/ports"
import type { SimRequest, SimResponse } from "@rangewright/pve-simulator"
import { handlerTransport } from "@rangewright/adapter-proxmox"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { neededPrivileges } from "../../packages/adapter-proxmox/src/access/roles.ts"
import { asRoot, makeRig, type Rig, tokenAuth } from "../contracts/hypervisor/support/rig.ts"
import { cardsOf, installFirstGeneration, machinesOf, rangesOf } from "./support/first-generation.ts"

const options: MigrationOptions = {
  clusterMode: true,
  zone: "ludus",
  vxlanTagBase: 0,
  natBridge: "vmbr1000",
  natVnet: "ludusnat",
  natGroups: ["ludus_users"],
  createZone: true,
}

const ranges = 3
const firstGeneration = (): Rig => {
  const rig = makeRig({ nodes: 3 })
  installFirstGeneration(rig.sim, { ranges, nodes: ["pve1"], marked: true })
  return rig
}

const root = (rig: Rig, method: string, path: string, form = ""): Promise<string> =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, form)))
const observe = (rig: Rig, snapshots = false): Promise<HypervisorInstallation> =>
  rig.run(NetworkMigration.use((migration) => migration.observe({ zone: "ludus", snapshots })))
const perform = (rig: Rig, action: NetworkMigrationAction): Promise<void> =>
  rig.run(
    NetworkMigration.use((migration) =>
      Effect.flatMap(migration.dispatch(action), ({ token }) => migration.settle(action, token)),
    ),
  )
const planned = async (rig: Rig): Promise<MigrationPlan> =>
  planMigration({ ...(await observe(rig)), ranges: rangesOf(ranges), record: undefined }, options)

const isWorldly = (action: { readonly kind: string }): action is NetworkMigrationAction =>
  action.kind !== "save-record" && action.kind !== "drop-record"

/** Runs the plan's steps one after another; the record is not kept. */
const carryOut = async (rig: Rig, plan: MigrationPlan): Promise<void> => {
  expect(plan.blockers).toEqual([])
  for (const { action } of plan.steps) if (isWorldly(action)) await perform(rig, action)
}
const bridgesOn = (rig: Rig): readonly string[] => [...rig.sim.state.nodes.get("pve1")!.interfaces.keys()].toSorted()
const mutating = (rig: Rig, route: string): number => rig.sim.calls.counts().byRoute[route] ?? 0

describe("an installation of the first generation on Proxmox", () => {
  it("is observed with everything that decides how it moves", async () => {
    const rig = firstGeneration()
    await root(rig, "POST", "/nodes/pve1/qemu/3011/snapshot", "snapname=clean")
    await rig.run(Effect.sleep("10 seconds"))
    const seen = await observe(rig, true)
    expect(seen.quorate).toBe(true)
    expect(seen.nodes.map(({ name, online, address }) => [name, online, address])).toEqual([
      ["pve1", true, "10.0.0.11"],
      ["pve2", true, "10.0.0.12"],
      ["pve3", true, "10.0.0.13"],
    ])
    expect(seen.bridges.find(({ name }) => name === "vmbr1000")).toMatchObject({
      node: "pve1",
      address: "192.0.2.254/24",
      ports: [],
    })
    expect(seen.bridges.find(({ name }) => name === "vmbr0")).toMatchObject({ ports: ["eno1"] })
    const dc = seen.machines.find(({ vmid }) => vmid === 3011)
    expect(dc).toMatchObject({ name: "LAB1-dc", pool: "LAB1", kind: "vm", running: true, node: "pve1" })
    expect(dc?.nics).toEqual([{ nic: "net0", text: machinesOf(1)[1]?.nets[0] }])
    expect(dc?.snapshots).toEqual([{ name: "clean", nics: dc?.nics }])
    await rig.close()
  })

  it("moves to VNets and has nothing left to do; every network card keeps all but its network", async () => {
    const rig = firstGeneration()
    const before = cardsOf(rig.sim)
    await carryOut(rig, await planned(rig))
    const successor = (card: string): string =>
      card
        .replace("bridge=vmbr1000,", "bridge=ludusnat,")
        .replace(/bridge=vmbr1(\d{3})/u, (_, n: string) => `bridge=r${Number(n)}`)
    expect(cardsOf(rig.sim)).toEqual(
      Object.fromEntries(Object.entries(before).map(([vmid, cards]) => [vmid, cards.map(successor)])),
    )
    expect(bridgesOn(rig)).toEqual(["eno1", "vmbr0", "vmbr1000"])
    expect(await planned(rig)).toMatchObject({ idle: "done", blockers: [] })
    await rig.close()
  })

  it("takes one apply, one reload of the node that loses bridges, and one call for each change", async () => {
    const rig = firstGeneration()
    const plan = await planned(rig)
    const before = rig.sim.calls.counts().mutating
    await carryOut(rig, plan)
    expect(mutating(rig, "PUT /cluster/sdn")).toBe(1)
    expect(mutating(rig, "PUT /nodes/{node}/network")).toBe(1)
    const vnets = ranges + 1
    const machines = ranges * 3
    const rights = ranges + 1
    expect(rig.sim.calls.counts().mutating - before).toBeLessThanOrEqual(vnets + machines + rights + ranges + 2 * 3 + 5)
    await rig.close()
  })

  it("may get every action twice, from a process that remembers nothing", async () => {
    const rig = firstGeneration()
    for (const { action } of (await planned(rig)).steps) {
      if (!isWorldly(action)) continue
      await perform(rig, action)
      const calls = rig.sim.calls.counts().mutating
      await perform(rig.restarted(), action)
      const extra = rig.sim.calls.counts().mutating - calls
      expect([action.kind, extra]).toEqual([
        action.kind,
        ["create-zone", "create-vnet", "grant-vnet"].includes(action.kind) ? 1 : 0,
      ])
    }
    expect(await planned(rig)).toMatchObject({ idle: "done" })
    await rig.close()
  })

  it("returns to its bridges, card for card", async () => {
    const rig = firstGeneration()
    const before = cardsOf(rig.sim)
    const there = await planned(rig)
    await carryOut(rig, there)
    const record = there.steps.flatMap(({ action }) => (action.kind === "save-record" ? [action.record] : []))[0]
    const back = planReturn({ ...(await observe(rig)), ranges: rangesOf(ranges), record }, options)
    await carryOut(rig, back)
    expect(cardsOf(rig.sim)).toEqual(before)
    expect(bridgesOn(rig)).toEqual(["eno1", "vmbr0", "vmbr1000", "vmbr1001", "vmbr1002", "vmbr1003"])
    expect(rig.sim.state.nodes.get("pve1")!.interfaces.get("vmbr1001")).toMatchObject({
      bridge_vlan_aware: 1,
      bridge_vids: "2-4094",
      bridge_ports: "",
    })
    expect([...rig.sim.state.sdn.running.zones.keys()]).toEqual([])
    expect(await root(rig, "GET", "/access/acl")).not.toContain("/sdn/zones/ludus")
    await rig.close()
  })
})

describe("pending changes that an earlier migration wrote and did not apply", () => {
  it("are reverted before anything else when a machine is attached to the bridge again", async () => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    const record = steps.flatMap(({ action }) => (action.kind === "save-record" ? [action.record] : []))[0]
    for (const { action } of steps) if (isWorldly(action) && action.kind !== "reload-network") await perform(rig, action)
    rig.sim.guest(3011)!.config["net0"] = machinesOf(1)[1]!.nets[0]!
    const again = async () => planMigration({ ...(await observe(rig)), ranges: rangesOf(ranges), record }, options)
    const plan = await again()
    expect(plan.steps[0]).toMatchObject({ key: "revert-network:pve1", phase: "prepare" })
    await carryOut(rig, plan)
    expect(bridgesOn(rig)).toEqual(["eno1", "vmbr0", "vmbr1000"])
    expect(await again()).toMatchObject({ idle: "done" })
    await rig.close()
  })

  it("are not dropped together with edits of others", async () => {
    const rig = firstGeneration()
    await root(rig, "POST", "/nodes/pve1/network", "iface=vmbr77&type=bridge&autostart=1")
    await expect(perform(rig, { kind: "revert-network", node: "pve1", bridges: ["vmbr1001"] })).rejects.toThrow("vmbr77 is added")
    expect(await root(rig, "GET", "/nodes/pve1/network")).toContain("vmbr77")
    await rig.close()
  })
})

describe("the cached observation of an installation", () => {
  const observeCached = NetworkMigration.use((migration) => migration.observeCached("ludus"))
  const reads = (rig: Rig): number => rig.sim.calls.counts().byRoute["GET /nodes/{node}/qemu/{vmid}/pending"] ?? 0

  it("is shared by all callers within seconds, and renewed after this service changed something", async () => {
    const rig = firstGeneration()
    const noVnet = { kind: "remove-vnet", vnet: "r9", zone: "ludus", alias: "rangewright LAB9" } as const
    await rig.run(
      Effect.gen(function* () {
        const [first, ...others] = yield* Effect.all([observeCached, observeCached, observeCached], { concurrency: "unbounded" })
        const once = reads(rig)
        expect(once).toBeGreaterThanOrEqual(ranges * 3)
        expect(others).toEqual([first, first])
        yield* observeCached
        expect(reads(rig)).toBe(once)
        yield* NetworkMigration.use((migration) => migration.dispatch(noVnet))
        yield* observeCached
        expect(reads(rig)).toBe(2 * once)
        yield* Effect.sleep("5 seconds")
        yield* observeCached
        expect(reads(rig)).toBe(3 * once)
      }),
    )
    await rig.close()
  })

  it("shows machines that cannot be read now as they were last seen, and those never seen as unknown", async () => {
    const rig = firstGeneration()
    await rig.run(
      Effect.gen(function* () {
        const { machines } = yield* observeCached
        rig.sim.faults.add({ kind: "node-down", node: "pve1" })
        yield* Effect.sleep("60 seconds")
        expect((yield* observeCached).machines).toEqual(
          machines.map((machine) => (machine.node === "pve1" ? { ...machine, unseen: true } : machine)),
        )
      }),
    )
    const anew = await rig.restarted().run(observeCached)
    expect(anew.machines.find(({ vmid }) => vmid === 3011)).toMatchObject({ pool: "LAB1", nics: undefined })
    await rig.close()
  })
})

describe("a machine that this service moved and cannot read since", () => {
  it("is shown where it was moved to", async () => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    const acts = steps.flatMap(({ action }) => (isWorldly(action) ? [action] : []))
    await rig.run(
      Effect.gen(function* () {
        const migration = yield* NetworkMigration
        yield* migration.observe({ zone: "ludus", snapshots: false })
        for (const action of acts) yield* migration.settle(action, (yield* migration.dispatch(action)).token)
        rig.sim.faults.add({ kind: "node-down", node: "pve1" })
        yield* Effect.sleep("60 seconds")
        const seen = yield* migration.observeCached("ludus")
        expect(seen.machines.find(({ vmid }) => vmid === 3011)).toMatchObject({
          unseen: true,
          nics: [{ nic: "net0", text: machinesOf(1)[1]!.nets[0]!.replace("vmbr1001", "r1") }],
        })
        expect(migrationStatus({ ...seen, ranges: rangesOf(ranges), record: undefined }, options).message).toContain(
          "9 machines on pve1 cannot be read now, and count as last seen.",
        )
      }),
    )
    await rig.close()
  })
})

describe("the privileges that the service asks for", () => {
  it("are sufficient to move networks and to bring them back", async () => {
    const rig = firstGeneration()
    await root(rig, "POST", "/access/users", "userid=service%40pve")
    const made = JSON.parse(await root(rig, "POST", "/access/users/service%40pve/token/own", "privsep=0")) as {
      readonly data: { readonly value: string }
    }
    for (const [index, [path, names]] of Object.entries(neededPrivileges).entries()) {
      await root(rig, "POST", "/access/roles", `roleid=Needs${index}&privs=${encodeURIComponent(names.join(","))}`)
      await root(
        rig,
        "PUT",
        "/access/acl",
        `path=${encodeURIComponent(path)}&roles=Needs${index}&users=service%40pve&propagate=1`,
      )
    }
    const service = rig.as({ auth: tokenAuth(`service@pve!own=${made.data.value}`) })
    const before = cardsOf(rig.sim)
    const there = await planned(service)
    expect(there.machines).toHaveLength(ranges * 3)
    await carryOut(service, there)
    expect(await planned(service)).toMatchObject({ idle: "done" })
    const record = there.steps.flatMap(({ action }) => (action.kind === "save-record" ? [action.record] : []))[0]
    await carryOut(service, planReturn({ ...(await observe(service)), ranges: rangesOf(ranges), record }, options))
    expect(cardsOf(rig.sim)).toEqual(before)
    await rig.close()
  })
})

describe("a migration on Proxmox refuses", () => {
  it("pending changes of others, which it names and does not apply", async () => {
    const rig = firstGeneration()
    const plan = await planned(rig)
    await root(rig, "POST", "/cluster/sdn/zones", "type=simple&zone=theirs")
    expect((await planned(rig)).blockers[0]?.message).toContain("zone theirs is new")
    const apply = plan.steps.find(({ action }) => action.kind === "apply-sdn")!.action as NetworkMigrationAction
    await expect(perform(rig, apply)).rejects.toThrow("zone theirs is new")
    expect(rig.sim.state.sdn.running.zones.size).toBe(0)
    await root(rig, "POST", "/cluster/sdn/rollback")
    await root(rig, "POST", "/nodes/pve2/network", "iface=vmbr77&type=bridge&autostart=1")
    expect((await planned(rig)).blockers.map(({ message }) => message)).toEqual([
      expect.stringContaining("node pve2 has pending network changes that are not ours (vmbr77 is added)"),
    ])
    await rig.close()
  })

  it("to begin while a node lacks the package for reloading networks, which is named", async () => {
    const rig = firstGeneration()
    let state = "NotInstalled"
    const answer: SimResponse = { status: 200, reason: "OK", headers: { "content-type": "application/json" }, body: "" }
    const handle = async (request: SimRequest): Promise<SimResponse> =>
      request.path.endsWith("/nodes/pve2/apt/versions")
        ? { ...answer, body: JSON.stringify({ data: [{ Package: "ifupdown2", Version: "3.2.0-1", CurrentState: state }] }) }
        : rig.sim.handle(request)
    const seen = rig.as({ transport: handlerTransport(handle) })
    expect((await planned(seen)).blockers).toEqual([
      {
        code: "node-unfit",
        message: "node pve2 lacks ifupdown2, needed to change its networks",
        hint: "Run apt install ifupdown2 on node pve2.",
      },
    ])
    state = "Installed"
    expect((await planned(seen)).blockers).toEqual([])
    await rig.close()
  })

  it("a machine that is not the planned one any more", async () => {
    const rig = firstGeneration()
    const moves = (await planned(rig)).steps.flatMap(({ action }) => (action.kind === "move-nics" ? [action] : []))
    const marked = moves.find(({ guard }) => guard.type === "mark")!
    const pooled = moves.find(({ guard }) => guard.type === "pool")!
    await root(rig, "PUT", `/nodes/pve1/qemu/${marked.vmid}/config`, "description=other")
    await root(rig, "PUT", "/pools", `poolid=LAB1&vms=${pooled.vmid}&delete=1`)
    const before = cardsOf(rig.sim)
    await expect(perform(rig, marked)).rejects.toThrow("not the machine that was planned")
    await expect(perform(rig, pooled)).rejects.toThrow("not the machine that was planned")
    expect(cardsOf(rig.sim)).toEqual(before)
    await rig.close()
  })

  it("a VNet that a node could not make, although the apply's task says OK", async () => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    const broken = rig.sim.faults.add({ kind: "network-reload-fails", node: "pve2", text: "error: ludus: cannot create vxlan" })
    for (const { action } of steps) {
      if (!isWorldly(action)) continue
      if (action.kind === "apply-sdn") {
        await expect(perform(rig, action)).rejects.toThrow(/pve2 lacks ludusnat, r1, r2, r3/u)
        break
      }
      await perform(rig, action)
    }
    rig.sim.faults.remove(broken)
    const again = await planned(rig)
    expect(again.steps.map(({ key }) => key).slice(0, 3)).toEqual(["save-record", "apply-sdn", "grant-vnet:ludusnat"])
    await carryOut(rig, again)
    expect(await planned(rig)).toMatchObject({ idle: "done" })
    await rig.close()
  })

  it("to count a machine as moved while the change of its network card is pending until its next start", async () => {
    const rig = firstGeneration()
    for (const { action } of (await planned(rig)).steps) {
      if (!isWorldly(action)) continue
      if (action.kind === "verify-machines") {
        const guest = rig.sim.guest(3011)!
        guest.pending["net0"] = guest.config["net0"]
        guest.config["net0"] = machinesOf(1)[1]!.nets[0]!
        await expect(perform(rig, action)).rejects.toThrow(
          "net0 of VM 3011 is still attached to a network that is being replaced",
        )
        break
      }
      await perform(rig, action)
    }
    await rig.close()
  })

  it("a zone that somebody changed meanwhile", async () => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    const apply = steps.find(({ action }) => action.kind === "apply-sdn")!.action as NetworkMigrationAction
    for (const { action } of steps.slice(0, steps.findIndex(({ key }) => key === "apply-sdn") + 1))
      if (isWorldly(action)) await perform(rig, action)
    await root(rig, "PUT", "/cluster/sdn/zones/ludus", "peers=10.9.9.9")
    // none of our changes are pending, so nothing is applied
    await perform(rig, apply)
    expect(rig.sim.state.sdn.running.zones.get("ludus")).not.toMatchObject({ peers: "10.9.9.9" })
    await perform(rig, { kind: "remove-vnet", vnet: "r3", zone: "ludus", alias: "rangewright LAB3" })
    await expect(perform(rig, { kind: "apply-sdn", zone: "ludus", present: [], absent: ["r3"] })).rejects.toThrow(
      "zone ludus is changed",
    )
    await rig.close()
  })

  it("to remove a zone that somebody else created or changed since", async () => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    const make = steps.find(({ action }) => action.kind === "create-zone")!
    const zones = () => root(rig, "GET", "/cluster/sdn/zones?pending=1")
    const undo = undoMigration(steps, new Set([make.key]), false)!.find(({ action }) => action.kind === "remove-zone")!
    await perform(rig, make.action as NetworkMigrationAction)
    await root(rig, "PUT", "/cluster/sdn/zones/ludus", "peers=10.9.9.9")
    await expect(perform(rig, undo.action as NetworkMigrationAction)).rejects.toThrow("is not the one that was created here")
    await root(rig, "PUT", "/cluster/sdn/zones/ludus", "peers=10.0.0.11%2C10.0.0.12%2C10.0.0.13")
    await root(rig, "PUT", "/cluster/sdn")
    await rig.run(Effect.sleep("60 seconds"))
    // in force, though this run has applied nothing
    await expect(perform(rig, undo.action as NetworkMigrationAction)).rejects.toThrow("is not the one that was created here")
    await expect(perform(rig, make.action as NetworkMigrationAction)).rejects.toThrow("ludus")
    expect(await zones()).toContain('"zone":"ludus"')
    const applied = undoMigration(steps, new Set([make.key, "apply-sdn"]), false)!
    await perform(rig, applied.find(({ action }) => action.kind === "remove-zone")!.action as NetworkMigrationAction)
    expect(await zones()).toContain('"state":"deleted"')
    await rig.close()
  })

  it("to create or remove a bridge that somebody else has created since", async () => {
    const rig = firstGeneration()
    const there = await planned(rig)
    await carryOut(rig, there)
    const record = there.steps.flatMap(({ action }) => (action.kind === "save-record" ? [action.record] : []))[0]
    const { steps } = planReturn({ ...(await observe(rig)), ranges: rangesOf(ranges), record }, options)
    const make = steps.find(({ key }) => key === "create-bridge:pve1/vmbr1001")!
    const undo = undoMigration(steps, new Set([make.key]), false)![0]!
    await root(rig, "POST", "/nodes/pve1/network", "iface=vmbr1001&type=bridge&autostart=1")
    await root(rig, "PUT", "/nodes/pve1/network")
    await rig.run(Effect.sleep("60 seconds"))
    for (const { action } of [make, undo])
      await expect(perform(rig, action as NetworkMigrationAction)).rejects.toThrow(
        "node pve1 already has a bridge vmbr1001 that was not created here",
      )
    expect(bridgesOn(rig)).toContain("vmbr1001")
    await rig.close()
  })

  it("to remove a bridge while a machine is attached to it", async () => {
    const rig = firstGeneration()
    await expect(perform(rig, { kind: "remove-bridge", node: "pve1", bridge: "vmbr1001" })).rejects.toThrow(
      "the machines 3010, 3011, 3012 are attached to it",
    )
    expect(await root(rig, "GET", "/nodes/pve1/network")).not.toContain("changes")
    await rig.close()
  })

  it("a running machine with a pending change of a network card, until it is off", async () => {
    const rig = firstGeneration()
    await root(rig, "PUT", "/nodes/pve1/qemu/3011/config", "hotplug=disk%2Cusb")
    const card = machinesOf(1)[1]!.nets[0]!
    await root(rig, "PUT", "/nodes/pve1/qemu/3011/config", `net0=${encodeURIComponent(card.replace("virtio=", "e1000="))}`)
    expect((await planned(rig)).blockers.map(({ code, message }) => [code, message])).toEqual([
      ["machine-pending", "LAB1-dc (VM 3011 on pve1) has changes of net0 that wait for its next start"],
    ])
    await root(rig, "POST", "/nodes/pve1/qemu/3011/status/stop")
    await rig.run(Effect.sleep("10 seconds"))
    await carryOut(rig, await planned(rig))
    expect(cardsOf(rig.sim)[3011]).toEqual([`net0: ${card.replace("virtio=", "e1000=").replace("vmbr1001", "r1")}`])
    await rig.close()
  })

  it("no running machine for having no hotplug: the same network card changes its network at once", async () => {
    const rig = firstGeneration()
    await root(rig, "PUT", "/nodes/pve1/qemu/3011/config", "hotplug=0")
    await carryOut(rig, await planned(rig))
    expect(cardsOf(rig.sim)[3011]?.[0]).toContain("bridge=r1")
    expect(rig.sim.guest(3011)?.pending).toEqual({})
    await rig.close()
  })

  it("to reload a node while a machine is attached to a bridge that would be removed", async () => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    for (const { action } of steps) {
      if (!isWorldly(action)) continue
      if (action.kind === "reload-network") {
        rig.sim.guest(3011)!.config["net0"] = machinesOf(1)[1]!.nets[0]!
        await expect(perform(rig, action)).rejects.toThrow("the machines 3011 are attached to bridges that would be removed")
        expect(bridgesOn(rig)).toContain("vmbr1001")
        // no change is pending that somebody's next reload would apply
        expect(await root(rig, "GET", "/nodes/pve1/network")).not.toContain("changes")
        await carryOut(rig, await planned(rig))
        expect(await planned(rig)).toMatchObject({ idle: "done" })
        break
      }
      await perform(rig, action)
    }
    await rig.close()
  })
})

describe("a migration on Proxmox whose reload of a node hangs", () => {
  it.each([
    ["goes on after a quarter of an hour if the node has loaded its network", true],
    ["fails after a quarter of an hour otherwise, and names the task", false],
  ])("%s", async (_how, isLoaded) => {
    const rig = firstGeneration()
    const { steps } = await planned(rig)
    const reload = steps.find(({ action }) => action.kind === "reload-network")!
    for (const { action } of steps.slice(0, steps.indexOf(reload))) if (isWorldly(action)) await perform(rig, action)
    const action = reload.action as NetworkMigrationAction
    const { token } = await rig.run(NetworkMigration.use((migration) => migration.dispatch(action)))
    await rig.run(Effect.sleep("1 minute"))
    const hanging = [...rig.sim.state.tasks.values()].findLast(({ type }) => type === "srvreload")
    Object.assign(hanging!, { exitstatus: undefined, endtime: undefined })
    if (!isLoaded) await root(rig, "POST", "/nodes/pve1/network", "iface=vmbr1001&type=bridge")
    const from = rig.sim.clock.now()
    const ended = await rig.run(Effect.result(NetworkMigration.use((migration) => migration.settle(action, token))))
    expect(rig.sim.clock.now() - from).toBeLessThan(1_200_000)
    expect(ended).toMatchObject(
      isLoaded
        ? { _tag: "Success" }
        : { failure: { facts: { detail: "its task srvreload networking on node pve1 has not ended within 15 min" } } },
    )
    await rig.close()
  })
})
