import type { AccountId, RangeId, RunId, User, UserId } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let admin: User
let ada: User
let bob: User
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
})

const create = (user: User, rangeID: string, more = {}) =>
  app.call("createRange", user, { body: { name: "Lab", rangeID, ...more } })
const refused = (user: User, rangeID: string) => app.fails("createRange", user, { body: { name: "Lab", rangeID } })
const pools = () => [...app.world.pools]

describe("the ID of a new range", () => {
  it.each([
    "ROOT",
    "root",
    "Shared",
    "admin",
    "ADMIN",
    "shared/lab",
    "vmbr1007",
    "vmbr0",
    "r7",
    "ludusnat",
    "r7/lab",
    "NAT",
    "nat",
  ])("is not %s, not even for an administrator", async (id) => {
    for (const user of [ada, admin]) expect(await refused(user, id)).toMatchObject({ kind: "conflict" })
    expect(pools()).toEqual([])
  })

  it.each(["R7", "r7lab", "rooted", "lab-r7", "vmbr", "ROOT2", "lab_1", "NAT2", "nature"])("may be %s", async (id) => {
    await create(ada, id)
    expect(pools()).toEqual([id])
  })

  it("differs from every other one in more than case", async () => {
    await create(bob, "Lab-One")
    for (const id of ["lab-one", "LAB-ONE", "Lab-One"]) {
      const fault = await refused(ada, id)
      expect(fault).toMatchObject({ kind: "conflict" })
      expect(fault.message).toContain(id)
    }
    expect(pools()).toEqual(["Lab-One"])
  })

  it("cannot be that of another user; the answer is the same as for an ID in use", async () => {
    await create(bob, "TAKEN")
    const taken = (await refused(ada, "taken")).message
    expect((await refused(ada, "bOB")).message).toBe(taken.replace("taken", "bOB"))
    await create(ada, "Ada")
    await create(admin, "Bob", { userID: ["Bob"] })
    expect(pools()).toEqual(["TAKEN", "Ada", "Bob"])
  })

  it("that looks like a network's name is also refused for a new user, with the reason", async () => {
    const body = { name: "Seven", userID: "r7", email: "seven@lab.example" }
    expect(await app.fails("addUser", admin, { body })).toMatchObject({ kind: "invalid", message: expect.stringContaining("r7") })
    expect(app.world.accounts.has("seven@pve" as AccountId)).toBe(false)
  })

  it("of a range that is there may be any", async () => {
    const range = await app.addRange("r7", [ada])
    expect(await app.call("getConfig", ada, { range })).toMatchObject({ result: expect.any(String) })
  })
})

describe("a range below another one", () => {
  const below = (user: User, id = "LAB/sub") => create(user, id)

  it("is made by an owner of that one", async () => {
    await create(ada, "LAB")
    await below(ada)
    await below(ada, "LAB/sub/deep")
    expect(pools()).toEqual(["LAB", "LAB/sub", "LAB/sub/deep"])
  })

  it("is not made by others, and the answer does not tell whether that one is there", async () => {
    await create(bob, "LAB")
    const there = await refused(ada, "LAB/sub")
    expect(there).toMatchObject({ kind: "conflict", hint: expect.stringContaining("administrator") })
    expect((await refused(ada, "NONE/sub")).message).toBe(there.message.replaceAll("LAB", "NONE"))
    expect(pools()).toEqual(["LAB"])
  })

  it("is not created by members of a group that has that one, but by the group's manager", async () => {
    const range = await app.addRange("LAB")
    await app.call("createGroup", admin, { body: { name: "team" } })
    const group = [...app.store.groups.values()].map(({ group: found }) => found)[0]
    await app.call("addUsersToGroup", admin, { group, body: { userIDs: ["Ada", "Bob"], managers: ["Bob"] } })
    await app.call("addRangesToGroup", admin, { group, body: { rangeIDs: [range.id] } })
    expect(await refused(ada, "LAB/sub")).toMatchObject({ kind: "conflict" })
    await below(bob)
    expect(app.world.pools.has("LAB/sub" as RangeId)).toBe(true)
  })

  it("is made by administrators anywhere, but not below another spelling of a range", async () => {
    await create(ada, "LAB")
    await below(admin)
    await below(admin, "team/one")
    expect(await refused(admin, "lab/other")).toMatchObject({ kind: "conflict" })
    expect(pools()).toEqual(["LAB", "LAB/sub", "team/one"])
  })

  it("is not made while that one is being removed, however late that is noticed", async () => {
    await create(ada, "LAB")
    const head = {
      id: "run000000000001" as RunId,
      kind: "delete-range",
      subject: { type: "range", id: "LAB" as RangeId },
    } as const
    await app.run(
      Effect.flatMap(RunJournal, (journal) =>
        journal.open({ ...head, by: "Ada" as UserId, options: null, startedAt: new Date(0) }, "DESTROYING"),
      ),
    )
    expect(await refused(ada, "LAB/sub")).toMatchObject({ kind: "conflict", message: expect.stringContaining("LAB") })
    expect(pools()).toEqual(["LAB"])
    expect([...app.store.ranges.keys()]).toEqual(["LAB"])
  })
})
