import { makeRouterRound } from "@rangewright/application"
import type { Range, User } from "@rangewright/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { skewed } from "../runs/support/skewed-clock.ts"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

const minute = 60_000
const day = 24 * 60 * minute
const counted = { source: "10.1.10.11", destination: "198.18.0.2", protocol: 17, port: 123, packets: 3 }

describe("the periodic check of routers", () => {
  let service: RangeService
  let ada: User
  /** How many milliseconds the time of day is ahead. */
  let skew = 0
  let round: ReturnType<typeof makeRouterRound>
  const find = (): Promise<Range> => service.find("LAB")
  const call = async (id: string, body?: object) => service.call(id, ada, { range: await find(), body })
  const shows = (code: number): void => {
    service.lab.world.routerReport = [`check ${code}`, JSON.stringify(counted), '{"packets": 3, "full": false}'].join("\n")
  }
  /** How often the router was inspected. */
  const asked = (): number =>
    service.lab.world.calls.filter(
      ({ port, method, action }) =>
        port === "guest" && method === "dispatch" && action?.kind === "guest" && action.stage === "inspect-router",
    ).length
  /** How many inspections a round makes after this time. */
  const roundAfter = async (millis: number): Promise<number> => {
    const before = asked()
    const later = Effect.andThen(Effect.sleep(millis), round)
    await service.run(
      Clock.clockWith((clock) =>
        Effect.provideService(
          later,
          Clock.Clock,
          skewed(clock, () => skew / 1000),
        ),
      ),
    )
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
    skew = 0
    round = makeRouterRound()
    ada = await service.addUser("Ada")
    await service.call("createRange", ada, { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await find(), service.lab.config)
    await service.deploy(ada, await find())
    shows(0)
  })
  afterEach(() => service.close())

  it("runs every hour, and every five minutes in testing mode", async () => {
    expect(await roundAfter(0)).toBe(1)
    expect([await roundAfter(minute), await roundAfter(58 * minute), await roundAfter(minute)]).toEqual([0, 0, 1])
    await call("startTesting")
    // the start has only just loaded its rules
    expect(await roundAfter(minute)).toBe(1)
    expect([await roundAfter(minute), await roundAfter(3 * minute), await roundAfter(minute)]).toEqual([0, 0, 1])
  })

  it.each([-day, day])("runs as often as before after the clock was set %i milliseconds ahead", async (ahead) => {
    await call("startTesting")
    expect(await roundAfter(5 * minute)).toBe(1)
    skew = ahead
    await roundAfter(5 * minute)
    // the last run may seem to have ended since
    await roundAfter(minute)
    expect([await roundAfter(5 * minute), await roundAfter(minute), await roundAfter(4 * minute)]).toEqual([1, 0, 1])
    // and back, while the router does not respond
    service.lab.world.routerReport = undefined
    expect(await roundAfter(5 * minute)).toBe(1)
    skew = 0
    expect([await roundAfter(5 * minute), await roundAfter(minute), await roundAfter(4 * minute)]).toEqual([1, 0, 1])
  })

  it("finds changed rules on an open router, and notices when they are loaded again", async () => {
    await roundAfter(0)
    expect(await drift()).toBeUndefined()
    shows(3)
    // a difference counts once it is seen twice in a row
    expect(await roundAfter(60 * minute)).toBe(2)
    expect(await drift()).toEqual([expect.stringContaining("a reboot of the router loads them again")])
    expect((await find()).testing.mode).toBe("off")
    shows(0)
    expect(await roundAfter(minute)).toBe(0)
    await call("rebootRange", { machines: [router().name] })
    expect(await roundAfter(minute)).toBe(1)
    expect(await drift()).toBeUndefined()
  })

  it("keeps the packet counts of the last testing", async () => {
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

  it("detects within a minute that a run changed a router that should be closed", async () => {
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

  it("skips a router that is off, and asks one that does not respond no sooner than others", async () => {
    await call("powerOffRange", { machines: [router().name] })
    expect(await roundAfter(60 * minute)).toBe(0)
    await call("powerOnRange", { machines: [router().name] })
    service.lab.world.routerReport = undefined
    expect(await roundAfter(0)).toBe(1)
    expect([await roundAfter(minute), await roundAfter(59 * minute)]).toEqual([0, 1])
  })
})
