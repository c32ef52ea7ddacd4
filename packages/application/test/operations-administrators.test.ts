import { bringInLine } from "@rangewright/application"
import { accountIdOf, adminGroup, rootUserId, type User, type UserId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let root: User
let boss: User
let ada: User
const withAccount = (user: User) => app.run(bringInLine({ doing: "begin", by: user.id, concerns: () => true })).then(() => user)
beforeEach(async () => {
  app = makeTestApp()
  root = await app.addUser(rootUserId, { isAdmin: true })
  boss = await withAccount(await app.addUser("Boss", { isAdmin: true }))
  ada = await withAccount(await app.addUser("Ada"))
})

const hypervisorIsAway = (away: boolean) => {
  app.world.fault = ({ method }) =>
    away && (method === "join-groups" || method === "leave-groups") ? { when: "before", reason: "away" } : undefined
}
const put = (userID: string, isAdmin: boolean) => ({ path: { userID }, body: { isAdmin } })
const patch = (user: User, body: object) => ({ path: { id: user.recordId }, body })
const isAdmin = (id: string): Promise<boolean | undefined> =>
  app.run(
    Effect.map(
      Users.use((users) => users.find(id as UserId)),
      (user) => user?.isAdmin,
    ),
  )
/** Whether the user is an administrator here, and on the hypervisor. */
const rightsOf = async (user: User) => [await isAdmin(user.id), app.world.accounts.get(accountIdOf(user))?.groups.has(adminGroup)]

describe.each([
  ["setUserAdmin", (target: User, admin: boolean) => put(target.id, admin)],
  ["recordUpdateUser", (target: User, admin: boolean) => patch(target, { isAdmin: admin })],
] as const)("%s", (operation, request) => {
  it("makes an administrator, here and on the hypervisor, and takes the rights again", async () => {
    await app.call(operation, boss, request(ada, true))
    expect(await rightsOf(ada)).toEqual([true, true])
    await app.call(operation, boss, request(ada, false))
    expect(await rightsOf(ada)).toEqual([false, false])
  })

  it("keeps the last administrator, whoever asks; ROOT does not count as one", async () => {
    const fault = await app.fails(operation, root, request(boss, false))
    expect(`${fault.message} ${JSON.stringify(fault.issues)}`).toMatch(/no (other )?administrator/u)
    expect(await rightsOf(boss)).toEqual([true, true])
    await app.call(operation, boss, request(ada, true))
    await app.call(operation, root, request(boss, false))
    expect(await rightsOf(boss)).toEqual([false, false])
  })

  it("changes neither ROOT nor the caller's own rights", async () => {
    await app.call(operation, boss, request(ada, true))
    for (const target of [root, boss]) {
      const fault = await app.fails(operation, boss, request(target, false))
      expect(["invalid", "not-found"]).toContain(fault.kind)
    }
    expect([await isAdmin("ROOT"), await isAdmin("Boss")]).toEqual([true, true])
  })

  it("undoes a promotion that the hypervisor refuses, and keeps a demotion even if rights remain there", async () => {
    hypervisorIsAway(true)
    expect(await app.fails(operation, boss, request(ada, true))).toMatchObject({ kind: "unavailable" })
    expect(await rightsOf(ada)).toEqual([false, false])

    hypervisorIsAway(false)
    await app.inLine()
    await app.call(operation, boss, request(ada, true))
    hypervisorIsAway(true)
    expect(await app.fails(operation, boss, request(ada, false))).toMatchObject({
      _tag: "RevocationPending",
      kind: "unavailable",
    })
    expect(await rightsOf(ada)).toEqual([false, true])
    const pending = { inLine: false, revocations: ["ada@pve is still an administrator"] }
    expect(await app.call("getAccess", boss)).toMatchObject(pending)
    hypervisorIsAway(false)
    await app.inLine()
    expect(await rightsOf(ada)).toEqual([false, false])
    expect(await app.call("getAccess", boss)).toMatchObject({ inLine: true, revocations: [] })
  })
})

it("a record that is sent whole changes no rights, also one's own", async () => {
  await app.call("recordUpdateUser", boss, patch(boss, { isAdmin: true, name: "The boss" }))
  await app.call("recordUpdateUser", ada, patch(ada, { isAdmin: false, name: "Ada" }))
  expect(app.world.calls.filter(({ method }) => method === "join-groups" || method === "leave-groups")).toEqual([])
  expect(await app.fails("recordUpdateUser", ada, patch(ada, { isAdmin: true }))).toMatchObject({ kind: "invalid" })
})

it("rights are not changed where the new password cannot be taken", async () => {
  const fault = await app.fails(
    "recordUpdateUser",
    boss,
    patch(ada, { isAdmin: true, password: "short", passwordConfirm: "short" }),
  )
  expect(fault.kind).toBe("invalid")
  expect(await rightsOf(ada)).toEqual([false, false])
})

it("an unknown user cannot be made an administrator", async () => {
  expect(await app.fails("setUserAdmin", boss, put("Nobody", true))).toMatchObject({ _tag: "UserNotFound" })
})
