import { describe, expect, test } from "vitest"
import { type DeployChoice, lowerBound, type Plan, predecessors, type RangeConfig, simulateSchedule } from "../src/index.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, isBefore, type ModelWorld, planned, stepOf } from "./plan-model.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

const plan = (config: RangeConfig, choice: Partial<DeployChoice> = {}, world: ModelWorld = labWorld()): Plan =>
  planned(inputFor(world, config, choice))
const rolesOf = ({ steps }: Plan): readonly string[] =>
  steps.flatMap(({ key }) => (key.startsWith("role:LAB-") ? [key.replace("role:LAB-", "")] : []))
/** The roles in the order in which they start; those that start together share an entry. */
const starts = (some: Plan): readonly string[] => {
  const { starts: at } = simulateSchedule(some)
  const byTime = rolesOf(some).toSorted((a, b) => at.get(`role:LAB-${a}`)! - at.get(`role:LAB-${b}`)!)
  return byTime.map((role) => `${role}@${at.get(`role:LAB-${role}`)}`)
}
const names = (order: readonly string[]): readonly string[] => order.map((entry) => entry.split("@")[0]!)

const windows = { linux: undefined, template: "win-server" }
/** A child domain: it is created after its parent only because of the order of the file, not by a dependency. */
const childDomain = (top: object = {}): RangeConfig =>
  accepted({
    ludus: [
      machineKeys("{{ range_id }}-child", {
        ...windows,
        windows: { sysprep: true },
        ip_last_octet: 12,
        roles: ["child-dc", "users"],
      }),
      machineKeys("{{ range_id }}-web", { ip_last_octet: 13, roles: ["site"] }),
      machineKeys("{{ range_id }}-root", {
        ...windows,
        windows: {},
        ip_last_octet: 11,
        domain: { fqdn: "corp.example", role: "primary-dc" },
        roles: ["trust"],
      }),
    ],
    ...top,
  }).config

