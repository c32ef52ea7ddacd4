import { mayUsePool } from "@rangewright/adapter-memory"
import type { GroupName, RangeId, User, UserId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

let service: RangeService
let root: User
let ada: User

/** The current rules of the routers, as runs last set them. */
const rulesOf = (id: string): string => {
  const router = [...service.lab.world.vms.values()].find((vm) => vm.pool === id && vm.tags.includes("router"))
  return router === undefined ? "" : ([...router.stages.keys()].filter((stage) => stage.startsWith("firewall ")).at(-1) ?? "")
}
const drift = async (id: string) => service.call("getRangeDrift", ada, { range: await service.find(id) })
const power = async (id: string, on: boolean) =>
  service.call(on ? "powerOnRange" : "powerOffRange", ada, { range: await service.find(id), body: { machines: ["all"] } })
const removeBob = async () =>
  ((await service.call("deleteUser", root, { path: { userID: "Bob" } })) as { readonly result: string }).result

beforeEach(async () => {
  service = makeRangeService()
  root = await service.addUser("Root1", { isAdmin: true })
  ada = await service.addUser("Ada")
  await service.addUser("Bob")
  for (const rangeID of ["DIRECT", "GROUPED", "NEVER"]) await service.call("createRange", ada, { body: { name: "Lab", rangeID } })
  await service.call("assignRangeToUser", root, {
    range: await service.find("DIRECT"),
    path: { userID: "Bob", rangeID: "DIRECT" },
  })
  await service.call("createGroup", root, { body: { name: "red" } })
  const group = service.lab.store.groups.get("red" as GroupName)?.group
  await service.call("addUsersToGroup", root, { group, body: { userIDs: ["Bob"] } })
  await service.call("addRangesToGroup", root, { group, body: { rangeIDs: ["GROUPED", "DIRECT", "NEVER"] } })
  for (const id of ["DIRECT", "GROUPED"]) await service.deploy(ada, await service.find(id))
})
afterEach(() => service.close())

it("a removed user is removed from the routers of all their ranges, whatever path gave them access", async () => {
  const before = ["DIRECT", "GROUPED"].map(rulesOf)
  expect(await removeBob()).toBe("User Bob deleted")
  for (const [i, id] of ["DIRECT", "GROUPED"].entries()) {
    expect(rulesOf(id)).not.toBe(before[i])
    expect(await drift(id)).toMatchObject({ inSync: true })
    expect(mayUsePool(service.lab.world, id)).not.toContain("bob@pve")
  }
})

it("ranges that no user has any more are named, and those that others have are not", async () => {
  await service.call("createRange", root, { body: { name: "Own", rangeID: "OWN", userID: ["Bob"] } })
  expect(await removeBob()).toBe(
    "User Bob deleted; range OWN stays with its VMs: DELETE /range?rangeID=OWN&force=true removes it",
  )
})

it("several such ranges are named together, and so is a default range that others have too", async () => {
  for (const rangeID of ["OWN1", "OWN2"])
    await service.call("createRange", root, { body: { name: "Own", rangeID, userID: ["Bob"] } })
  await service.run(Users.use((users) => users.change("Bob" as UserId, { defaultRangeId: "DIRECT" as RangeId })))
  expect(await removeBob()).toBe(
    "User Bob deleted; ranges DIRECT, OWN1, OWN2 stay with their VMs: remove them one by one with DELETE /range?rangeID=ID&force=true",
  )
})

it.each([
  ["that was shared with the user", "DIRECT"],
  ["that the user has through a group", "GROUPED"],
  ["that the user may no longer use", "LOST"],
])("a default range %s is not deleted with the user", async (_whose, id) => {
  await service.call("createRange", ada, { body: { name: "Lab", rangeID: "LOST" } })
  await service.run(Users.use((users) => users.change("Bob" as UserId, { defaultRangeId: id as RangeId })))
  const removal = service.call("deleteUser", root, { path: { userID: "Bob" }, query: { deleteDefaultRange: "true" } })
  expect(await removal.catch((fault: unknown) => fault)).toMatchObject({
    kind: "conflict",
    message: `Cannot delete user Bob: their default range ${id} is not their own`,
    hint: expect.stringContaining("deleteDefaultRange") as string,
  })
  expect([...service.lab.store.users.keys()]).toContain("Bob")
  expect(await service.find(id)).toMatchObject({ id })
  expect(await removeBob()).not.toContain("default range deleted")
})

it("the default range that was made for the user is deleted with them, also if others may use it", async () => {
  await service.call("createRange", root, { body: { name: "Own", rangeID: "OWN", userID: ["Bob", "Ada"] } })
  await service.run(Users.use((users) => users.change("Bob" as UserId, { defaultRangeId: "OWN" as RangeId })))
  const removal = service.call("deleteUser", root, { path: { userID: "Bob" }, query: { deleteDefaultRange: "true" } })
  expect(await removal).toEqual({ result: "User Bob and their default range deleted" })
  expect(service.lab.store.ranges.has("OWN" as RangeId)).toBe(false)
})

it("a router that is off is named in the answer and in the drift, until its range is deployed again", async () => {
  await power("GROUPED", false)
  const before = rulesOf("GROUPED")
  const told = await removeBob()
  expect(told).toContain("User Bob deleted; the router of range GROUPED could not be updated yet")
  expect(told).not.toContain("DIRECT")
  expect(await drift("DIRECT")).toMatchObject({ inSync: true })
  expect(await drift("GROUPED")).toMatchObject({ inSync: false })
  await power("GROUPED", true)
  expect(await drift("GROUPED")).toMatchObject({ inSync: false })
  await service.deploy(ada, await service.find("GROUPED"))
  expect(rulesOf("GROUPED")).not.toBe(before)
  expect(await drift("GROUPED")).toMatchObject({ inSync: true })
})

it("removing a group and revoking a grant by force name routers that are off in the same way", async () => {
  await power("GROUPED", false)
  await power("DIRECT", false)
  const group = service.lab.store.groups.get("red" as GroupName)?.group
  expect(await service.call("deleteGroup", root, { group })).toMatchObject({
    result: expect.stringMatching(/^Group red deleted; the router of range GROUPED could not be updated/u),
  })
  const range = await service.find("DIRECT")
  const path = { userID: "Bob", rangeID: "DIRECT" }
  expect(await service.call("revokeRangeFromUser", root, { range, path, query: { force: true } })).toMatchObject({
    result: expect.stringMatching(/successfully; the router of range DIRECT could not be updated/u),
  })
  for (const id of ["DIRECT", "GROUPED"]) expect(await drift(id)).toMatchObject({ inSync: false })
})
