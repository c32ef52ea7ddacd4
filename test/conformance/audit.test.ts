import { afterAll, beforeAll, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
  for (const name of ["one", "two", "three"])
    await fetch(`${service.url}/api/v2/ranges/create`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": service.keys[name === "two" ? "member" : "admin"] },
      body: JSON.stringify({ name, rangeID: name }),
    })
  await fetch(`${service.url}/api/v2/range?rangeID=R1&force=true`, {
    method: "DELETE",
    headers: { "x-api-key": service.keys.admin },
  })
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

interface Entry {
  readonly id: number
  readonly detail: string
  readonly operation: string
  readonly callerID: string
  readonly actingAs?: string
  readonly rangeID?: string
  readonly outcome: string
}
const audit = async (query: Record<string, string> = {}) => {
  const path = `/api/v2/audit?${new URLSearchParams(query).toString()}`
  const response = await fetch(service.url + path, { headers: { "x-api-key": service.keys.admin } })
  return { status: response.status, entries: (await response.json()) as readonly Entry[] }
}
const found = async (query: Record<string, string>) => (await audit(query)).entries.map(({ operation }) => operation)

it("the audit trail is read page by page, each page ending before the last id of the previous one", async () => {
  const { entries } = await audit()
  expect(entries.map(({ operation }) => operation)).toEqual(["deleteRange", "createRange", "createRange", "createRange"])
  const first = (await audit({ limit: "3" })).entries
  const second = (await audit({ limit: "3", before: String(first.at(-1)?.id) })).entries
  expect([...first, ...second]).toEqual(entries)
  expect((await audit({ before: String(second.at(-1)?.id) })).entries).toEqual([])
})

it("the Link header of the audit trail leads to the next page and is absent on the last one", async () => {
  const link = async (path: string) =>
    (await fetch(service.url + path, { headers: { "x-api-key": service.keys.admin } })).headers.get("link")
  const { entries } = await audit({ operation: "createRange" })
  const next = `/api/v2/audit?limit=2&operation=createRange&before=${entries[1]?.id}`
  expect(await link("/api/v2/audit?limit=2&operation=createRange")).toBe(`<${next}>; rel="next"`)
  expect(await link(next)).toBeNull()
  expect(await link("/api/v2/audit?limit=4")).toBeNull()
})

it("the audit trail is filtered by user, operation, range (even a deleted one), outcome, remote address and time", async () => {
  expect(await found({ user: "ME" })).toEqual(["createRange"])
  expect(await found({ operation: "deleteRange" })).toEqual(["deleteRange"])
  expect(await found({ range: "R1" })).toEqual(["deleteRange"])
  expect(await found({ outcome: "ok", user: "AD", operation: "createRange" })).toHaveLength(2)
  expect(await found({ remote: "127.0.0.1" })).toHaveLength(4)
  expect(await found({ remote: "203.0.113.9" })).toEqual([])
  expect(await found({ since: "2000-01-01T00:00:00Z", until: "2100-01-01T00:00:00+01:00" })).toHaveLength(4)
  expect(await found({ until: "2000-01-01T00:00:00Z" })).toEqual([])
  for (const [name, value] of [
    ["since", "yesterday"],
    ["until", "2026-02-31"],
    ["before", "-1"],
  ] as const)
    expect((await audit({ [name]: value })).status).toBe(400)
})

it("the audit trail tells what was made, and who was let in", async () => {
  const send = (method: string, path: string, body: object) =>
    fetch(`${service.url}/api/v2${path}`, {
      method,
      headers: { "content-type": "application/json", "x-api-key": service.keys.admin },
      body: JSON.stringify(body),
    })
  await send("POST", "/groups", { name: "told" })
  await send("POST", "/groups/told/users", { userIDs: ["ME"], managers: ["ME"] })
  await send("POST", "/groups/told/ranges", { rangeIDs: ["one"] })
  await send("DELETE", "/groups/told/ranges", { rangeIDs: ["one"] })
  await send("DELETE", "/groups/told/users", { userIDs: ["ME"] })
  await send("POST", "/user", { userID: "LATE", name: "Late", email: "late@lab.example" })
  const { entries } = await audit()
  const told = ["LATE", "told", '"one"'].flatMap((name) => entries.filter(({ detail }) => detail.includes(name)))
  expect(new Set(told.map(({ operation, detail }) => `${operation} ${detail}`))).toEqual(
    new Set([
      'addUser userID="LATE"',
      'removeUsersFromGroup groupName=told userIDs=["ME"]',
      'removeRangesFromGroup groupName=told rangeIDs=["one"]',
      'addRangesToGroup groupName=told rangeIDs=["one"]',
      'addUsersToGroup groupName=told userIDs=["ME"] managers=["ME"]',
      'createGroup name="told"',
      'createRange rangeID="one"',
    ]),
  )
})

it("the audit trail tells who read the passwords of which machines and users, also if it was refused", async () => {
  const read = (path: string, key: string) => fetch(service.url + path, { headers: { "x-api-key": key } })
  const { admin, member, stranger } = service.keys
  const answers = [
    await read("/api/v2/range/ansibleinventory?rangeID=one", admin),
    await read("/api/v2/range/ansibleinventory?rangeID=two&allranges=true", member),
    await read("/api/v2/range/ansibleinventory?rangeID=two", stranger),
    await read("/api/v2/range/credentials?rangeID=one", admin),
    await read("/api/v2/user/credentials?userID=ME", admin),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 200, 200])
  const { entries } = await audit({ limit: "5" })
  expect(
    entries
      .toReversed()
      .map(({ operation, callerID, actingAs, rangeID, detail, outcome }) =>
        [operation, callerID, actingAs, rangeID, detail, outcome].join(" "),
      ),
  ).toEqual([
    "getAnsibleInventory AD AD one  ok",
    "getAnsibleInventory ME ME two allranges=true ok",
    "getAnsibleInventory ST ST   Forbidden",
    "getRangeCredentials AD AD one  ok",
    "getCredentials AD ME   ok",
  ])
})
