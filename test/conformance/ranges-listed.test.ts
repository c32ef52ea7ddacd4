import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

const read = async (path: string): Promise<unknown> => {
  const response = await fetch(service.url + path, { headers: { "x-api-key": service.keys.member } })
  expect([path, response.status]).toEqual([path, 200])
  return response.json()
}
const share = async (group: string, rangeID: string) => {
  const response = await fetch(`${service.url}/api/v2/groups/${group}/ranges`, {
    method: "POST",
    headers: { "x-api-key": service.keys.admin },
    body: JSON.stringify({ rangeIDs: [rangeID] }),
  })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ success: [rangeID] })
}

describe("a range that a user has directly and through two groups", () => {
  beforeEach(async () => {
    await share("G1", "R1")
    await share("G2", "R1")
    await share("G2", "R2")
    await share("G1", "R2")
  })

  it("is listed once, as direct; a range that is theirs through groups alone is listed once, as of a group", async () => {
    expect(await read("/api/v2/ranges/accessible")).toEqual([
      { rangeNumber: 1, rangeID: "R1", accessType: "Direct" },
      { rangeNumber: 2, rangeID: "R2", accessType: "Group" },
      { rangeNumber: 3, rangeID: "lab/web/1", accessType: "Direct" },
    ])
  })

  it("appears once in the lists of ranges and of records", async () => {
    const ids = (list: unknown) => (list as { readonly rangeID: string }[]).map(({ rangeID }) => rangeID)
    expect(ids(await read("/api/v2/range/all"))).toEqual(["R1", "R2", "lab/web/1"])
    expect(ids(((await read("/api/collections/ranges/records")) as { readonly items: unknown }).items)).toEqual([
      "R1",
      "R2",
      "lab/web/1",
    ])
    const { user } = (await read("/api/v2/whoami")) as { readonly user: { readonly expand: { readonly ranges: unknown } } }
    expect(ids(user.expand.ranges)).toEqual(["R1", "lab/web/1"])
  })
})
