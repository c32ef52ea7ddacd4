import { afterAll, beforeAll, expect, it } from "vitest"
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

it("an unknown path is named in the answer, with a pointer to the existing ones", async () => {
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
