import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import { type DeployChoice, driftOf, type GuestObstacle, leftOutTexts, planDeploy } from "../src/index.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, keysOf, type ModelWorld, planned, refusal, settings } from "./plan-model.ts"

const nothing: GuestObstacle = { because: "Ansible is not installed", hint: "Install it." }
const withObstacles = (world: ModelWorld, guestObstacles: readonly GuestObstacle[], choice: Partial<DeployChoice> = {}) => {
  const input = inputFor(world, labConfig(), choice)
  return { ...input, world: { ...input.world, guestObstacles } }
}
const messages = (obstacles: readonly GuestObstacle[], choice: Partial<DeployChoice> = {}) =>
  refusal(withObstacles(labWorld(), obstacles, choice)).map(({ message }) => message)

describe("work inside machines that is impossible at present", () => {
  test("refuses a deploy that needs it, with the machines, the reason and the way out", () => {
    expect(refusal(withObstacles(labWorld(), [nothing]))).toEqual([
      {
        code: "nothing-runs-inside",
        message: `nothing can be run inside ${routerName}, LAB-dc, LAB-dc2, LAB-ws, LAB-web, LAB-kali: Ansible is not installed`,
        hint: "Install it.",
      },
    ])
  })

  test("is reported for the systems, stages and roles that are concerned, and for no others", () => {
    const because = "it misses something"
    expect(messages([{ because, hint: "", os: ["windows"] }])).toEqual([
      `nothing can be run inside LAB-dc, LAB-dc2, LAB-ws: ${because}`,
    ])
    expect(messages([{ because, hint: "", stages: ["primary-dc", "domain-join"] }])).toEqual([
      `the stage primary-dc, domain-join cannot be run on LAB-dc, LAB-ws: ${because}`,
    ])
    expect(messages([{ because, hint: "", stages: ["role"], roles: ["shop", "unused"] }])).toEqual([
      `the role shop cannot be run on LAB-web: ${because}`,
    ])
    for (const idle of [{ stages: ["office"] }, { roles: ["unused"] }, { os: ["macos"] }] as const)
      expect(Result.isSuccess(planDeploy(withObstacles(labWorld(), [{ because, hint: "", ...idle }])))).toBe(true)
  })

  test("does not block a deploy that does not need it", () => {
    expect(keysOf(planned(withObstacles(labWorld(), [nothing], { tags: ["vm-deploy"] })))).toContain("clone:LAB-web")
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    expect(keysOf(planned(withObstacles(world, [nothing])))).toEqual([])
    expect(messages([nothing], { limit: "LAB-web" })).toEqual(["nothing can be run inside LAB-web: Ansible is not installed"])
  })

  test("shows in the drift", () => {
    const drift = driftOf(withObstacles(labWorld(), [nothing]))
    expect(Result.isSuccess(drift) && drift.success).toMatchObject({
      inSync: false,
      notes: expect.arrayContaining([
        expect.stringMatching(/^a deploy would be refused now: nothing can be run inside /u),
      ]) as string[],
    })
  })

  test("is left out when the operator wants that, whatever the obstacles, and the response says so", () => {
    const input = withObstacles(labWorld(), [nothing])
    const plan = planned({ ...input, settings: { ...settings, guestsLeftOut: true } })
    expect(leftOutTexts(plan)).toEqual([expect.stringMatching(/^Nothing is done inside machines: .*guest_automation: none/u)])
    expect(leftOutTexts(planned(inputFor(labWorld(), labConfig())))).toEqual([])
  })
})
