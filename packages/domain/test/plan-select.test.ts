import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type DeployChoice, deployTags, keepOnly, predecessors, type RangeConfig, type Vertex } from "../src/index.ts"
import { matchHosts } from "../src/plan/host-pattern.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, keysOf, type ModelWorld, planned, refusal, settings, stepOf } from "./plan-model.ts"

const deployed = (): ModelWorld => {
  const world = labWorld()
  world.apply(planned(inputFor(world, labConfig())))
  return world
}
const plan = (world: ModelWorld, choice: Partial<DeployChoice>, config: RangeConfig = labConfig()) =>
  planned(inputFor(world, config, choice))
const keys = (choice: Partial<DeployChoice>, world = deployed(), config = labConfig()): readonly string[] =>
  keysOf(plan(world, choice, config))

describe("tags", () => {
  test("run their stages again although nothing changed", () => {
    expect(keys({ tags: ["dns-rewrites"] })).toEqual([`dns:${routerName}`])
    expect(keys({ tags: ["dcs"] })).toEqual([
      "windows-base:LAB-dc",
      "primary-dc:LAB-dc",
      "windows-base:LAB-dc2",
      "alt-dc:LAB-dc2",
    ])
    expect(keys({ tags: ["windows"] })).toEqual(["windows-base:LAB-ws"])
    expect(keys({ tags: ["assign-ip"] })).toEqual(["dc", "dc2", "ws", "web", "kali"].map((m) => `address:LAB-${m}`))
  })

  test("network holds the router and its firewall, access-control the firewall alone", () => {
    expect(keys({ tags: ["network"] })).toEqual([`router:${routerName}`, `firewall:${routerName}`])
    expect(keys({ tags: ["access-control"] })).toEqual([`firewall:${routerName}`])
  })

  test("bring what is missing before their steps", () => {
    const world = labWorld()
    expect(keys({ tags: ["access-control"] }, world)).toEqual([
      "pool",
      "network",
      `clone:${routerName}`,
      `configure:${routerName}`,
      `start:${routerName}`,
      `router:${routerName}`,
      `firewall:${routerName}`,
    ])
  })

  test("bring a new router's rules with the router: without them it passes nothing on", () => {
    const world = labWorld()
    const choice = { tags: ["assign-ip"] } as const
    const steps = keysOf(planned(inputFor(world, labConfig(), choice, { settings: { ...settings, guestsOverNetwork: true } })))
    expect(steps).toEqual(expect.arrayContaining([`router:${routerName}`, `firewall:${routerName}`, "address:LAB-web"]))
  })

  test("bring the settings of a VM that an interrupted run left, also when somebody has started it", () => {
    const world = labWorld()
    const first = plan(world, {})
    for (const key of ["pool", "network", "clone:LAB-web"]) world.run(stepOf(first, key))
    world.vmNamed("LAB-web").machine.power = "running"
    expect(keys({ tags: ["assign-ip"], limit: "LAB-web" }, world)).toEqual([
      "shutdown:LAB-web",
      "configure:LAB-web",
      "start:LAB-web",
      "address:LAB-web",
    ])
  })

  test("do not include an outdated prerequisite, but name it", () => {
    const world = deployed()
    const config = labConfig({ ws: { cpus: 8 } })
    const { notes, steps } = plan(world, { tags: ["custom-choco"] }, config)
    expect(steps.map((s) => s.key)).toEqual(["chocolatey:LAB-ws"])
    expect(notes).toContain('Install Chocolatey packages on LAB-ws: "Configure LAB-ws" must run before it but was not selected')
  })

  test("custom-groups writes changed groups", () => {
    const config = labConfig({ web: { ansible_groups: ["shops"] }, kali: { cpus: 8 } })
    expect(keys({ tags: ["custom-groups"] }, deployed(), config)).toEqual(["configure:LAB-web"])
  })

  test("without vm-deploy replace and remove nothing", () => {
    const config = labConfig({ kali: null, dc: { template: "win-client" } })
    const { steps, kept } = plan(deployed(), { tags: ["assign-ip"], prune: true, replace: true }, config)
    expect(new Set(steps.map((s) => s.action.kind))).toEqual(new Set(["guest"]))
    expect(kept?.map((k) => k.machine).toSorted()).toEqual(["LAB-dc", "LAB-kali"])
  })

  test("network replaces a router, and vm-deploy the other machines", () => {
    const world = deployed()
    const config = labConfig({ web: { template: "win-client" } }, { router: { template: "debian" } })
    const clones = (tag: "network" | "vm-deploy") =>
      plan(world, { tags: [tag], replace: true }, config).steps.flatMap((s) => (s.action.kind === "clone" ? [s.machine] : []))
    expect(clones("network")).toEqual([routerName])
    expect(clones("vm-deploy")).toEqual(["LAB-web"])
  })

  test("that match nothing are named", () => {
    expect(plan(deployed(), { tags: ["nexus"] })).toMatchObject({
      steps: [],
      notes: ["nothing in this range has the tag nexus"],
    })
  })

  test("each select only their own steps of a deployed range, and all of them together every stage", () => {
    const world = deployed()
    const stages = plan(labWorld(), {}).steps.filter((s) => s.action.kind === "guest")
    expect(new Set(keys({ tags: [...deployTags] }, world))).toEqual(new Set(stages.map((s) => s.key)))
    for (const tag of deployTags)
      for (const step of plan(world, { tags: [tag] }).steps) if (tag !== "network") expect(step.tag).toBe(tag)
  })
})

