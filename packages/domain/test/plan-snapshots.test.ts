import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type MachineSnapshot,
  type ObservedStorage,
  type Plan,
  planRemoveSnapshots,
  planRollBack,
  planTakeSnapshots,
  readSnapshotText,
  type SnapshotTree,
  type SnapshotWorld,
  snapshotNameProblem,
  snapshotTextProblem,
  storedRunEvent,
  type Vmid,
  writeSnapshotText,
} from "../src/index.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, keysOf, type ModelWorld, planned, range } from "./plan-model.ts"

const deployed = (): ModelWorld => {
  const world = labWorld()
  world.apply(planned(inputFor(world, labConfig())))
  return world
}
const vmidOf = (world: ModelWorld, name: string): Vmid => world.vmNamed(name).detail.vmid
const own = (world: ModelWorld): readonly Vmid[] => {
  const { cluster } = world.view()
  return cluster.machines.filter(({ pool }) => pool === range.id).map(({ vmid }) => vmid)
}
const snapshot = (name: string, more: Partial<MachineSnapshot> = {}): MachineSnapshot => ({
  name,
  description: "",
  takenAt: 1,
  memory: false,
  incomplete: false,
  ...more,
})
const treeWith = (...snapshots: readonly MachineSnapshot[]): SnapshotTree => ({ snapshots, current: snapshots.at(-1)?.name })
/** A world in which every machine has these snapshots. */
const viewOf = (world: ModelWorld, tree: SnapshotTree = treeWith(), more: Partial<SnapshotWorld> = {}): SnapshotWorld => ({
  ...world.view(),
  trees: new Map(own(world).map((vmid) => [vmid, tree])),
  ...more,
})
const description = writeSnapshotText("before", "abc")
const take = (world: SnapshotWorld, vmids: readonly Vmid[], more: { memory?: boolean; atomic?: boolean } = {}): Plan =>
  planTakeSnapshots({ range, world, vmids, name: "clean", description, memory: false, atomic: false, ...more })
const refusals = (plan: Plan) =>
  plan.steps.flatMap(({ action }) => (action.kind === "refuse" ? [`${action.vmid}: ${action.because}`] : []))
const kindsOf = (plan: Plan) => [...new Set(plan.steps.map(({ action }) => action.kind))]

describe("names and descriptions of snapshots", () => {
  test.each(["s1", "abc", "Clean_1", "a-b", "x".repeat(40), "ludus_automated_clean_snapshot"])("%s is a name", (name) => {
    expect(snapshotNameProblem(name)).toBeUndefined()
  })
  test.each([
    "",
    "a",
    "current",
    "pending",
    "x".repeat(41),
    "1abc",
    "-rf",
    "a b",
    "a\nb",
    "abc\n",
    "schnäppchen",
    "abc%2e",
    "a/../b",
  ])("%j is none", (name) => {
    expect(snapshotNameProblem(name)).toMatch(/name/u)
  })
  test("the message about a bad name is short", () => {
    expect(snapshotNameProblem("y".repeat(100_000))?.length).toBeLessThan(300)
  })
  test("a description comes back as it was written, without the mark of its request", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(readSnapshotText(`${writeSnapshotText(text, "R4nd0m")}\n`)).toBe(text.trim())
      }),
    )
    expect(readSnapshotText("by hand [rangewright x] or so")).toBe("by hand [rangewright x] or so")
    expect(snapshotTextProblem("two\nlines")).toBeUndefined()
    expect(snapshotTextProblem("a\u0007")).toMatch(/control/u)
    expect(snapshotTextProblem("x".repeat(1001))).toMatch(/longer/u)
  })
})

