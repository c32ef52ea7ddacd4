import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type DeployChoice,
  type GuestSystem,
  type PlanSettings,
  renderPlan,
  layOut,
  renderTopology,
  type SeenNow,
  topologyOf,
  type Vmid,
} from "../src/index.ts"
import { secondsText } from "../src/plan/explain.ts"
import { anyConfig } from "./plan-arbitrary.ts"
import { labConfig, labTemplates, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, type ModelWorld, planned, range, settings } from "./plan-model.ts"

const explain = (world: ModelWorld, config = labConfig(), choice: Partial<DeployChoice> = {}): string =>
  renderPlan(planned(inputFor(world, config, choice)))

describe("a plan as text", () => {
  test("counts what it does, says what and why, where each VM goes, and how long it takes", () => {
    const text = explain(labWorld())
    expect(text).toContain("Plan for range LAB: 8 to create\n")
    expect(text).toMatch(/\n {4}\+ LAB-web +from debian; stages: address, role database, role shop\n/u)
    expect(text).toMatch(/\n +VM 2000\d on pve1 \(the node that holds the range's bridge\), 10\.7\.20\.5\n/u)
    expect(text).toMatch(/\n\d+ steps, about 19 min \d+ s \(the longest chain alone takes 19 min \d+ s\)\n/u)
    expect(text).toMatch(
      /\nRoles run one after another .+ ordered only by their dependencies \(role_order: graph\) it would take 6 min less\n/u,
    )
  })

  test("says what the graph of the roles' dependencies saves where it was chosen", () => {
    const text = renderPlan(planned(inputFor(labWorld(), labConfig(), { roleSequence: "graph" })))
    expect(text).toMatch(/\n\d+ steps, about 13 min \d+ s /u)
    expect(text).toMatch(/\nRoles are ordered only by their dependencies, which takes 6 min less /u)
  })

  test("shows changes, replacements and removals with their signs, and leaves out what stays", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const config = labConfig({ web: { cpus: 4 }, dc: { template: "win-client" }, kali: null })
    const text = explain(world, config, { prune: true, replace: true })
    expect(text).toMatch(/\n {4}~ LAB-web +cores 2 -> 4; restart\n/u)
    expect(text).toMatch(/\n {2}-\/\+ LAB-dc +template win-server -> win-client; stages: /u)
    expect(text).toMatch(/\n {4}- LAB-kali +no longer in the configuration\n/u)
    expect(text).toContain("1 to remove")
    expect(text).not.toContain("pool LAB")
  })

  test("shows what stays although the configuration says otherwise", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const config = labConfig({ web: { cpus: 4 }, dc: { template: "win-client" }, kali: null })
    world.apply(planned(inputFor(world, config)))
    const text = explain(world, config)
    expect(text).toContain("Nothing to do for range LAB, but 2 machines are kept although not as configured:\n")
    expect(text).toMatch(/\n {4}= LAB-dc +made from win-server, not win-client: stays unless the deploy replaces\n/u)
    expect(text).toMatch(/\n {4}= LAB-kali +not in the configuration: stays unless the deploy prunes\n/u)
    expect(explain(world, labConfig({ web: { cpus: 8 }, kali: null }))).toContain("1 to change, 1 kept")
  })

  test("says that a range is as configured when it is", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    expect(explain(world)).toBe("Nothing to do for range LAB: everything is as configured.\n")
  })

  test("ends with its notes", () => {
    const world = labWorld()
    world.add({ vmid: 301, name: "helper", pool: "LAB" })
    expect(explain(world)).toMatch(/\nNotes:\n {2}! helper \(VM 301\) is in the range's pool/u)
  })

  test("warns of machines to work in for which no login is known", () => {
    const noteOf = (more: Partial<PlanSettings>, systems?: ReadonlyMap<Vmid, GuestSystem>): string => {
      const input = inputFor(
        labWorld({ templates: [...labTemplates, "golden"] }),
        labConfig({ web: { template: "golden" } }),
        {},
        { settings: { ...settings, ...more } },
      )
      return renderPlan(planned({ ...input, world: { ...input.world, ...(systems === undefined ? {} : { systems }) } }))
    }
    const note = "! no login is known for LAB-web (template golden): its operating system is unknown."
    expect(noteOf({ guestsOverNetwork: true })).toContain(note)
    // the hypervisor needs no login, and the installation knows one
    expect(noteOf({})).not.toContain("no login is known")
    expect(noteOf({ guestsOverNetwork: true, templatesWithLogin: new Set(["golden"]) })).not.toContain("no login is known")
  })

  test("knows the login of a machine by its template's tag, and by what its agent said", () => {
    const tagged = labWorld()
    tagged.add({ vmid: 905, name: "golden", template: true, pool: "SHARED", tags: ["ubuntu"] })
    const config = labConfig({ web: { template: "golden" } })
    const more = { settings: { ...settings, guestsOverNetwork: true } }
    expect(renderPlan(planned(inputFor(tagged, config, {}, more)))).not.toContain("no login is known")

    const world = labWorld({ templates: [...labTemplates, "golden"] })
    world.apply(planned(inputFor(world, config, {}, more)))
    const input = inputFor(world, config, { force: true }, more)
    const [web] = input.world.cluster.machines.filter(({ name }) => name === "LAB-web")
    const seen = (id: string) =>
      renderPlan(planned({ ...input, world: { ...input.world, systems: new Map([[web!.vmid, { id }]]) } }))
    expect(seen("debian")).not.toContain("no login is known")
    expect(seen("fedora")).toContain("no login is known for LAB-web (template golden): it runs fedora.")
  })

  test("holds no password", () => {
    const config = labConfig({}, { defaults: { ad_domain_admin_password: "hunter2hunter2" } })
    expect(explain(labWorld(), config)).not.toContain("hunter2")
  })

  test.each([
    [0.2, "1 s"],
    [59, "59 s"],
    [60, "1 min"],
    [761, "12 min 41 s"],
    [3600, "1 h"],
    [3785, "1 h 3 min"],
  ])("%d seconds are %s", (seconds, text) => expect(secondsText(seconds)).toBe(text))
})