describe("roles", () => {
  test("that are named run again, the others do not run", () => {
    expect(keys({ onlyRoles: ["database"] })).toEqual(["role:LAB-web:database"])
    const { steps, notes } = plan(labWorld(), { onlyRoles: ["probe"] })
    expect(steps.flatMap((s) => (s.key.startsWith("role:") ? [s.key] : []))).toEqual(["role:LAB-kali:probe"])
    expect(notes).toContain('Run role probe on LAB-kali: "Run role shop on LAB-web" must run before it but was not selected')
  })

  test("that are on no machine are named", () => {
    expect(plan(deployed(), { onlyRoles: ["ghost"] }).notes).toEqual(["no machine of this range has the role ghost"])
  })
})

describe("force", () => {
  test("runs every stage again and touches no VM", () => {
    const { steps } = plan(deployed(), { force: true })
    expect(new Set(steps.map((s) => s.action.kind))).toEqual(new Set(["guest"]))
    expect(steps.map((s) => s.key).toSorted()).toEqual(
      plan(labWorld(), {})
        .steps.flatMap((s) => (s.action.kind === "guest" ? [s.key] : []))
        .toSorted(),
    )
  })
})

describe("the limit", () => {
  test("restricts cloning, changing and removing", () => {
    const world = labWorld()
    const first = plan(world, { limit: "LAB-web" })
    expect(first.steps.flatMap((s) => (s.action.kind === "clone" ? [s.machine] : []))).toEqual(["LAB-web"])
    world.apply(plan(world, {}))
    expect(keys({ limit: "LAB-web" }, world, labConfig({ kali: null, ws: { cpus: 8 } }))).toEqual([])
    const config = labConfig({ kali: null })
    expect(keys({ limit: "LAB-kali" }, world, config)).toEqual([])
    expect(keys({ limit: "LAB-kali", prune: true }, world, config)).toEqual(["stop:LAB-kali", "delete:LAB-kali"])
    expect(keys({ limit: "LAB-web", prune: true }, world, config)).toEqual([])
  })

  test("names machines by their operating system, too", () => {
    const cloned = (limit: string) =>
      plan(labWorld(), { limit }).steps.flatMap((s) => (s.action.kind === "clone" ? [s.machine] : []))
    expect(new Set(cloned("windows:!LAB-dc"))).toEqual(new Set(["LAB-dc2", "LAB-ws"]))
    expect(cloned("debian")).toContain("LAB-web")
  })

  test("names what it leaves out although steps need it", () => {
    expect(plan(labWorld(), { limit: "LAB-ws" }).notes).toContain(
      'Join LAB-ws to CORP.example: "Create domain corp.example on LAB-dc" must run before it but was not selected',
    )
  })

  test("that names no machine is refused, with the machines there are", () => {
    const [issue] = refusal(inputFor(labWorld(), labConfig(), { limit: "LAB-nobody" }))
    expect(issue).toMatchObject({ code: "bad-limit", message: 'the limit "LAB-nobody" matches no machine of the range' })
    expect(issue?.hint).toContain("LAB-kali")
  })
})

