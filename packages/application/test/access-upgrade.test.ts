import { writeEntry } from "@rangewright/adapter-memory"
import { bringInLine, keepRights } from "@rangewright/application"
import { accountIdOf, groupOfAccount, placePath, poolRoles, type RangeId, type User } from "@rangewright/domain"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let ada: User
let bob: User
const place = { type: "pool", rangeId: "LAB" as RangeId } as const

/** The state that versions before personal groups left on the hypervisor: accounts in the group of all users, with rights of their own. */
const asBefore = (user: User) => {
  const account = accountIdOf(user)
  app.world.groups.set("ludus_users", { ours: true })
  app.world.groups.set("ludus_admins", { ours: true })
  const groups = new Set(["ludus_users"])
  app.world.accounts.set(account, { ours: true, password: "kept", groups, passwordObstacle: undefined })
  const subject = { type: "user", name: account } as const
  for (const role of poolRoles) writeEntry(app.world, { path: placePath(place), role, subject, propagate: true })
}

beforeEach(async () => {
  app = makeTestApp()
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  await app.addRange("LAB", [ada])
  app.world.pools.add(place.rangeId)
  asBefore(ada)
  asBefore(bob)
})

describe("rights that accounts had themselves", () => {
  it("move to the accounts' groups and are never missing meanwhile; those of users without the range are removed first", async () => {
    await app.run(keepRights)
    expect(app.rightsOn()).toEqual(["ada@pve"])
    expect([...new Set([...app.world.acl.values()].map(({ subject }) => subject.name))].sort()).toEqual([
      "ludus_admins",
      groupOfAccount(accountIdOf(ada)),
    ])
    const changes = app.world.calls.filter(({ port, mutating }) => port === "access" && mutating).map(({ method }) => method)
    expect(changes.filter((method) => method === "revoke" || method === "grant")).toEqual(["revoke", "grant", "revoke"])
  })

  it("leave the accounts and their passwords as they are", async () => {
    await app.run(bringInLine({ doing: "look", by: ada.id, concerns: () => true }))
    expect([...app.world.accounts.values()].map(({ password }) => password)).toEqual(["kept", "kept"])
  })
})
