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

const ask = async (method: string, path: string, body?: string, key = service.keys.admin) => {
  const response = await fetch(`${service.url}/api/v2${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

const limits = ["2147483648", "9007199254740993", "1e309", "-1", "5.5", '"5"', "true", "[5]", "{}"]
const many = (count: number, name: string) => JSON.stringify(Array.from({ length: count }, (_, i) => `${name}${i}`))
const wrong = [
  ...limits.map((limit) => `{"NAMES":["ME"],"LIMIT":${limit}}`),
  '{"NAMES":[],"LIMIT":5}',
  '{"NAMES":["nobody"],"LIMIT":5}',
  '{"NAMES":["ME","nobody"],"LIMIT":5}',
  '{"NAMES":[null],"LIMIT":5}',
  '{"NAMES":"ME","LIMIT":5}',
  `{"NAMES":${many(10_000, "U")},"LIMIT":5}`,
]

it.each([
  ["/user/quotas", "userIDs", "quotaRAM", "ME", "/user/quotas/all"],
  ["/groups/quotas", "groupNames", "defaultQuotaCPU", "G1", "/groups/quotas"],
])("invalid limits, and limits for unknown users, change nothing: %s", async (path, names, limit, known, all) => {
  const before = await ask("GET", all)
  for (const body of wrong) {
    const sent = body.replace("NAMES", names).replace("LIMIT", limit).replaceAll('"ME"', `"${known}"`)
    const { status, text } = await ask("PUT", path, sent)
    expect([sent.slice(0, 80), [400, 404].includes(status), text]).toEqual([
      sent.slice(0, 80),
      true,
      expect.stringContaining('"error"'),
    ])
    expect((await ask("GET", all)).text).toBe(before.text)
  }
})

it("a limit is set once for a user named twice, and its field may have any letter case", async () => {
  expect((await ask("PUT", "/user/quotas", '{"userids":["ME","ME"],"QUOTAram":64}')).text).toContain("1 user")
  expect((await ask("GET", "/user/quotas/all")).text).toMatch(/"limitRAM":64/u)
})

it.each(["/user/quotas", "/user/disk"])("only administrators read the usage of other users: %s", async (path) => {
  const own = await ask("GET", path, undefined, service.keys.member)
  expect(own.status).toBe(200)
  const asAdmin = await ask("GET", `${path}?userID=ME`)
  expect(asAdmin).toEqual(own)
  for (const other of ["ST", "AD", "nobody"]) {
    const { status, text } = await ask("GET", `${path}?userID=${other}`, undefined, service.keys.member)
    expect([other, status, text]).toEqual([other, 401, expect.not.stringMatching(/used|things/u)])
  }
})