describe("a network as text", () => {
  const seen: readonly SeenNow[] = [
    { name: routerName, power: "running", address: "192.0.2.107" },
    { name: "LAB-dc", power: "running", address: "10.7.10.11" },
    { name: "LAB-web", power: "stopped", address: undefined },
  ]
  const picture = renderTopology(topologyOf(labConfig(), range, seen), 120)

  test("has the router above a box for each VLAN with its machines", () => {
    expect(picture.split("\n").slice(0, 5)).toEqual([
      "outside",
      "  │",
      "┌─┴ router ──────────────────────────────┐",
      "│ ● LAB-router-debian11-x64  192.0.2.107 │",
      "└─┬──────────────────────────────────────┘",
    ])
    for (const text of ["VLAN 10  10.7.10.0/24", "gateway 10.7.10.254", "VLAN 20  10.7.20.0/24", "VLAN 99  10.7.99.0/24"])
      expect(picture).toContain(text)
  })

  test("shows what runs, what is off and what does not exist, with the current or the configured address", () => {
    expect(picture).toMatch(/● LAB-dc +10\.7\.10\.11 +primary-dc corp\.example/u)
    expect(picture).toMatch(/○ LAB-web +\(10\.7\.20\.5\) +linux/u)
    expect(picture).toMatch(/◌ LAB-kali +\(10\.7\.99\.5\) +linux/u)
  })

  test("fits the width unless one box alone is wider, and draws every machine in whole boxes", () => {
    fc.assert(
      fc.property(anyConfig, fc.integer({ min: 60, max: 160 }), (config, width) => {
        const text = renderTopology(topologyOf(config, range, []), width)
        expect(Math.max(...text.split("\n").map((l) => l.length))).toBeLessThanOrEqual(Math.max(width, 80))
        for (const m of config.machines) expect(text).toContain(m.name.replace("{{ range_id }}", "LAB"))
        const count = (sign: string): number => text.split(sign).length
        expect(count("┌")).toBe(count("└") - (config.machines.length > 0 ? 1 : 0))
      }),
    )
  })

  test("shows machines that the configuration does not know, by their address, and those without one last", () => {
    const strangers: readonly SeenNow[] = [
      { vmid: 900, name: "by-hand", power: "running", address: "10.7.20.77" },
      { vmid: 901, name: "silent", power: "stopped", address: undefined },
    ]
    const { lanes } = topologyOf(labConfig(), range, strangers)
    expect(lanes.map(({ vlan }) => vlan)).toEqual([10, 20, 99, undefined])
    expect(lanes[1]?.machines.at(-1)).toEqual({ name: "by-hand", vmid: 900, power: "running", address: "10.7.20.77" })
    expect(lanes[3]?.machines).toEqual([{ name: "silent", vmid: 901, power: "stopped" }])
    expect(topologyOf(undefined, range, strangers).lanes.map(({ network }) => network)).toEqual(["10.7.20.0/24", undefined])
  })

  test("shows each of several machines with the same name", () => {
    const twins: readonly SeenNow[] = [
      { vmid: 20_000, name: "LAB-web", power: "running", address: "10.7.20.5" },
      { vmid: 901, name: "LAB-web", power: "stopped", address: undefined },
    ]
    const shown = topologyOf(labConfig(), range, twins).lanes.flatMap(({ machines }) => machines.map(({ vmid }) => vmid))
    expect(shown.filter((vmid) => vmid !== undefined)).toEqual([20_000, 901])
  })

  test("names the rules between networks as the configuration has them", () => {
    const network = {
      inter_vlan_default: "REJECT",
      rules: [
        { name: "web", vlan_src: 99, vlan_dst: 20, protocol: "tcp", ports: 80, action: "ACCEPT" },
        { name: "out", vlan_src: "all", vlan_dst: "public", protocol: "all", ports: "all", action: "DROP" },
      ],
    }
    const { rules, defaults } = topologyOf(labConfig({}, { network }), range, [])
    expect(rules).toEqual([
      { name: "web", from: "VLAN 99", to: "VLAN 20", protocol: "tcp", ports: "80", verdict: "ACCEPT" },
      { name: "out", from: "the whole range", to: "outside", protocol: "all", ports: "all", verdict: "DROP" },
    ])
    expect(defaults?.betweenVlans).toBe("REJECT")
  })

  test("is laid out in boxes side by side that never overlap, in characters as in pixels, each with its line", () => {
    const size = fc.record({ width: fc.integer({ min: 10, max: 90 }), height: fc.integer({ min: 3, max: 12 }) })
    fc.assert(
      fc.property(fc.array(size, { maxLength: 12 }), fc.integer({ min: 40, max: 200 }), (sizes, width) => {
        const metrics = { width, gap: 1, margin: 4, trunk: 2, joint: 2, above: 0, below: 1, entry: 1, top: 2 }
        const { boxes, lines, height, router } = layOut({ width: 30, height: 3 }, sizes, metrics)
        expect(boxes.map(({ width: w, height: h }) => ({ width: w, height: h }))).toEqual(sizes)
        for (const [at, a] of boxes.entries()) {
          expect(a.x === metrics.margin || a.x + a.width <= width).toBe(true)
          expect(a.y).toBeGreaterThan(router.y + router.height)
          expect(a.y + a.height).toBeLessThanOrEqual(height)
          for (const b of boxes.slice(at + 1))
            expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height < b.y || b.y + b.height < a.y).toBe(true)
          expect(lines.filter(({ x2, y2 }) => x2 === a.x + metrics.joint && y2 === a.y)).toHaveLength(1)
        }
      }),
    )
  })
})