describe("taking snapshots", () => {
  test("one step for each machine, all at once, as many as their storage takes", () => {
    const world = deployed()
    const plan = take(viewOf(world), own(world))
    expect(plan.steps).toHaveLength(own(world).length)
    expect(plan.steps.every(({ after, uses }) => after.length === 0 && uses.length === 1)).toBe(true)
    expect(plan.steps.every(({ tolerated }) => tolerated === true)).toBe(true)
    expect(take(viewOf(world), own(world), { atomic: true }).steps.some(({ tolerated }) => tolerated === true)).toBe(false)
  })

  test("a machine that is asked for twice has one", () => {
    const world = deployed()
    const web = vmidOf(world, "LAB-web")
    expect(keysOf(take(viewOf(world), [web, web]))).toEqual(["take-snapshot:LAB-web"])
  })

  test("memory is asked for where a machine runs", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "stopped"
    const actions = take(viewOf(world), own(world), { memory: true }).steps.map(({ action, machine }) =>
      action.kind === "take-snapshot" ? [machine, action.snapshot.memory] : [],
    )
    expect(Object.fromEntries(actions)).toMatchObject({ "LAB-web": false, "LAB-kali": true })
  })

  test("an obstacle of a machine is reported for that machine, and nothing is done to it", () => {
    const world = deployed()
    const view = viewOf(world)
    const [web, kali, ws, dc, dc2] = ["web", "kali", "ws", "dc", "dc2"].map((name) => vmidOf(world, `LAB-${name}`)) as [
      Vmid,
      Vmid,
      Vmid,
      Vmid,
      Vmid,
    ]
    const details = new Map(view.details)
    details.set(web, { ...details.get(web)!, lock: "backup" })
    const trees = new Map(view.trees)
    trees.set(kali, treeWith(snapshot("clean")))
    trees.set(dc, treeWith(snapshot("clean", { incomplete: true })))
    trees.delete(dc2)
    const stranger = 77_777 as Vmid
    const plan = take({ ...view, details, trees, incapable: new Set([ws]) }, [web, kali, ws, dc, dc2, stranger])
    expect(kindsOf(plan)).toEqual(["refuse"])
    const told = refusals(plan).join("\n")
    expect(told).toMatch(/locked on the hypervisor \(backup\)/u)
    expect(told).toMatch(/has a snapshot clean already/u)
    expect(told).toMatch(/does not support snapshots/u)
    expect(told).toMatch(/incomplete/u)
    expect(told).toMatch(/cannot be read now/u)
    expect(told).toMatch(/77777: VM 77777 is not a machine of range LAB/u)
  })

  test("machines of others, and copies by hand, are not touched", () => {
    const world = deployed()
    world.add({ vmid: 901, name: "guest", power: "running", pool: "LAB" })
    world.add({ vmid: 902, name: "elsewhere", power: "running", pool: "OTHER" })
    const plan = take({ ...viewOf(world), details: world.view().details }, [901, 902] as Vmid[])
    expect(kindsOf(plan)).toEqual(["refuse"])
    expect(refusals(plan)).toHaveLength(2)
  })

  test("all or none: when one cannot be taken nothing is done, and each machine is told why", () => {
    const world = deployed()
    const web = vmidOf(world, "LAB-web")
    const plan = take({ ...viewOf(world), incapable: new Set([web]) }, own(world), { atomic: true })
    expect(kindsOf(plan)).toEqual(["refuse"])
    expect(refusals(plan)).toHaveLength(own(world).length)
    expect(refusals(plan).every((text) => text.includes("LAB-web"))).toBe(true)
    expect(take({ ...viewOf(world), incapable: new Set([web]) }, own(world)).steps).toHaveLength(own(world).length)
  })

  test("a snapshot that the same request has taken already is done", () => {
    const world = deployed()
    const plan = take(viewOf(world, treeWith(snapshot("clean", { description: `${description}\n` }))), own(world))
    expect(plan.steps).toEqual([])
  })

  test("memory needs room, machine by machine; one that is off needs none", () => {
    const world = deployed()
    const view = viewOf(world)
    const [first, second] = ["LAB-web", "LAB-kali"].map((name) => vmidOf(world, name)) as [Vmid, Vmid]
    const { storage = "" } = view.details.get(first)!
    const { memoryMiB } = view.details.get(first)!
    const room = memoryMiB + 600
    const storages: ObservedStorage[] = view.cluster.nodes.map(({ name }) => ({
      name: storage,
      node: name,
      type: "dir",
      shared: true,
      active: true,
      totalBytes: room * 2 ** 20,
      usedBytes: 0,
      content: ["images"],
    }))
    const tight = { ...view, cluster: { ...view.cluster, storages } }
    expect(refusals(take(tight, [first, second], { memory: true }))).toEqual([
      expect.stringContaining(`${second}: the memory of LAB-kali`),
    ])
    expect(refusals(take(tight, [first, second]))).toEqual([])
  })
})

