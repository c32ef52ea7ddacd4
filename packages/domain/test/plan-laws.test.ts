import fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as Result from "effect/Result"
import {
  changesNothing,
  type DeployChoice,
  type DeployInput,
  driftOf,
  inOrder,
  type Plan,
  planDeploy,
  type RangeConfig,
  renderName,
  type Vmid,
} from "../src/index.ts"
import { anyConfig, anyEdit, templateNames } from "./plan-arbitrary.ts"
import { inputFor, keysOf, lab, ModelWorld, planned, settings } from "./plan-model.ts"

const clusters = fc.constantFrom(
  { nodes: ["pve1"], clusterMode: false, shared: true },
  { nodes: ["pve1", "pve2", "pve3"], clusterMode: true, shared: true },
  { nodes: ["pve1", "pve2"], clusterMode: true, shared: false },
)
type Cluster = typeof clusters extends fc.Arbitrary<infer C> ? C : never

const worldOf = (cluster: Cluster): ModelWorld =>
  new ModelWorld({ nodes: cluster.nodes, templates: templateNames, shared: cluster.shared })
const removing = { prune: true, replace: true }
const planFor = (world: ModelWorld, cluster: Cluster, config: RangeConfig, choice: Partial<DeployChoice> = {}): Plan =>
  planned(inputFor(world, config, choice, { settings: { ...settings, clusterMode: cluster.clusterMode } }))

const picks = fc.array(fc.nat(1000), { minLength: 1, maxLength: 50 })
const picker = (numbers: readonly number[]): (() => number) => {
  let at = 0
  return () => numbers[at++ % numbers.length]!
}
const foreign = (world: ModelWorld): string =>
  JSON.stringify([...world.vms.values()].filter((v) => !v.detail.description.includes(`"range":"${lab}"`)))

/** The world as a read of the range's pool alone shows it; undefined when that lacks a machine with a reserved VMID. */
const ownView = (input: DeployInput): DeployInput | undefined => {
  const { cluster, reservations } = input.world
  const machines = cluster.machines.filter(({ pool }) => pool === lab).map((machine) => ({ ...machine, tags: [] }))
  const listed = new Set(machines.map(({ vmid }) => vmid))
  if (![...reservations.values()].every((vmid) => listed.has(vmid))) return undefined
  return { ...input, world: { ...input.world, cluster: { ...cluster, machines } } }
}