describe("roles in the order of the file", () => {
  test("run one after another, when all other work in machines is over", () => {
    const made = plan(childDomain())
    expect(names(starts(made))).toEqual(["child:child-dc", "child:users", "web:site", "root:trust"])
    for (const stage of ["primary-dc:LAB-root", "windows-base:LAB-child", "address:LAB-web", `dns:${routerName}`])
      expect(isBefore(made, stage, "role:LAB-child:child-dc")).toBe(true)
    const times = starts(made).map((entry) => Number(entry.split("@")[1]))
    expect(times.map((at) => at - times[0]!)).toEqual([0, 120, 240, 360])
  })

  test("come after the roles that they depend on", () => {
    expect(names(starts(plan(labConfig())))).toEqual(["web:database", "web:shop", "kali:probe"])
    const turned = labConfig({
      web: { roles: [{ name: "shop", depends_on: [{ vm_name: "LAB-kali", role: "probe" }] }, "database"] },
      kali: { roles: ["first", "probe"] },
    })
    expect(names(starts(plan(turned)))).toEqual(["kali:probe", "web:shop", "web:database", "kali:first"])
  })

  test("wait for the end of other machines' roles, and for the success of their own machine's and of those that they depend on", () => {
    const made = plan(labConfig({ ws: { roles: ["agent"] } }))
    const edges = (key: string) => {
      const { after, behind } = stepOf(made, key)
      return { after, behind }
    }
    expect(edges("role:LAB-ws:agent").after).toEqual(["domain-join:LAB-ws"])
    expect(edges("role:LAB-web:database")).toEqual({
      after: ["address:LAB-web", `dns:${routerName}`],
      behind: ["role:LAB-ws:agent"],
    })
    expect(edges("role:LAB-web:shop")).toEqual({ after: ["role:LAB-web:database"], behind: undefined })
    expect(edges("role:LAB-kali:probe")).toEqual({ after: ["packages:LAB-kali", "role:LAB-web:shop"], behind: undefined })
  })

  test("cost few edges: one for each machine, and one for each role", () => {
    const machines = Array.from({ length: 40 }, (_, i) =>
      machineKeys(`{{ range_id }}-m${i}`, { ip_last_octet: i + 1, roles: ["one", "two", "three"] }),
    )
    const made = plan(accepted({ ludus: machines }).config)
    expect(rolesOf(made)).toHaveLength(120)
    expect(made.steps.flatMap(({ behind = [] }) => behind).length).toBeLessThanOrEqual(40 + 120)
  })

  test("are chosen by limit, tags and names as ever, and do not wait for what is not done", () => {
    expect(rolesOf(plan(childDomain(), { limit: "LAB-web" }))).toEqual(["web:site"])
    const done = labWorld()
    done.apply(plan(childDomain(), {}, done))
    expect(names(starts(plan(childDomain(), { tags: ["user-defined-roles"] }, done)))).toEqual([
      "child:child-dc",
      "child:users",
      "web:site",
      "root:trust",
    ])
    const some = plan(childDomain(), { onlyRoles: ["trust", "child-dc"] }, done)
    expect(some.steps.map(({ key, ...step }) => [key, predecessors({ key, ...step })])).toEqual([
      ["role:LAB-child:child-dc", []],
      ["role:LAB-root:trust", ["role:LAB-child:child-dc"]],
    ])
  })

  test("of the router come with its own stages, unless they depend on a machine's", () => {
    const early = plan(childDomain({ router: { roles: ["proxy"] } }))
    expect(predecessors(stepOf(early, `role:${routerName}:proxy`))).toEqual([`dns:${routerName}`])
    expect(isBefore(early, `role:${routerName}:proxy`, "role:LAB-child:child-dc")).toBe(true)
    const late = plan(
      childDomain({
        router: { roles: ["proxy", { name: "report", depends_on: [{ vm_name: "{{ range_id }}-web", role: "site" }] }] },
      }),
    )
    expect(isBefore(late, "role:LAB-web:site", `role:${routerName}:report`)).toBe(true)
    expect(isBefore(late, `role:${routerName}:report`, "role:LAB-child:child-dc")).toBe(true)
    expect(isBefore(late, "role:LAB-child:child-dc", `role:${routerName}:proxy`)).toBe(false)
  })
})

describe("roles by their dependencies", () => {
  const byGraph = childDomain({ ludus_extensions: { rangewright: { role_order: "graph" }, ui: [1] } })

  test("are used when the configuration or the deploy says so, and the deploy overrides", () => {
    expect(plan(byGraph).roles?.sequence).toBe("graph")
    expect(plan(childDomain(), { roleSequence: "graph" }).steps).toEqual(plan(byGraph).steps)
    expect(plan(byGraph, { roleSequence: "file" }).steps).toEqual(plan(childDomain()).steps)
    expect(isBefore(plan(byGraph), "primary-dc:LAB-root", "role:LAB-web:site")).toBe(false)
  })

  test("save the time that the plan names", () => {
    const [file, graph] = [plan(childDomain()), plan(byGraph)]
    const saved = simulateSchedule(file).makespan - simulateSchedule(graph).makespan
    expect(saved).toBeGreaterThan(0)
    expect([file.roles, graph.roles]).toEqual([
      { sequence: "file", graphSavesSeconds: saved },
      { sequence: "graph", graphSavesSeconds: saved },
    ])
    expect(lowerBound(graph)).toBeLessThan(lowerBound(file))
  })

  test("are not mentioned where no role runs", () => {
    const idle = labConfig({ web: { roles: [] }, kali: { roles: [] } })
    expect(plan(idle).roles).toBeUndefined()
  })

  test("are the only alternative", () => {
    expect(() => childDomain({ ludus_extensions: { rangewright: { role_order: "any" } } })).toThrow("role_order")
  })
})
