import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
const send = async (method: string, path: string, body?: object) => {
  const response = await fetch(service.url + path, {
    method,
    headers: { "content-type": "application/json", "x-api-key": service.keys.admin },
    ...(body && { body: JSON.stringify(body) }),
  })
  const next = /^<(?<address>[^>]+)>; rel="next"$/u.exec(response.headers.get("link") ?? "")?.groups?.["address"]
  return { status: response.status, next, items: (await response.json()) as readonly Record<string, unknown>[] }
}
const names = ["Zoe", "adam", "Moe", "Bea", "mia"]
beforeAll(async () => {
  service = await startWholeService()
  for (const [at, name] of names.entries()) {
    const added = { userID: `PG${at}`, name: `${name} Page`, email: `${name.toLowerCase()}@page.example` }
    expect((await send("POST", "/api/v2/user", added)).status).toBe(201)
    const created = await send("POST", "/api/v2/ranges/create", { name: `${name} lesson`, rangeID: `page${at}` })
    expect(created.status).toBe(201)
  }
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

describe.each([
  ["/api/v2/user/all", "userID", ["PG1", "PG3", "PG4", "PG2", "PG0"], "userNumber", "PAGE"],
  ["/api/v2/range/all", "rangeID", ["page1", "page3", "page4", "page2", "page0"], "rangeNumber", "LESSON"],
])("%s", (list, id, byName, number, word) => {
  const ids = ({ items }: { readonly items: readonly Record<string, unknown>[] }) => items.map((item) => item[id])

  it("is returned whole, in its own order, when no page is requested", async () => {
    const { items, next } = await send("GET", list)
    expect(next).toBeUndefined()
    expect(items.length).toBeGreaterThan(names.length)
    expect(items.map((item) => item[number])).toEqual(items.map((item) => item[number] as number).toSorted((a, b) => a - b))
    expect(ids(await send("GET", `${list}?limit=2`))).toEqual(items.slice(0, 2).map((item) => item[id]))
  })

  it("links from page to page in both directions", async () => {
    for (const [sort, expected] of [
      ["name", byName],
      ["-name", byName.toReversed()],
    ] as const) {
      const seen: unknown[] = []
      let address: string | undefined = `${list}?q=${word}&sort=${sort}&limit=2`
      while (address !== undefined) {
        const page = await send("GET", address)
        expect([page.status, page.items.length <= 2]).toEqual([200, true])
        seen.push(...ids(page))
        address = page.next
      }
      expect(seen).toEqual(expected)
    }
  })

  it("returns the entries that match all words of q, with the members named in fields", async () => {
    expect(ids(await send("GET", `${list}?q=${word.toLowerCase()}%20MOE`))).toEqual([byName[3]])
    expect((await send("GET", `${list}?q=moe%20zoe`)).items).toEqual([])
    const { items } = await send("GET", `${list}?q=moe%20${word}&fields=name,${id}`)
    expect(items.map((item) => Object.keys(item).toSorted())).toEqual([["name", id].toSorted()])
  })

  it.each(["sort=password", "sort=name,-name", "limit=-1", "cursor=x", "cursor=W10", "cursor=bnVsbA", "fields=name,__proto__"])(
    "refuses %s",
    async (query) => {
      expect((await send("GET", `${list}?${query}`)).status).toBe(400)
    },
  )
})

it("a user is also found by their email address, which the list does not show", async () => {
  const { items } = await send("GET", "/api/v2/user/all?q=mia@page.example")
  expect(items.map(({ userID }) => userID)).toEqual(["PG4"])
  expect(JSON.stringify(items)).not.toContain("@")
})