describe("a deploy", () => {
  test("creates the desired state from nothing, in any order that its edges allow, and then has nothing to do", () => {
    fc.assert(
      fc.property(anyConfig, clusters, picks, (config, cluster, numbers) => {
        const world = worldOf(cluster)
        world.apply(planFor(world, cluster, config), picker(numbers))
        const again = planFor(world, cluster, config)
        expect(keysOf(again)).toEqual([])
        expect(again.changes.filter((c) => c.kind !== "none")).toEqual([])
        expect(world.clones).toBe(config.machines.length + 1)
      }),
    )
  })

  test("brings an edited range to its new configuration when it may remove VMs, and then has nothing to do", () => {
    fc.assert(
      fc.property(anyEdit, clusters, picks, ([before, after], cluster, numbers) => {
        const world = worldOf(cluster)
        world.apply(planFor(world, cluster, before), picker(numbers))
        world.apply(planFor(world, cluster, after, removing), picker(numbers))
        const again = planFor(world, cluster, after, removing)
        expect([keysOf(again), again.kept]).toEqual([[], []])
        expect([...world.vms.values()].filter((v) => v.machine.pool === lab)).toHaveLength(after.machines.length + 1)
      }),
    )
  })

  test("removes nothing unasked: every VM that was there stays, unchanged where it is no longer wanted, and the plan names each", () => {
    fc.assert(
      fc.property(anyEdit, clusters, picks, fc.nat(60), ([before, after], cluster, numbers, crash) => {
        const world = worldOf(cluster)
        const pick = picker(numbers)
        world.apply(planFor(world, cluster, before), pick, crash)
        const there = [...world.vms.values()].filter((v) => v.machine.pool === lab).map(({ detail }) => detail.name)
        const wanted = [after.router.name, ...after.machines.map((m) => m.name)].map((name) => renderName(name, { rangeId: lab }))
        const left = there.filter((name) => !wanted.includes(name))
        const as = () => JSON.stringify(left.map((name) => world.vmNamed(name)))
        const [untouched, plan] = [as(), planFor(world, cluster, after)]
        expect(plan.steps.filter(({ action }) => action.kind === "delete" || action.kind === "stop")).toEqual([])
        world.apply(plan, pick)
        expect(as()).toBe(untouched)
        for (const name of there) expect(world.vmNamed(name).detail.name).toBe(name)
        const again = planFor(world, cluster, after)
        expect(keysOf(again)).toEqual([])
        expect(again.kept?.flatMap((k) => (k.template === undefined ? [k.machine] : [])).toSorted()).toEqual(left.toSorted())
        const tags = new Set(world.vmNamed(wanted[0]!).detail.nics.map((nic) => nic.tag))
        for (const name of there) for (const { tag } of world.vmNamed(name).detail.nics) expect(tags).toContain(tag)
      }),
    )
  })

  test("converges after an interruption anywhere, with no VM twice and none forgotten", () => {
    fc.assert(
      fc.property(anyEdit, clusters, picks, fc.nat(60), fc.nat(60), ([before, after], cluster, numbers, first, second) => {
        const world = worldOf(cluster)
        const pick = picker(numbers)
        world.apply(planFor(world, cluster, before), pick, first)
        world.apply(planFor(world, cluster, after, removing), pick, second)
        world.apply(planFor(world, cluster, after, removing), pick)
        expect(keysOf(planFor(world, cluster, after, removing))).toEqual([])
        expect([...world.vms.values()].filter((v) => v.machine.pool === lab)).toHaveLength(after.machines.length + 1)
      }),
    )
  })

  test("touches nothing that is not ours", () => {
    fc.assert(
      fc.property(anyEdit, clusters, ([before, after], cluster) => {
        const world = worldOf(cluster)
        world.add({ vmid: 900, name: "guest-of-the-pool", pool: lab, power: "running" })
        world.add({ vmid: 901, name: "elsewhere", power: "running" })
        world.add({ vmid: 902, name: "other-range", pool: lab, description: `{"rangewright":{"range":"OTHER","machine":"x"}}` })
        const strangers = foreign(world)
        world.apply(planFor(world, cluster, before))
        world.apply(planFor(world, cluster, after))
        expect(foreign(world)).toBe(strangers)
      }),
    )
  })

  test("is an acyclic graph of unique steps, and the same for the same input", () => {
    fc.assert(
      fc.property(anyEdit, clusters, fc.nat(40), ([before, after], cluster, crash) => {
        const world = worldOf(cluster)
        world.apply(planFor(world, cluster, before), undefined, crash)
        const plan = planFor(world, cluster, after)
        const keys = new Set(keysOf(plan))
        expect(keys.size).toBe(plan.steps.length)
        for (const step of plan.steps) for (const key of step.after) expect(keys).toContain(key)
        expect(inOrder(plan.steps)).toHaveLength(plan.steps.length)
        expect(planFor(world, cluster, after)).toEqual(plan)
      }),
    )
  })

  test("gives every machine a VMID and every network card a MAC address of its own", () => {
    fc.assert(
      fc.property(anyConfig, clusters, (config, cluster) => {
        const world = worldOf(cluster)
        const plan = planFor(world, cluster, config)
        const vmids = plan.allocations.map((a) => a.vmid)
        expect(new Set(vmids).size).toBe(config.machines.length + 1)
        expect(vmids.filter((v) => world.vms.has(v as Vmid))).toEqual([])
        const macs = plan.steps.flatMap(({ action }) =>
          action.kind === "configure" ? action.settings.nics.map((n) => n.mac) : [],
        )
        expect(new Set(macs).size).toBe(macs.length)
      }),
    )
  })

  test("that changes nothing is the same for a planner that sees no machines but the range's own", () => {
    let alike = 0
    fc.assert(
      fc.property(anyEdit, clusters, fc.boolean(), fc.nat(60), fc.nat(7), ([before, after], cluster, edited, crash, out) => {
        const world = worldOf(cluster)
        world.add({ vmid: 900, name: "guest-of-the-pool", pool: lab, power: "running" })
        world.add({ vmid: 901, name: "elsewhere", power: "running", tags: ["linux"] })
        const more = { settings: { ...settings, clusterMode: cluster.clusterMode, guestsOverNetwork: true } }
        world.apply(planned(inputFor(world, before, {}, more)), undefined, edited ? crash : undefined)
        const taken = [...world.vms.values()].filter(({ machine }) => machine.pool === lab)[out]
        if (edited && taken !== undefined) taken.machine.pool = undefined
        const whole = inputFor(world, edited ? after : before, removing, more)
        const own = ownView(whole)
        if (own === undefined) return
        const [plan, drift] = [planDeploy(own), driftOf(own)]
        if (Result.isSuccess(plan) && changesNothing(plan.success)) {
          expect(planDeploy(whole)).toEqual(plan)
          alike += 1
        }
        if (Result.isSuccess(drift) && drift.success.inSync) expect(driftOf(whole)).toEqual(drift)
      }),
    )
    expect(alike).toBeGreaterThan(10)
  })

  test("changes a new VM at most three times", () => {
    fc.assert(
      fc.property(anyConfig, clusters, (config, cluster) => {
        const plan = planFor(worldOf(cluster), cluster, config)
        for (const { machine } of plan.allocations) {
          const kinds = plan.steps.filter((s) => s.machine === machine && s.action.kind !== "guest").map((s) => s.action.kind)
          expect(kinds).toEqual(["clone", "configure", "start"])
        }
      }),
    )
  })
})
