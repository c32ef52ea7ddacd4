import { makeRouterRound } from "@rangewright/application"
import type { Range, User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

const minute = 60_000
const counted = { source: "10.1.10.11", destination: "198.18.0.2", protocol: 17, port: 123, packets: 3 }

describe("rounds of looks at routers", () => {
  let service: RangeService
  let ada: User
  let round: ReturnType<typeof makeRouterRound>
  const find = (): Promise<Range> => service.find("LAB")
  const call = async (id: string, body?: object) => service.call(id, ada, { range: await find(), body })
  const shows = (code: number): void => {
    service.lab.world.routerReport = [`check ${code}`, JSON.stringify(counted), '{"packets": 3, "full": false}'].join("\n")
  }
  /** How often the router was asked. */
  const asked = (): number =>
    service.lab.world.calls.filter(
      ({ port, method, action }) =>
        port === "guest" && method === "dispatch" && action?.kind === "guest" && action.stage === "inspect-router",
    ).length
  /** How often a round asks after this time. */
  const roundAfter = async (millis: number): Promise<number> => {
    const before = asked()
    await service.run(Effect.andThen(Effect.sleep(millis), round))
    return asked() - before
  }
  const drift = async () =>
    (
      (await call("getRangeDrift")) as {
        readonly differences: readonly { readonly object: string; readonly reasons: readonly string[] }[]
      }
    ).differences.find(({ object }) => object === "rules of the router of LAB")?.reasons
  const blocked = () => call("getTestingBlocked") as Promise<{ readonly blocked: readonly object[]; readonly rules?: string }>
  const router = () => [...service.lab.world.vms.values()].find(({ name }) => name.includes("router"))!

  beforeEach(async () => {
    service = makeRangeService()
    round = makeRouterRound()
    ada = await service.addUser("Ada")
    await service.call("createRange", ada, { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await find(), service.lab.config)
    await service.deploy(ada, await find())
    shows(0)
  })
  afterEach(() => service.close())

  it("come every hour where nobody tests, and every five minutes where somebody does", async () => {
    expect(await roundAfter(0)).toBe(1)
    expect([await roundAfter(minute), await roundAfter(58 * minute), await roundAfter(minute)]).toEqual([0, 0, 1])
    await call("startTesting")
    // the start has loaded its rules just now
    expect(await roundAfter(minute)).toBe(1)
    expect([await roundAfter(minute), await roundAfter(3 * minute), await roundAfter(minute)]).toEqual([0, 0, 1])
  })

  it("find what somebody changed on an open router, and that it is as it was loaded again", async () => {
    await roundAfter(0)
    expect(await drift()).toBeUndefined()
    shows(3)
    // twice in a row before it counts
    expect(await roundAfter(60 * minute)).toBe(2)
    expect(await drift()).toEqual([expect.stringContaining("a reboot of the router loads them again")])
    expect((await find()).testing.mode).toBe("off")
    shows(0)
    expect(await roundAfter(minute)).toBe(0)
    await call("rebootRange", { machines: [router().name] })
    expect(await roundAfter(minute)).toBe(1)
    expect(await drift()).toBeUndefined()
  })

  it("leave what was counted while testing as it is", async () => {
    await call("startTesting")
    await roundAfter(0)
    await call("stopTesting")
    const told = await blocked()
    expect(told.blocked).toHaveLength(1)
    service.lab.world.routerReport = 'check 3\n{"packets": 0, "full": false}'
    await roundAfter(60 * minute)
    expect(await blocked()).toEqual(told)
    expect(await drift()).toHaveLength(1)
  })

  it("see within a minute what a run left on a router that is to be closed", async () => {
    await call("startTesting")
    expect(await roundAfter(minute)).toBe(1)
    const { runID } = (await call("deployRange", { force: true })) as { readonly runID: string }
    await service.end(ada, runID)
    // a role of the router may have opened it
    shows(3)
    expect(await roundAfter(minute)).toBe(2)
    expect((await find()).testing.mode).toBe("entering")
    expect(await drift()).toEqual([expect.stringContaining("PUT /testing/start")])
  })

  it("leave a router alone that is off, and ask one that does not answer no sooner than others", async () => {
    await call("powerOffRange", { machines: [router().name] })
    expect(await roundAfter(60 * minute)).toBe(0)
    await call("powerOnRange", { machines: [router().name] })
    service.lab.world.routerReport = undefined
    expect(await roundAfter(0)).toBe(1)
    expect([await roundAfter(minute), await roundAfter(59 * minute)]).toEqual([0, 1])
  })
})
