import { GuestAutomation, type GuestTask, Hypervisor, HypervisorAccess, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { performOn } from "./network.contract.ts"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { cloneOf, configureOf, deleteOf, perform, rangeId, reasonOf, refOf, startOf, stopOf } from "./support/under-test.ts"

const stage = (rig: Rig): GuestTask => ({
  machine: refOf(rig),
  name: "LAB1-vm20001",
  os: "linux",
  stage: "packages",
  input: { packages: ["jq"] },
  verbose: false,
})
const performStage = (task: GuestTask) =>
  GuestAutomation.use((guests) => Effect.flatMap(guests.dispatch(task), ({ token }) => guests.settle(task, token)))

/** A cluster of three nodes; the template is on the first, where the machine of `refOf` is cloned. */
const withMachine = async (...then: readonly MachineAction[]): Promise<Rig> => {
  const rig = makeRig({ nodes: 3 })
  const prepare = Effect.gen(function* () {
    yield* HypervisorAccess.use((access) => access.ensurePool(rangeId))
    for (const action of [cloneOf(rig, refOf(rig)), ...then]) yield* perform(action)
  })
  await rig.run(prepare)
  return rig
}

/** Migrates the machine to another node, as a person does in the web interface. */
const move = (rig: Rig, from: string, to: string): Effect.Effect<void> =>
  Effect.andThen(
    Effect.promise(() => asRoot(rig.sim, "POST", `/nodes/${from}/qemu/20001/migrate`, `target=${to}&online=1`)),
    Effect.sleep("60 seconds"),
  )

const ended = (rig: Rig, type: string) =>
  [...rig.sim.state.tasks.values()].filter((task) => task.type === type && task.exitstatus === "OK").map(({ node }) => node)

describe("a VM that was migrated since it was last seen", () => {
  it("is read, configured, started, used, stopped and deleted where it is, each once", async () => {
    const rig = await withMachine()
    const ref = refOf(rig)
    await rig.run(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        yield* move(rig, "pve1", "pve2")
        expect((yield* hypervisor.detail("pve1", ref.vmid)).node).toBe("pve2")
        yield* perform(configureOf(ref))
        yield* move(rig, "pve2", "pve3")
        yield* perform(startOf(ref, true))
        yield* move(rig, "pve3", "pve1")
        expect(yield* hypervisor.addresses("pve3", ref.vmid)).toHaveLength(1)
        yield* performStage(stage(rig))
        yield* move(rig, "pve1", "pve2")
        yield* performStage({ ...stage(rig), stage: "role", input: { role: "web" } })
        yield* move(rig, "pve2", "pve3")
        yield* perform(stopOf(ref))
        yield* move(rig, "pve3", "pve2")
        yield* perform(deleteOf(ref))
      }),
    )
    expect([ended(rig, "qmstart"), ended(rig, "qmstop"), ended(rig, "qmdestroy")]).toEqual([["pve3"], ["pve3"], ["pve2"]])
    expect(rig.sim.guest(ref.vmid)).toBeUndefined()
    await rig.close()
  })

  it("is waited for at its new node while its agent is awaited", async () => {
    const rig = await withMachine()
    const action = startOf(refOf(rig), true)
    await rig.run(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        const { token } = yield* hypervisor.dispatch(action)
        yield* Effect.forkChild(Effect.andThen(Effect.sleep("5 seconds"), move(rig, "pve1", "pve3")))
        yield* hypervisor.settle(action, token)
      }),
    )
    expect(rig.sim.guest(20_001)).toMatchObject({ node: "pve3", status: "running", boot: { kind: "up" } })
    expect(ended(rig, "qmstart")).toEqual(["pve1"])
    await rig.close()
  })

  it("that migrates during a stage keeps the stage's work", async () => {
    const rig = await withMachine(startOf(refOf({ node: "pve1" }), true))
    await rig.run(
      Effect.gen(function* () {
        const guests = yield* GuestAutomation
        const task = stage(rig)
        const { token } = yield* guests.dispatch(task)
        yield* Effect.forkChild(move(rig, "pve1", "pve2"))
        yield* guests.settle(task, token)
      }),
    )
    expect(rig.sim.guest(20_001)?.os?.stages["packages"]).toBeDefined()
    await rig.close()
  })

  it("is locked while it migrates, and requests are refused with that reason", async () => {
    const rig = await withMachine(startOf(refOf({ node: "pve1" })))
    const reason = await rig.run(
      Effect.gen(function* () {
        yield* Effect.forkChild(move(rig, "pve1", "pve2"))
        yield* Effect.sleep("1 second")
        return yield* reasonOf(perform(configureOf(refOf(rig))))
      }),
    )
    expect(reason).toBe("locked")
    await rig.close()
  })
})