describe("rolling back", () => {
  test("each machine is set to what it had in the step that rolls it back, and the router is last", () => {
    const world = deployed()
    const plan = planRollBack({
      range,
      atomic: false,
      world: viewOf(world, treeWith(snapshot("clean"))),
      vmids: own(world),
      name: "clean",
    })
    const steps = new Map(plan.steps.map((step) => [step.key, step]))
    for (const machine of ["LAB-web", routerName]) expect(steps.get(`start:${machine}`)?.after).toEqual([`roll-back:${machine}`])
    const others = plan.steps.map(({ key }) => key).filter((key) => key.startsWith("roll-back:") && !key.endsWith(routerName))
    expect(new Set(steps.get(`roll-back:${routerName}`)?.behind)).toEqual(new Set(others))
    const { detail, machine } = world.vmNamed("LAB-web")
    expect(steps.get("roll-back:LAB-web")?.action).toMatchObject({
      settings: { nics: detail.nics, cpus: detail.cpus, memoryMiB: detail.memoryMiB, tags: machine.tags },
    })
  })

  test("notes that people wrote on a machine are not in its plan", () => {
    const world = deployed()
    const { detail } = world.vmNamed("LAB-web")
    const ours = detail.description
    detail.description = `login: admin / hunter2\n${ours}`
    const asked = { range, atomic: false, vmids: [detail.vmid], name: "clean" }
    const plan = planRollBack({ ...asked, world: viewOf(world, treeWith(snapshot("clean"))) })
    expect(plan.steps[0]?.action).toMatchObject({ kind: "roll-back", settings: { description: ours } })
    expect(JSON.stringify(plan)).not.toContain("hunter2")
  })

  test("all or none: one after another, the router last, and nothing at all when one is refused", () => {
    const world = deployed()
    const view = viewOf(world, treeWith(snapshot("clean")))
    const asked = { range, atomic: true, vmids: own(world), name: "clean" }
    const rollBacks = planRollBack({ ...asked, world: view }).steps.filter(({ action }) => action.kind === "roll-back")
    expect(rollBacks.filter(({ after }) => after.length === 0)).toHaveLength(1)
    expect(new Set(rollBacks.flatMap(({ after }) => after)).size).toBe(own(world).length - 1)
    expect(rollBacks.flatMap(({ after }) => after)).not.toContain(`roll-back:${routerName}`)
    const trees = new Map(view.trees).set(vmidOf(world, "LAB-web"), treeWith())
    expect(kindsOf(planRollBack({ ...asked, world: { ...view, trees } }))).toEqual(["refuse"])
  })

  test("one that was off stays off, unless the snapshot has its memory", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "stopped"
    const vmids = [vmidOf(world, "LAB-web")]
    const keys = (memory: boolean) =>
      keysOf(
        planRollBack({
          range,
          atomic: false,
          world: viewOf(world, treeWith(snapshot("clean", { memory }))),
          vmids,
          name: "clean",
        }),
      )
    expect(keys(false)).toEqual(["roll-back:LAB-web"])
    expect(keys(true)).toContain("start:LAB-web")
  })

  test("whether it ran is taken from what was read with its snapshots, not from the list", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "stopped"
    const tree = { ...treeWith(snapshot("clean")), running: true }
    const vmids = [vmidOf(world, "LAB-web")]
    expect(keysOf(planRollBack({ range, atomic: false, world: viewOf(world, tree), vmids, name: "clean" }))).toContain(
      "start:LAB-web",
    )
  })

  test("a machine without the snapshot is left alone, and so is one whose snapshot is incomplete", () => {
    const world = deployed()
    const view = viewOf(world, treeWith(snapshot("clean")))
    const [web, kali] = ["LAB-web", "LAB-kali"].map((name) => vmidOf(world, name)) as [Vmid, Vmid]
    const trees = new Map(view.trees).set(web, treeWith()).set(kali, treeWith(snapshot("clean", { incomplete: true })))
    const plan = planRollBack({ range, atomic: false, world: { ...view, trees }, vmids: [web, kali], name: "clean" })
    expect(refusals(plan)).toEqual([expect.stringContaining("has no snapshot clean"), expect.stringContaining("is incomplete")])
    expect(kindsOf(plan)).toEqual(["refuse"])
  })
})

test("removing takes one step for each machine that has the snapshot", () => {
  const world = deployed()
  const view = viewOf(world, treeWith(snapshot("clean"), snapshot("later", { parent: "clean" })))
  const web = vmidOf(world, "LAB-web")
  const trees = new Map(view.trees).set(web, treeWith())
  const plan = planRemoveSnapshots({ range, world: { ...view, trees }, vmids: own(world), name: "clean" })
  expect(refusals(plan)).toEqual([expect.stringContaining("LAB-web")])
  expect(plan.steps.filter(({ action }) => action.kind === "remove-snapshot")).toHaveLength(own(world).length - 1)
})

test("a journal returns such plans unchanged", () => {
  const world = deployed()
  const view = viewOf(world, treeWith(snapshot("clean")))
  const plans = [
    take(viewOf(world), [...own(world), 5 as Vmid]),
    planRollBack({ range, atomic: false, world: view, vmids: own(world), name: "clean" }),
  ]
  for (const plan of plans) {
    const event = storedRunEvent({ type: "Planned", plan })
    expect(event).toMatchObject(JSON.parse(JSON.stringify({ type: "Planned", plan })) as object)
  }
})
