import { type Fault, type RangeId, rangeOf, type User } from "@rangewright/domain"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

let service: RangeService
let root: User
let ada: User
let bob: User

beforeEach(async () => {
  service = makeRangeService()
  root = await service.addUser("Root1", { isAdmin: true })
  ada = await service.addUser("Ada")
  bob = await service.addUser("Bob")
  await service.call("createRange", ada, { body: { name: "Lab", rangeID: "LAB" } })
})
afterEach(() => service.close())

const create = (user: User, rangeID: string, userID: readonly string[] = []) =>
  service.call("createRange", user, { body: { name: "Lab", rangeID, userID } })
const remove = async (user: User, id: string) =>
  service.call("deleteRange", user, { range: await service.find(id), query: { force: true } })
const runsOfRanges = () => [...service.lab.store.runs.values()].filter(({ record }) => rangeOf(record) !== undefined).length
const refusal = (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => Promise.reject(new Error("it was not refused")),
    (fault: unknown) => fault as Fault,
  )

it("a range with ranges below it is not deleted; it is refused before anything changes and names those the user has", async () => {
  await create(ada, "LAB/one")
  await create(root, "LAB/xyzzy", ["Bob"])
  const fault = await refusal(remove(ada, "LAB"))
  expect(fault).toMatchObject({ kind: "conflict", message: expect.stringContaining("LAB/one") })
  expect(JSON.stringify([fault.message, fault.hint])).not.toContain("xyzzy")
  expect((await refusal(remove(root, "LAB"))).message).toContain("LAB/xyzzy")
  expect((await service.find("LAB")).state).toBe("NEVER DEPLOYED")
  expect(runsOfRanges()).toBe(0)
  await remove(bob, "LAB/xyzzy")
  await remove(ada, "LAB/one")
  await remove(ada, "LAB")
  expect([...service.lab.world.pools]).toEqual([])
})

it("a user keeps a default range with ranges below it, and the answer says why", async () => {
  await service.call("addUser", root, { body: { name: "Zoe", userID: "Zoe", email: "zoe@lab.example" } })
  await create(root, "Zoe/one", ["Bob"])
  const fault = await refusal(
    service.call("deleteUser", root, { path: { userID: "Zoe" }, query: { deleteDefaultRange: "true" } }),
  )
  expect(fault).toMatchObject({ kind: "conflict", message: expect.stringContaining("Zoe/one") })
  expect([...service.lab.store.users.keys()]).toContain("Zoe")
})

it("a pool created by hand below the range's ends its removal at once, with an error that says so", async () => {
  service.lab.world.pools.add("LAB/by-hand" as RangeId)
  const started = service.lab.clock.currentTimeMillisUnsafe()
  expect((await refusal(remove(ada, "LAB"))).message).toContain("LAB/by-hand")
  expect(service.lab.clock.currentTimeMillisUnsafe()).toBe(started)
  expect((await service.find("LAB")).state).toBe("ERROR")
  service.lab.world.pools.delete("LAB/by-hand" as RangeId)
  await remove(ada, "LAB")
  expect(service.lab.store.ranges.size).toBe(0)
})
