import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

type Fields = Readonly<Record<string, unknown>>
const collection = (name: string) => `${service.url}/api/collections/${name}/records`
const recordOf = async (name: string, filter: string): Promise<Fields> => {
  const headers = { "x-api-key": service.keys.member }
  const response = await fetch(`${collection(name)}?filter=${encodeURIComponent(filter)}`, { headers })
  return ((await response.json()) as { readonly items: readonly Fields[] }).items[0] ?? {}
}
const patch = async (name: string, id: unknown, body: Fields | FormData) => {
  const isForm = body instanceof FormData
  const response = await fetch(`${collection(name)}/${String(id)}`, {
    method: "PATCH",
    headers: { "x-api-key": service.keys.member, ...(isForm ? {} : { "content-type": "application/json" }) },
    body: isForm ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as unknown }
}
const formOf = (fields: Fields) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (!Array.isArray(value)) form.append(name, String(value))
  return form
}

interface Kind {
  readonly name: string
  readonly filter: string
  /** A field that may be changed. */
  readonly own: string
  readonly changes: readonly Fields[]
}
const kinds: readonly Kind[] = [
  {
    name: "users",
    filter: 'userID = "ME"',
    own: "name",
    changes: [
      { email: "new@lab.example" },
      { emailVisibility: true },
      { userID: "XX" },
      { userNumber: 99 },
      { proxmoxUsername: "root" },
      { quotaRAM: 64 },
      { defaultRangeID: "R2" },
      { ranges: [] },
    ],
  },
  {
    name: "ranges",
    filter: 'rangeID = "R1"',
    own: "purpose",
    changes: [
      { rangeID: "OTHER" },
      { rangeNumber: 77 },
      { rangeState: "DESTROYED" },
      { testingEnabled: true },
      { inactivityShutdownTimeout: "9h" },
    ],
  },
  {
    name: "blueprints",
    filter: 'blueprintID = "web/basic"',
    own: "description",
    changes: [
      { blueprintID: "other" },
      { owner: "record000000001" },
      { sharedUsers: ["record000000002"] },
      { source: "elsewhere" },
      { blueprintDirPath: "/etc" },
    ],
  },
]

describe.each(kinds)("a record of $name", ({ name, filter, own, changes }) => {
  it("may be sent whole to change what can be changed in it", async () => {
    const record = await recordOf(name, filter)
    expect(await patch(name, record["id"], { ...record, [own]: "Something else" })).toMatchObject({
      status: 200,
      body: { id: record["id"], [own]: "Something else" },
    })
  })

  it.each(changes)("is not changed in part when %j is among the changes: the answer names it", async (change) => {
    const record = await recordOf(name, filter)
    const [field = ""] = Object.keys(change)
    expect(await patch(name, record["id"], { ...record, ...change, [own]: "Anything" })).toMatchObject({
      status: 400,
      body: { data: { [field]: { message: expect.stringContaining("cannot be changed here") as string } } },
    })
    expect(await recordOf(name, filter)).toEqual(record)
  })
})

it("a range's record may be sent whole as a form, too", async () => {
  const record = await recordOf("ranges", 'rangeID = "R1"')
  const sent = { ...record, description: "By a form" }
  expect(await patch("ranges", record["id"], formOf(sent))).toMatchObject({ status: 200, body: { description: "By a form" } })
  expect(await patch("ranges", record["id"], formOf({ ...sent, rangeNumber: 77 }))).toMatchObject({ status: 400 })
})
