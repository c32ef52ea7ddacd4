import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  inOrder,
  type Installation,
  type InstallationMachine,
  nicNetwork,
  type NicText,
  onNetwork,
  planMigration,
  planReturn,
  undoMigration,
} from "../src/index.ts"
import { bridge, machine, MigrationModel, node, options, range, zone } from "./migration-model.ts"

/** Networks that machines are attached to: ours, some whose names begin alike, and unrelated ones. */
const network = fc.constantFrom("vmbr1000", "vmbr1001", "vmbr1002", "vmbr10010", "vmbr100", "vmbr0", "r1", "Vmbr1001")
const extra = fc.array(
  fc.constantFrom(
    "tag=10",
    "firewall=1",
    "queues=4",
    "mtu=1",
    "rate=2.5",
    "link_down=1",
    "trunks=2;3",
    "x=bridge",
    "",
    "bridged=vmbr1001",
  ),
  { maxLength: 4 },
)
const text = fc
  .tuple(fc.constantFrom("virtio=BC:24:11:00:00:01", "model=e1000,macaddr=bc:24:11:00:00:02"), network, extra, fc.boolean())
  .map(([device, bridgeName, rest, first]) =>
    (first ? [`bridge=${bridgeName}`, device, ...rest] : [device, ...rest, `bridge=${bridgeName}`]).join(","),
  )
const nics = fc
  .uniqueArray(fc.tuple(fc.nat(31), text), { maxLength: 6, selector: ([index]) => index })
  .map((cards) => cards.map(([index, value]): NicText => ({ nic: `net${index}`, text: value })))

const anyMachine = fc.record({
  node: fc.constantFrom("pve1", "pve2"),
  kind: fc.constantFrom("vm" as const, "vm" as const, "vm" as const, "container" as const),
  template: fc.constantFrom(false, false, false, true),
  pool: fc.constantFrom("LAB1", "LAB1", "LAB2", "ADMIN", "SHARED", "other", undefined),
  marked: fc.constantFrom(true, false, false),
  running: fc.boolean(),
  nics,
  snapshots: fc.array(fc.record({ name: fc.constantFrom("one", "two"), nics }), { maxLength: 2 }),
})
const marks = (pool: string | undefined): boolean => pool === "LAB1" || pool === "LAB2"

const machines = fc.array(anyMachine, { maxLength: 12 }).map((drafts) =>
  drafts.map(({ marked, ...draft }, index): InstallationMachine =>
    machine(200 + index, {
      ...draft,
      description:
        marked && marks(draft.pool)
          ? JSON.stringify({ groups: [], rangewright: { range: draft.pool, machine: `vm${200 + index}` } })
          : "",
    }),
  ),
)

const anyBridge = fc.record({
  node: fc.constantFrom("pve1", "pve2"),
  name: fc.constantFrom("vmbr0", "vmbr1000", "vmbr1001", "vmbr1002", "vmbr1003", "vmbr10010"),
  ports: fc.constantFrom([], [], ["eno1"]),
  address: fc.constantFrom(undefined, undefined, "192.0.2.254/24"),
})
const bridges = fc
  .uniqueArray(anyBridge, { maxLength: 8, selector: (b) => `${b.node} ${b.name}` })
  .map((drafts) => drafts.map(({ name, ...more }) => bridge(name, more)))

const ourVnet = { name: "r1", zone: "ludus", tag: 1, alias: "rangewright LAB1", vlanAware: true, state: undefined, missingOn: [] }

/** Installations without blockers. */
const installation: fc.Arbitrary<Installation> = fc
  .record({
    quorate: fc.constant(true),
    nodes: fc.constant([node("pve1", "10.0.0.1"), node("pve2", "10.0.0.2")]),
    zones: fc.constantFrom([zone], []),
    vnets: fc.constantFrom([], [ourVnet]),
    otherPending: fc.constant([]),
    bridges,
    ranges: fc.constant([range(1), range(2)]),
    machines,
    rights: fc.constantFrom([], [{ vnet: "r1", subject: "user" as const, name: "user1@pve" }]),
    record: fc.constant(undefined),
  })
  .filter(({ zones, vnets }) => zones.length > 0 || vnets.length === 0)

const wish = { ...options, createZone: true }
const picks = fc.array(fc.nat(1000), { minLength: 1, maxLength: 50 })
const picker = (numbers: readonly number[]): (() => number) => {
  let at = 0
  return () => numbers[at++ % numbers.length]!
}
const successor: Readonly<Record<string, string>> = { vmbr1000: "ludusnat", vmbr1001: "r1", vmbr1002: "r2" }
const isOurs = ({ kind, template, pool }: InstallationMachine): boolean =>
  kind === "vm" && !template && ["LAB1", "LAB2", "ADMIN"].includes(pool ?? "")

