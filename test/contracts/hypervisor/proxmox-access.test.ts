import type { RangeId } from "@rangewright/domain"
import { HypervisorAccess, type HypervisorAccount } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { rangeId } from "./support/under-test.ts"

const bob: HypervisorAccount = { username: "bob", realm: "pve" }
const first = "the first password"
const second = "the second password"

const ensure = (account: HypervisorAccount, password: string, admin = false) =>
  HypervisorAccess.use((access) => access.ensureUser(account, password, { admin }))
const setPassword = (password: string) => HypervisorAccess.use((access) => access.setPassword(bob, password))

/** Root's own calls, on simulated time. */
const root = (rig: Rig, method: string, path: string, form = ""): Promise<string> =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, form)))

/** Whether Proxmox lets the account in with the password. */
const logsIn = (rig: Rig, password: string): Promise<boolean> =>
  rig.run(
    Effect.promise(async () => {
      const answer = await rig.sim.handle({
        method: "POST",
        path: "/api2/json/access/ticket",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ username: "bob@pve", password }).toString(),
      })
      return answer.status === 200
    }),
  )

describe("accounts, with an API token", () => {
  it("log in with the password they were made with, and belong to the users' group", async () => {
    const rig = makeRig()
    await rig.run(ensure(bob, first))
    expect([await logsIn(rig, first), await logsIn(rig, second)]).toEqual([true, false])
    expect(await root(rig, "GET", "/access/users/bob@pve")).toContain("ludus_users")
    expect(await root(rig, "GET", "/access/users/bob@pve")).not.toContain("ludus_admins")
    await rig.run(ensure(bob, first, true))
    expect(await root(rig, "GET", "/access/users/bob@pve")).toContain("ludus_admins")
    await rig.close()
  })

  it("become administrators and cease to be, and keep their password, their other groups and what others wrote of them", async () => {
    const rig = makeRig()
    const setAdmin = (admin: boolean) => rig.run(HypervisorAccess.use((access) => access.setAdmin(bob, admin)))
    const groups = async () => {
      const { data } = JSON.parse(await root(rig, "GET", "/access/users/bob@pve")) as {
        readonly data: { readonly groups: readonly string[]; readonly email?: string }
      }
      return [[...data.groups].sort(), data.email]
    }
    await rig.run(ensure(bob, first))
    await root(rig, "POST", "/access/groups", "groupid=others")
    await root(rig, "PUT", "/access/users/bob@pve", "groups=others&append=1&email=bob@lab.example")
    await setAdmin(true)
    expect(await groups()).toEqual([["ludus_admins", "ludus_users", "others"], "bob@lab.example"])
    await setAdmin(false)
    expect(await groups()).toEqual([["ludus_users", "others"], "bob@lab.example"])
    expect(await logsIn(rig, first)).toBe(true)
    await rig.close()
  })

  it("get another password without losing groups and rights, although a token may set none", async () => {
    const rig = makeRig()
    await rig.run(ensure(bob, first, true))
    await rig.run(
      HypervisorAccess.use((access) => Effect.andThen(access.ensurePool(rangeId), access.grant(rangeId, [bob], undefined))),
    )
    await rig.run(setPassword(second))
    expect([await logsIn(rig, first), await logsIn(rig, second)]).toEqual([false, true])
    expect(await rig.run(HypervisorAccess.use((access) => access.granted(rangeId, [bob], undefined)))).toBe(true)
    expect(await root(rig, "GET", "/access/users/bob@pve")).toContain("ludus_admins")
    await rig.close()
  })

  it("that have tokens of their own, or were made by others, keep their password: the fault says why", async () => {
    const rig = makeRig()
    await root(rig, "POST", "/access/users", `userid=bob@pve&password=${encodeURIComponent(first)}`)
    const others = await rig.run(Effect.flip(setPassword(second)))
    expect(others.facts).toMatchObject({
      reason: "forbidden",
      detail: expect.stringContaining("not made by the service") as string,
    })
    await root(rig, "DELETE", "/access/users/bob@pve")
    await rig.run(ensure(bob, first))
    await root(rig, "POST", "/access/users/bob@pve/token/mine")
    const tokens = await rig.run(Effect.flip(setPassword(second)))
    expect(tokens.facts).toMatchObject({ reason: "forbidden", detail: expect.stringContaining("API tokens") as string })
    expect([await logsIn(rig, first), await logsIn(rig, second)]).toEqual([true, false])
    await rig.close()
  })

  it("of others keep their password when they are made users of the service", async () => {
    const rig = makeRig()
    await root(rig, "POST", "/access/users", `userid=bob@pve&password=${encodeURIComponent(first)}`)
    await rig.run(ensure(bob, second))
    expect(await logsIn(rig, first)).toBe(true)
    expect(await root(rig, "GET", "/access/users/bob@pve")).toContain("ludus_users")
    await rig.close()
  })
})

describe("accounts, logged in by password", () => {
  it("get another password in place, tokens and all", async () => {
    const bare = makeRig()
    const rig = makeRig({}, { auth: { type: "password", username: "root@pam", password: Redacted.make(bare.sim.rootPassword) } })
    await rig.run(ensure(bob, first))
    await root(rig, "POST", "/access/users/bob@pve/token/mine")
    await rig.run(setPassword(second))
    expect([await logsIn(rig, first), await logsIn(rig, second)]).toEqual([false, true])
    expect(await root(rig, "GET", "/access/users/bob@pve")).toContain("mine")
    await rig.close()
  })
})

describe("pools", () => {
  it("above a nested one go with the last one below them, and other people's stay", async () => {
    const rig = makeRig()
    const pools = async (): Promise<readonly string[]> =>
      (JSON.parse(await root(rig, "GET", "/pools")) as { readonly data: readonly { readonly poolid: string }[] }).data
        .map(({ poolid }) => poolid)
        .filter((id) => id !== "SHARED" && id !== "ADMIN")
        .toSorted()
    const ensurePool = (id: string) => rig.run(HypervisorAccess.use((access) => access.ensurePool(id as RangeId)))
    const removePool = (id: string) => rig.run(HypervisorAccess.use((access) => access.removePool(id as RangeId)))
    await root(rig, "POST", "/pools", "poolid=theirs")
    await ensurePool("team/one")
    await ensurePool("team/two")
    await ensurePool("theirs/three")
    await removePool("team/one")
    expect(await pools()).toEqual(["team", "team/two", "theirs", "theirs/three"])
    await removePool("team/two")
    await removePool("theirs/three")
    expect(await pools()).toEqual(["theirs"])
    await rig.close()
  })
})

describe("the service's own rights", () => {
  it("that a token lacks are told one by one", async () => {
    const rig = makeRig()
    await root(rig, "POST", "/access/users", "userid=svc@pve")
    const made = JSON.parse(await root(rig, "POST", "/access/users/svc@pve/token/rw", "privsep=0")) as {
      readonly data: { readonly value: string }
    }
    await root(rig, "PUT", "/access/acl", "path=/vms&roles=PVEVMAdmin&users=svc@pve")
    const auth = { type: "token", id: "svc@pve!rw", secret: Redacted.make(made.data.value) } as const
    const poor = rig.as({ auth })
    const privileges = await poor.run(HypervisorAccess.use((access) => access.privileges))
    expect(privileges.get("VM.Clone on /vms")).toBe(true)
    expect(privileges.get("Sys.Audit on /")).toBe(false)
    expect(privileges.get("Pool.Allocate on /pool")).toBe(false)
    await rig.close()
  })
})
