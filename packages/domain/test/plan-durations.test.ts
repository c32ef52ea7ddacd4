import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import {
  criticalPath,
  type Durations,
  isFromEarlierRuns,
  isOwnWork,
  planDeploy,
  planFingerprint,
  planUpdateWindows,
  type Plan,
  priorityOf,
  renderPlan,
  type Step,
} from "../src/index.ts"
import { labConfig, labWorld } from "./plan-lab.ts"
import { inputFor, planned } from "./plan-model.ts"

type World = Parameters<typeof planDeploy>[0]["world"]

const everybodys: Partial<World> = { ownRoles: new Set() }
const deployed = (durations: Durations | undefined, more: Partial<World> = everybodys, config = labConfig()): Plan => {
  const input = inputFor(labWorld(), config)
  const known = durations === undefined ? {} : { durations }
  return Result.getOrThrow(planDeploy({ ...input, world: { ...input.world, ...more, ...known } }))
}
const stepOf = (plan: Plan, key: string): Step => {
  const step = plan.steps.find((one) => one.key === key)
  if (step === undefined) throw new Error(`no step ${key}`)
  return step
}
const namesOf = (plan: Plan): readonly string[] => [...new Set(plan.steps.flatMap(({ timedAs }) => timedAs ?? []))].sort()

describe("a plan with durations of earlier runs", () => {
  test("without any is the same, by the timing model", () => {
    const guessed = planned(inputFor(labWorld(), labConfig()))
    expect(deployed(undefined).criticalPathSeconds).toBe(guessed.criticalPathSeconds)
    expect(deployed(new Map([["role unknown", 1]])).steps).toEqual(deployed(undefined).steps)
    expect(guessed.steps.some(({ learned }) => learned)).toBe(false)
    expect(isFromEarlierRuns(guessed.steps)).toBe(false)
    expect(renderPlan(guessed)).not.toContain("earlier runs")
  })

  test("expects each step to take what it took, and the whole what follows from that", () => {
    const plan = deployed(
      new Map([
        ["role shop", 5400],
        ["boot win-server", 31.5],
      ]),
    )
    expect(stepOf(plan, "role:LAB-web:shop")).toMatchObject({ estimate: 5400, learned: true })
    expect(stepOf(plan, "start:LAB-dc")).toMatchObject({ estimate: 31.5, learned: true })
    expect(stepOf(plan, "start:LAB-ws").learned).toBeUndefined()
    expect(plan.criticalPathSeconds).toBeGreaterThan(5400)
    expect(plan.criticalPathSeconds).toBe(criticalPath(plan.steps).seconds)
    expect(isFromEarlierRuns(plan.steps)).toBe(true)
    expect(renderPlan(plan)).toContain(", from earlier runs (")
  })

  test("starts what is long first", () => {
    const urgency = (plan: Plan, key: string): number => priorityOf(plan.steps).get(key)!
    const [guessed, learned] = [deployed(undefined), deployed(new Map([["packages linux", 9000]]))]
    expect(urgency(guessed, "clone:LAB-kali")).toBeLessThan(urgency(guessed, "clone:LAB-dc"))
    expect(urgency(learned, "clone:LAB-kali")).toBeGreaterThan(urgency(learned, "clone:LAB-dc"))
  })

  test("does the same as one without: it can be confirmed before and run after something was learned", () => {
    const learned = deployed(new Map(namesOf(deployed(undefined)).map((name) => [name, 7])))
    expect(planFingerprint(learned)).toBe(planFingerprint(deployed(undefined)))
    expect(learned.steps.map(({ key }) => key)).toEqual(deployed(undefined).steps.map(({ key }) => key))
  })

  test("compares the orders of roles by them", () => {
    const long = new Map([
      ["role database", 1000],
      ["role probe", 1000],
    ])
    expect(deployed(long).roles?.graphSavesSeconds).not.toBe(deployed(undefined).roles?.graphSavesSeconds)
  })
})