describe("a VM whose node went down", () => {
  it("and that lives on elsewhere is followed, whatever was known before", async () => {
    const rig = await withMachine()
    const ref = refOf(rig)
    await rig.run(
      Effect.gen(function* () {
        yield* perform(configureOf(ref))
        yield* move(rig, "pve1", "pve3")
        rig.sim.faults.add({ kind: "node-down", node: "pve1" })
        expect((yield* (yield* Hypervisor).detail("pve1", ref.vmid)).node).toBe("pve3")
        yield* perform(startOf(ref, true))
        yield* performStage(stage(rig))
      }),
    )
    await rig.restarted().run(perform(stopOf(ref)))
    expect([ended(rig, "qmstart"), ended(rig, "qmstop")]).toEqual([["pve3"], ["pve3"]])
    await rig.close()
  })

  it("and that is still there is waited for: `away`, and not taken for gone", async () => {
    const rig = await withMachine()
    const down = rig.sim.faults.add({ kind: "node-down", node: "pve1" })
    for (const action of [configureOf(refOf(rig)), startOf(refOf(rig)), deleteOf(refOf(rig))])
      expect(await rig.restarted().run(reasonOf(perform(action)))).toBe("away")
    rig.sim.faults.remove(down)
    await rig.run(perform(startOf(refOf(rig))))
    expect(ended(rig, "qmstart")).toEqual(["pve1"])
    await rig.close()
  })

  it("and whose task was lost is settled by observing it at its new node", async () => {
    const rig = await withMachine()
    const action = startOf(refOf(rig), true)
    await rig.run(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        const { token } = yield* hypervisor.dispatch(action)
        yield* Effect.sleep("3 seconds")
        yield* move(rig, "pve1", "pve2")
        rig.sim.faults.add({ kind: "node-down", node: "pve1" })
        yield* hypervisor.settle(action, token)
      }),
    )
    expect(ended(rig, "qmstart")).toEqual(["pve1"])
    await rig.close()
  })
})

describe("a VM on a node that missed the apply of its VNet", () => {
  /** The machine of `refOf`, migrated to the third node, which was unreachable while its VNet was made. */
  const stranded = async (): Promise<{ readonly rig: Rig; readonly start: MachineAction }> => {
    const rig = makeRig({ nodes: 3, sdnZone: "ludus" })
    const network = { type: "vnet", name: "r1", zone: "ludus", tag: 101, alias: "rangewright LAB1" } as const
    const ref = refOf(rig)
    const { settings, ...configure } = configureOf(ref)
    const nics = settings.nics.map((nic) => ({ ...nic, bridge: "r1" }))
    await rig.run(
      Effect.gen(function* () {
        yield* (yield* HypervisorAccess).ensurePool(rangeId)
        const down = rig.sim.faults.add({ kind: "node-down", node: "pve3" })
        yield* performOn({ kind: "create-network", network })
        rig.sim.faults.remove(down)
        yield* perform(cloneOf(rig, ref))
        yield* perform({ ...configure, settings: { ...settings, nics } })
        yield* move(rig, "pve1", "pve3")
      }),
    )
    return { rig, start: startOf(ref, true) }
  }

  it("is not started there; the VNet is applied, and the next attempt starts it", async () => {
    const { rig, start } = await stranded()
    const fault = await rig.run(Effect.flip(perform(start)))
    expect(fault.facts).toMatchObject({
      reason: "unknown-effect",
      detail: expect.stringContaining("lacked r1, which has arrived now"),
    })
    await rig.run(perform(start))
    expect(rig.sim.guest(20_001)).toMatchObject({ node: "pve3", status: "running", boot: { kind: "up" } })
    await rig.close()
  })

  it("fails with the node's error if the VNet cannot be applied", async () => {
    const { rig, start } = await stranded()
    rig.sim.faults.add({ kind: "network-reload-fails", node: "pve3", text: "error: vmbr0: port eno1 is missing" })
    const fault = await rig.run(Effect.flip(perform(start)))
    expect(fault.facts.reason).toBe("failed")
    expect(fault.message).toMatch(/VNet r1.*pve3: error.*port eno1 is missing/u)
    await rig.close()
  })

  it("that does not start for another reason fails with that one, and nothing is applied", async () => {
    const { rig, start } = await stranded()
    await rig.run(Effect.flip(perform(start)))
    const before = rig.sim.calls.counts().byRoute["PUT /cluster/sdn"]
    rig.sim.faults.add({ kind: "fail-task", type: "qmstart", text: "QEMU exited with code 1", when: "before" })
    const fault = await rig.run(Effect.flip(perform(start)))
    expect(fault.facts).toMatchObject({ reason: "failed", detail: "QEMU exited with code 1" })
    expect(rig.sim.calls.counts().byRoute["PUT /cluster/sdn"]).toBe(before)
    await rig.close()
  })
})