describe("a host pattern", () => {
  const hosts = [
    { name: "LAB-dc", groups: ["LAB", "LAB_test_range_dc"] },
    { name: "LAB-ws1", groups: ["LAB", "LAB_windows_endpoints"] },
    { name: "LAB-ws2", groups: ["LAB", "LAB_windows_endpoints", "lazy"] },
  ]
  const match = (pattern: string): readonly string[] => {
    const found = matchHosts(pattern, hosts)
    return Result.isSuccess(found) ? [...found.success] : found.failure.map((i) => i.code)
  }
  const every = hosts.map((h) => h.name)

  test("that matches nothing says which machines there are, or that there are none", () => {
    const hint = (some: typeof hosts) => Result.getOrThrow(Result.flip(matchHosts("nobody", some)))[0]?.hint
    expect(hint(hosts)).toBe("The machines are LAB-dc, LAB-ws1, LAB-ws2.")
    expect(hint([])).toBe("It has none yet.")
  })

  test.each([
    ["", every],
    ["all", every],
    ["*", every],
    ["all,localhost", every],
    ["LAB-dc", ["LAB-dc"]],
    ["LAB-dc:LAB-ws2", ["LAB-dc", "LAB-ws2"]],
    ["LAB_windows_endpoints, LAB-dc", every],
    ["LAB-ws?", ["LAB-ws1", "LAB-ws2"]],
    ["*ws*", ["LAB-ws1", "LAB-ws2"]],
    ["LAB:!lazy", ["LAB-dc", "LAB-ws1"]],
    ["!lazy", ["LAB-dc", "LAB-ws1"]],
    ["!lazy,all", ["LAB-dc", "LAB-ws1"]],
    ["LAB_windows_endpoints:&lazy", ["LAB-ws2"]],
    ["&lazy", ["LAB-ws2"]],
    ["localhost", []],
    ["lab-dc", ["bad-limit"]],
    ["!all", ["bad-limit"]],
    ["~LAB-.*", ["bad-limit"]],
    ["LAB[0]", ["bad-limit"]],
    ["x".repeat(5000), ["bad-limit"]],
  ])("%s", (pattern, names) => expect(match(pattern)).toEqual(names))

  test("with many stars takes little time", () => {
    expect(match(`${"*a".repeat(2000)}b`)).toEqual(["bad-limit"])
  })

  test("of names chooses exactly those", () => {
    fc.assert(
      fc.property(fc.subarray(every, { minLength: 1 }), fc.constantFrom(",", ":", " , "), (names, by) => {
        expect(match(names.join(by))).toEqual(names)
      }),
    )
  })
})

describe("leaving vertices out of a graph", () => {
  const edges = fc.array(fc.nat(100), { maxLength: 3 })
  const graph = fc.array(fc.tuple(edges, edges, fc.boolean()), { maxLength: 12 }).map((rows) =>
    rows.map(([after, behind, kept], i) => {
      const earlier = (some: readonly number[]) => (i === 0 ? [] : [...new Set(some.map((b) => `${b % i}`))])
      return { key: `${i}`, kept, after: earlier(after), behind: earlier(behind).filter((key) => !earlier(after).includes(key)) }
    }),
  )
  type Edges = (v: Vertex) => readonly string[]
  const done: Edges = ({ after }) => after
  const reaches = (vertices: readonly Vertex[], from: string, to: string, by: Edges): boolean =>
    by(vertices.find((v) => v.key === from)!).some((k) => k === to || reaches(vertices, k, to, by))

  test("keeps the order of the others, and which of them must have succeeded", () => {
    fc.assert(
      fc.property(graph, (vertices) => {
        const left = keepOnly(vertices, (v) => v.kept)
        expect(left.map((v) => v.key)).toEqual(vertices.filter((v) => v.kept).map((v) => v.key))
        for (const by of [predecessors, done])
          for (const a of left)
            for (const b of left) expect(reaches(left, a.key, b.key, by)).toBe(reaches(vertices, a.key, b.key, by))
        // and says nothing twice
        for (const v of left) {
          for (const k of v.after) expect(v.after.some((other) => reaches(left, other, k, done))).toBe(false)
          for (const k of v.behind) {
            expect(v.after).not.toContain(k)
            expect(predecessors(v).some((other) => reaches(left, other, k, predecessors))).toBe(false)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