describe("the names under which durations are remembered", () => {
  test("are those of roles, templates and stages, not of machines, users or ranges", () => {
    expect(namesOf(deployed(undefined))).toEqual([
      "address linux",
      "address windows",
      "alt-dc windows",
      "boot debian",
      "boot debian-11-x64-server-template",
      "boot win-client",
      "boot win-server",
      "chocolatey 2",
      "dns linux",
      "domain-join windows",
      "firewall linux",
      "linked clone debian",
      "linked clone debian-11-x64-server-template",
      "linked clone win-client",
      "linked clone win-server",
      "packages linux",
      "primary-dc windows",
      "role database",
      "role probe",
      "role shop",
      "router linux",
      "windows-base windows",
    ])
  })

  test("belong to the user for roles that are the user's own, and for all roles while that is unknown", () => {
    const own = (plan: Plan) => namesOf(plan).filter(isOwnWork)
    expect(own(deployed(undefined, { ownRoles: new Set(["shop"]) }))).toEqual(["own role shop"])
    expect(own(deployed(undefined, {}))).toEqual(["own role database", "own role probe", "own role shop"])
    const secret = deployed(
      new Map([
        ["role shop", 5],
        ["own role shop", 9],
      ]),
      { ownRoles: new Set(["shop"]) },
    )
    expect(stepOf(secret, "role:LAB-web:shop").estimate).toBe(9)
    expect(stepOf(deployed(new Map([["own role shop", 9]])), "role:LAB-web:shop").learned).toBeUndefined()
  })

  test("belong to the user for templates in the range's own pool", () => {
    const { world } = inputFor(labWorld(), labConfig())
    const machines = world.cluster.machines.map((m) => (m.name === "win-client" ? { ...m, pool: "LAB" } : m))
    const plan = deployed(undefined, { ...everybodys, cluster: { ...world.cluster, machines } })
    expect(
      namesOf(plan)
        .filter(isOwnWork)
        .every((name) => name.endsWith(" win-client")),
    ).toBe(true)
    expect(stepOf(plan, "start:LAB-ws").timedAs).toBe("own boot win-client")
    expect(stepOf(plan, "start:LAB-dc").timedAs).toBe("boot win-server")
  })

  test("are another for a stage that has succeeded in the machine before, and for a later boot", () => {
    const model = labWorld()
    const config = labConfig()
    model.apply(planned(inputFor(model, config)))
    const input = inputFor(model, config, { force: true })
    const again = (durations: Durations) =>
      Result.getOrThrow(planDeploy({ ...input, world: { ...input.world, ...everybodys, durations } }))
    expect(stepOf(again(new Map()), "primary-dc:LAB-dc").timedAs).toBe("again primary-dc windows")
    const timedAs = "again role shop"
    expect(stepOf(again(new Map()), "role:LAB-web:shop")).toMatchObject({ timedAs, estimate: 120 })
    // until it was done again, it is expected to take as long as the first time
    const first = new Map([["role shop", 10]])
    expect(stepOf(again(first), "role:LAB-web:shop")).toMatchObject({ timedAs, estimate: 10, learned: true })
    expect(stepOf(again(new Map([...first, [timedAs, 4]])), "role:LAB-web:shop").estimate).toBe(4)
    const updates = Result.getOrThrow(
      planUpdateWindows({ range: input.range, config, world: input.world, machines: "all", guestsLeftOut: false }),
    )
    expect(namesOf(updates)).toContain("windows-update windows")
  })

  test("are bounded in length: longer ones are neither remembered nor looked up", () => {
    const role = `a${"b".repeat(400)}`
    const config = labConfig({ web: { roles: [role] }, kali: { roles: [] } })
    const plan = deployed(new Map([[`role ${role}`, 5]]), everybodys, config)
    const step = plan.steps.find(({ action }) => action.kind === "guest" && action.stage === "role")
    expect(step).toMatchObject({ estimate: 120 })
    expect(step?.timedAs).toBeUndefined()
    expect(step?.learned).toBeUndefined()
  })
})