describe("a migration", () => {
  test("in any order that its edges allow, moves every card on an old bridge once and has nothing to do then", () => {
    fc.assert(
      fc.property(installation, picks, (before, numbers) => {
        const model = new MigrationModel(before)
        const plan = planMigration(before, wish)
        expect(plan.blockers).toEqual([])
        model.apply(plan.steps, undefined, picker(numbers))
        expect(planMigration(model.installation, wish)).toMatchObject({ idle: "done", steps: [] })
        const expected = before.machines
          .filter(isOurs)
          .flatMap(({ vmid, nics: cards }) =>
            (cards ?? []).flatMap((card) => (Object.hasOwn(successor, nicNetwork(card.text)!) ? [`${vmid} ${card.nic}`] : [])),
          )
        expect(model.writes.toSorted()).toEqual(expected.toSorted())
      }),
    )
  })

  test("touches nothing that is not ours, and only the network of what is ours", () => {
    fc.assert(
      fc.property(installation, picks, (before, numbers) => {
        const model = new MigrationModel(before)
        model.apply(planMigration(before, wish).steps, undefined, picker(numbers))
        const wanted = before.machines.map((one) => {
          if (!isOurs(one)) return one
          const moved = one.nics!.map(({ nic, text: was }) => {
            const to = successor[nicNetwork(was)!]
            return { nic, text: to === undefined ? was : was.replace(/(^|,)bridge=[^,]*/u, `$1bridge=${to}`) }
          })
          return { ...one, nics: moved }
        })
        expect(model.installation.machines).toEqual(wanted)
        const left = before.bridges.filter(({ name }) => !Object.hasOwn(successor, name))
        expect(model.installation.bridges.filter(({ name }) => !Object.hasOwn(successor, name))).toEqual(left)
        // no machine loses the network that it is attached to
        for (const one of model.installation.machines)
          for (const { text: now } of one.template ? [] : (one.nics ?? [])) {
            const at = ({ node: on, name }: { readonly node: string; readonly name: string }): boolean =>
              on === one.node && name === nicNetwork(now)
            if (before.bridges.some(at) && !isOurs(one)) expect(model.installation.bridges.some(at)).toBe(true)
          }
      }),
    )
  })

  test("reaches the same end after an interruption anywhere", () => {
    fc.assert(
      fc.property(installation, picks, fc.nat(40), fc.nat(40), (before, numbers, first, second) => {
        const pick = picker(numbers)
        const straight = new MigrationModel(before)
        straight.apply(planMigration(before, wish).steps)
        const broken = new MigrationModel(before)
        broken.apply(planMigration(before, wish).steps, first, pick)
        broken.apply(planMigration(broken.installation, wish).steps, second, pick)
        const last = planMigration(broken.installation, wish)
        expect(last.blockers).toEqual([])
        broken.apply(last.steps, undefined, pick)
        const sorted = ({ vnets, bridges: b, machines: m, record }: Installation) => ({
          vnets: vnets.toSorted((x, y) => (x.name < y.name ? -1 : 1)),
          bridges: b,
          machines: m,
          record,
        })
        expect(sorted(broken.installation)).toEqual(sorted(straight.installation))
      }),
    )
  })

  test("is undone completely before machines move, and is rolled back completely afterwards", () => {
    fc.assert(
      fc.property(installation, picks, fc.nat(40), (before, numbers, ended) => {
        const plan = planMigration(before, wish)
        const model = new MigrationModel(before)
        const begun = new Set(model.apply(plan.steps, ended, picker(numbers)))
        const undo = undoMigration(plan.steps, begun, false)
        if (undo !== undefined) {
          model.apply(undo)
          const { rights: _, ...rest } = model.installation
          const { rights: __, ...wanted } = before
          expect(rest).toEqual(wanted)
          return
        }
        const back = planReturn(model.installation, wish)
        // a card that named a bridge that never existed cannot return to it
        fc.pre(back.blockers.length === 0)
        model.apply(back.steps)
        const ours = ({ machines: all }: Installation) => all.map(({ vmid, nics: cards }) => [vmid, cards])
        const onR1 = (one: Installation): boolean =>
          one.machines.some(({ nics: c }) => c?.some(({ text: t }) => nicNetwork(t) === "r1"))
        if (!onR1(before)) expect(ours(model.installation)).toEqual(ours(before))
        const named = (one: Installation) => one.bridges.map(({ node: on, name }) => `${on} ${name}`)
        expect(named(model.installation)).toEqual(expect.arrayContaining(named(before)))
        expect(planReturn(model.installation, wish).steps).toEqual([])
      }),
    )
  })

  test("is an acyclic graph of unique steps in which no machine moves before all networks are verified", () => {
    fc.assert(
      fc.property(installation, (before) => {
        const { steps } = planMigration(before, wish)
        const keys = new Set(steps.map(({ key }) => key))
        expect(keys.size).toBe(steps.length)
        for (const step of steps) for (const key of step.after) expect(keys).toContain(key)
        const order = inOrder(steps).map(({ phase, key }) => ({ phase, key }))
        const proof = order.findIndex(({ key }) => key === "verify-networks")
        for (const [at, { phase }] of order.entries()) if (phase !== "prepare") expect(at).toBeGreaterThan(proof)
        expect(planMigration(before, wish).steps).toEqual(steps)
        expect(JSON.parse(JSON.stringify(steps))).toEqual(
          steps.map((step) => Object.fromEntries(Object.entries(step).filter(([, value]) => value !== undefined))),
        )
      }),
    )
  })

  test("makes no more calls than allowed", () => {
    fc.assert(
      fc.property(installation, (before) => {
        const { steps } = planMigration(before, wish)
        const count = (...kinds: readonly string[]): number => steps.filter(({ action }) => kinds.includes(action.kind)).length
        const carrying = before.machines.filter(({ nics: cards }) => cards!.length > 0).length
        const calls = steps.length - count("save-record", "verify-networks", "verify-machines")
        expect(count("apply-sdn")).toBeLessThanOrEqual(1)
        expect(calls).toBeLessThanOrEqual(3 + carrying + count("grant-vnet") + count("remove-bridge") + 2 * 2 + 5)
        expect(count("reload-network")).toBeLessThanOrEqual(2)
      }),
    )
  })
})

test("a card moved to a network and back has the same text, byte for byte", () => {
  fc.assert(
    fc.property(text, (was) => {
      expect(onNetwork(onNetwork(was, "r1"), nicNetwork(was)!)).toBe(was)
      expect(nicNetwork(onNetwork(was, "r1"))).toBe("r1")
    }),
  )
})
