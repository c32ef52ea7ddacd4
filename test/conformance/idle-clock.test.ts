import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

interface Shown {
  readonly idleSince: string
  readonly lastUse?: { readonly at: string; readonly by: string; readonly request: string; readonly key?: string }
}

const idOf = (key: string) => key.split(".")[0]

describe("what counts as use of a range", () => {
  let service: WholeService
  let dashboard = { id: "", key: "" }
  let pipeline = { id: "", key: "" }

  const ask = async <A>(method: string, path: string, key: string, body?: object): Promise<A> => {
    const answer = await fetch(`${service.url}/api/v2${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect(answer.ok, path).toBe(true)
    return (await answer.json()) as A
  }
  const make = async (body: object) => {
    const made = await ask<{ readonly keyID: string; readonly apiKey: string }>("POST", "/user/keys", service.keys.member, body)
    return { id: made.keyID, key: made.apiKey }
  }
  const timer = (key = service.keys.member) => ask<Shown>("GET", "/range/auto-shutdown?rangeID=R1", key)

  beforeAll(async () => {
    service = await startWholeService()
    dashboard = await make({ name: "dashboard", scope: "read", days: 1 })
    pipeline = await make({ name: "pipeline", scope: "range", rangeID: "R1", days: 1 })
    await ask("GET", "/range?rangeID=R1", service.keys.member)
  })
  afterAll(async () => {
    expect(service.defects).toEqual([])
    await service.stop()
  })

  it("a request with a user's key, and the timer says whose and which", async () => {
    const { lastUse, idleSince } = await timer()
    expect(lastUse).toEqual({ at: idleSince, by: idOf(service.keys.member), request: "GET /range" })
    await ask("GET", "/range/etchosts?rangeID=R1", service.keys.admin)
    expect((await timer()).lastUse).toMatchObject({ by: idOf(service.keys.admin), request: "GET /range/etchosts" })
  })

  it("a change of a range that is named in the body", async () => {
    const before = await timer()
    await ask("POST", "/blueprints/web%2Fbasic/apply", service.keys.admin, { rangeID: "R1", force: true })
    expect((await timer()).lastUse).toMatchObject({
      by: idOf(service.keys.admin),
      request: "POST /blueprints/{blueprintID}/apply",
    })
    expect(Date.parse((await timer()).idleSince)).toBeGreaterThanOrEqual(Date.parse(before.idleSince))
  })

  it("not the question when the range is shut down", async () => {
    const before = await timer()
    expect(await timer()).toEqual(before)
  })

  it("not what a key for reading asks, however often: dashboards poll forever", async () => {
    const before = await timer()
    for (const path of ["/range?rangeID=R1", "/range/logs?rangeID=R1", "/range/auto-shutdown?rangeID=R1"])
      await fetch(`${service.url}/api/v2${path}`, { headers: { "x-api-key": dashboard.key } })
    expect(await timer()).toEqual(before)
  })

  it("what a key for one range does, and the timer names the key", async () => {
    await ask("GET", "/range?rangeID=R1", pipeline.key)
    expect((await timer()).lastUse).toMatchObject({ by: idOf(service.keys.member), request: "GET /range", key: pipeline.id })
  })
})
