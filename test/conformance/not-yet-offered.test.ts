import { notYetOffered, operations } from "@rangewright/application"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { contractIsThere, readContracts, whyNoContract } from "./contract.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

const ask = async (method: string, path: string, headers: Record<string, string>) => {
  const response = await fetch(service.url + path, { method, headers })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
}
const key = (who: keyof WholeService["keys"]) => ({ "x-api-key": service.keys[who] })

describe.each(notYetOffered.map((one) => [one.id, one] as const))("%s", (id, { route, does }) => {
  const [method = "", path = ""] = route.split(" ")
  const url = `/api/v2${path.replace(/\{\w+\}/gu, "some%2Fthing")}`

  it("is named to people who call it, in the form that every client prints", async () => {
    for (const who of ["member", "admin"] as const)
      expect(await ask(method, `${url}?rangeID=R1`, key(who))).toMatchObject({
        status: 404,
        body: { error: `Cannot ${does}: this version of the service does not offer it yet`, status: 404 },
      })
    expect((await ask(method, url, {})).status).toBe(401)
  })

  it.skipIf(!contractIsThere)(`has the place of the contract (skipped when ${whyNoContract})`, () => {
    expect(readContracts()?.api.paths[path]?.[method.toLowerCase()]?.operationId).toBe(id)
  })
})

it("a path that nobody knows is named, with the way to those that are there", async () => {
  const { status, body } = await ask("GET", "/api/v2/snapshots", key("member"))
  expect([status, body["error"]]).toEqual([404, expect.stringMatching(/^not found: there is no GET \/api\/v2\/snapshots\n/u)])
  const changed = await ask("POST", "/api/v2/range/destroy-all", key("member"))
  expect(changed).toEqual({
    status: 404,
    body: { status: 404, message: "not found: there is no POST /api/v2/range/destroy-all", data: {} },
  })
  const long = await ask("GET", `/api/v2/${"x".repeat(5000)}`, key("member"))
  expect(String(long.body["error"]).length).toBeLessThan(400)
})

it("what is not offered has a way of its own: no operation of ours answers there", () => {
  const taken = new Set(operations.map(({ route }) => `${route.method} ${route.path.replace(/\{\w+\}/gu, "{}")}`))
  expect(notYetOffered.filter(({ route }) => taken.has(route.replace(/\{\w+\}/gu, "{}")))).toEqual([])
})