describe("a VM with high availability", () => {
  it("is started, stopped and deleted although its state changes after the call's task, each requested once", async () => {
    const rig = await withMachine(configureOf(refOf({ node: "pve1" })))
    const ref = refOf(rig)
    const manage = Effect.promise(() => asRoot(rig.sim, "POST", "/cluster/ha/resources", "sid=vm:20001&state=stopped"))
    await rig.run(
      Effect.gen(function* () {
        yield* manage
        yield* perform(startOf(ref, true))
        expect(rig.sim.guest(ref.vmid)).toMatchObject({ status: "running", boot: { kind: "up" } })
        yield* move(rig, "pve1", "pve2")
        expect(rig.sim.guest(ref.vmid)?.node).toBe("pve2")
        yield* perform(stopOf(ref))
        expect(rig.sim.guest(ref.vmid)?.status).toBe("stopped")
        yield* perform(deleteOf(ref))
      }),
    )
    expect([ended(rig, "hastart"), ended(rig, "hastop"), ended(rig, "qmdestroy")]).toEqual([["pve1"], ["pve2"], ["pve2"]])
    expect(rig.sim.state.ha.size).toBe(0)
    await rig.close()
  })

  it("that high availability has given up fails, saying what to do", async () => {
    const rig = await withMachine()
    const fault = await rig.run(
      Effect.gen(function* () {
        yield* Effect.promise(() => asRoot(rig.sim, "POST", "/cluster/ha/resources", "sid=vm:20001&state=stopped"))
        rig.sim.faults.add({
          kind: "fail-task",
          type: "qmstart",
          text: "start failed: QEMU exited with code 1",
          when: "before",
          times: 2,
        })
        yield* Effect.flip(perform(startOf(refOf(rig))))
        return yield* Effect.flip(perform(startOf(refOf(rig))))
      }),
    )
    expect([fault.facts.reason, fault.hint]).toEqual(["failed", expect.stringContaining("Datacenter > HA")])
    await rig.close()
  })

  it("whose node lost power while it booted is waited for on its new node", async () => {
    const rig = await withMachine()
    const action = startOf(refOf(rig), true)
    const settled = await rig.run(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        yield* Effect.promise(() => asRoot(rig.sim, "POST", "/cluster/ha/resources", "sid=vm:20001&state=stopped"))
        const { token } = yield* hypervisor.dispatch(action)
        yield* Effect.sleep("10 seconds")
        rig.sim.faults.add({ kind: "node-off", node: "pve1" })
        const first = yield* reasonOf(hypervisor.settle(action, token))
        yield* Effect.sleep("3 minutes")
        yield* hypervisor.settle(action, token)
        return first
      }),
    )
    expect(settled).toBe("away")
    expect(rig.sim.guest(20_001)).toMatchObject({ status: "running", boot: { kind: "up" } })
    expect(rig.sim.guest(20_001)?.node).not.toBe("pve1")
    await rig.close()
  })
})

describe("the quorum of a cluster", () => {
  it("is reported, and without it changes are refused as `no-quorum` while reads continue", async () => {
    const rig = await withMachine()
    const quorate = Hypervisor.use((hypervisor) => hypervisor.quorate)
    expect(await rig.run(quorate)).toBe(true)
    const lost = rig.sim.faults.add({ kind: "quorum-lost" })
    expect(await rig.run(quorate)).toBe(false)
    expect(await rig.run(reasonOf(perform(startOf(refOf(rig)))))).toBe("no-quorum")
    expect((await rig.run(Hypervisor.use((hypervisor) => hypervisor.observe))).nodes).toHaveLength(3)
    rig.sim.faults.remove(lost)
    await rig.run(perform(startOf(refOf(rig))))
    expect(ended(rig, "qmstart")).toEqual(["pve1"])
    await rig.close()
  })

  it("does not matter with a single node", async () => {
    const rig = makeRig()
    expect(await rig.run(Hypervisor.use((hypervisor) => hypervisor.quorate))).toBe(true)
    await rig.close()
  })
})
