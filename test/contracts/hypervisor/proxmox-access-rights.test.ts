import {
  type AccessChange,
  type AccountId,
  adminGroup,
  groupOfAccount,
  nothingKept,
  type RangeId,
  userGroup,
  type Vmid,
} from "@rangewright/domain"
import { HypervisorAccess } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig, tokenAuth } from "./support/rig.ts"

const bob = "bob@pve" as AccountId
const making = { account: bob, groups: [userGroup, groupOfAccount(bob)], keep: nothingKept }
const apply = (change: AccessChange, password = "the first password") =>
  HypervisorAccess.use((access) => access.apply(change, Redacted.make(password)))
const observe = HypervisorAccess.use((access) => access.observe(undefined))
const people = Effect.gen(function* () {
  for (const group of [userGroup, adminGroup, groupOfAccount(bob)]) yield* apply({ kind: "create-group", group })
  yield* apply({ kind: "create-account", ...making })
  yield* apply({ kind: "create-pool", rangeId: "LAB" as RangeId })
})

const root = (rig: Rig, method: string, path: string, fields: Readonly<Record<string, string>> = {}): Promise<string> =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, new URLSearchParams(fields).toString())))
/** The privileges that docs/guides/install.md says the service needs for access, by path. */
const neededPrivileges: Readonly<Record<string, readonly string[]>> = {
  "/": ["Sys.Audit"],
  "/vms": ["VM.Allocate", "VM.Audit"],
  "/pool": ["Pool.Allocate", "Pool.Audit", "Permissions.Modify"],
  "/access": ["Sys.Audit"],
  "/access/groups": ["User.Modify", "Group.Allocate"],
  "/access/realm/pve": ["Realm.AllocateUser"],
  "/sdn/zones": ["SDN.Audit", "SDN.Allocate"],
}
const role = (path: string): string => `Service${path.replaceAll("/", ".")}`

/** A service with a token that has exactly the privileges it needs, by path; `has` replaces those at a path. */
const serviceOf = async (rig: Rig) => {
  await root(rig, "POST", "/access/users", { userid: "svc@pve" })
  const made = JSON.parse(await root(rig, "POST", "/access/users/svc@pve/token/rw", { privsep: "0" })) as {
    readonly data: { readonly value: string }
  }
  for (const [path, names] of Object.entries(neededPrivileges)) {
    await root(rig, "POST", "/access/roles", { roleid: role(path), privs: names.join(",") })
    await root(rig, "PUT", "/access/acl", { path, roles: role(path), users: "svc@pve" })
  }
  return {
    service: rig.as({ auth: tokenAuth(`svc@pve!rw=${made.data.value}`) }),
    has: (path: string, ...privileges: readonly string[]) =>
      root(rig, "PUT", `/access/roles/${role(path)}`, { privs: privileges.join(",") }),
  }
}
type Prepare = (rig: Rig, has: Awaited<ReturnType<typeof serviceOf>>["has"]) => Promise<unknown>

describe("a service with limited visibility", () => {
  const hidden: readonly (readonly [string, string, Prepare])[] = [
    ["accounts and groups", "User.Modify on /access/groups", (_, has) => has("/access/groups", "Group.Allocate")],
    ["rights of others", "Sys.Audit on /access", (_, has) => has("/access")],
    ["pools", "Pool.Audit on /pool", (_, has) => has("/pool", "Pool.Allocate", "Permissions.Modify")],
    [
      "pools below the path",
      "Pool.Audit on /pool",
      (rig) => root(rig, "PUT", "/access/acl", { path: "/pool", roles: role("/pool"), users: "svc@pve", propagate: "0" }),
    ],
    [
      "one pool",
      "Pool.Audit on /pool/LAB",
      (rig) => root(rig, "PUT", "/access/acl", { path: "/pool/LAB", roles: "NoAccess", users: "svc@pve" }),
    ],
  ]
  it.each(hidden)(
    "does not take invisible %s for missing, and names the privilege that it lacks",
    async (_, missing, prepare) => {
      const rig = makeRig()
      const { service, has } = await serviceOf(rig)
      await service.run(people)
      const seen = await service.run(observe)
      expect([seen.accounts.has(bob), seen.pools.has("LAB" as RangeId)]).toEqual([true, true])
      await prepare(rig, has)
      const { facts } = await service.run(Effect.flip(observe))
      expect(facts).toMatchObject({ reason: "forbidden", detail: expect.stringContaining(missing) as string })
      expect(facts.hint).toContain("docs/guides/install.md")
      await rig.close()
    },
  )

  const blinded: readonly (readonly [string, string, Prepare])[] = [
    ["the zone", "SDN.Audit on /sdn/zones/ludus", (_, has) => has("/sdn/zones", "SDN.Use")],
    [
      "what is in the zone",
      "SDN.Audit on /sdn/zones/ludus",
      (rig) =>
        root(rig, "PUT", "/access/acl", {
          path: "/sdn/zones/ludus",
          roles: role("/sdn/zones"),
          users: "svc@pve",
          propagate: "0",
        }),
    ],
    [
      "one VNet",
      "SDN.Audit on /sdn/zones/ludus/r1",
      (rig) => root(rig, "PUT", "/access/acl", { path: "/sdn/zones/ludus/r1", roles: "NoAccess", users: "svc@pve" }),
    ],
  ]
  it.each(blinded)(
    "does not take VNets for missing that it must grant rights on, if it cannot see %s",
    async (_, missing, prepare) => {
      const rig = makeRig()
      const { service, has } = await serviceOf(rig)
      for (const zone of ["ludus", "theirs"]) await root(rig, "POST", "/cluster/sdn/zones", { type: "simple", zone })
      await root(rig, "POST", "/cluster/sdn/vnets", { vnet: "r1", zone: "ludus", alias: "rangewright LAB" })
      await root(rig, "PUT", "/cluster/sdn")
      const inZone = HypervisorAccess.use((access) => access.observe("ludus"))
      const vnets = [["/sdn/zones/ludus/r1", "rangewright LAB"]]
      await root(rig, "PUT", "/access/acl", { path: "/sdn/zones/theirs", roles: "NoAccess", users: "svc@pve" })
      expect([...(await service.run(inZone)).vnets]).toEqual(vnets)
      await prepare(rig, has)
      const { facts } = await service.run(Effect.flip(inZone))
      expect(facts).toMatchObject({ reason: "forbidden", detail: expect.stringContaining(missing) as string })
      await service.run(observe)
      await rig.close()
    },
  )

  it("sees all accounts with either of the privileges that show them", async () => {
    const rig = makeRig()
    const { service, has } = await serviceOf(rig)
    await service.run(people)
    await has("/access/groups", "Sys.Audit", "Group.Allocate")
    expect((await service.run(observe)).accounts.has(bob)).toBe(true)
    await rig.close()
  })

  it("gets the same refusal with a privilege-separated token, whatever its account has", async () => {
    const rig = makeRig()
    const made = JSON.parse(await root(rig, "POST", "/access/users/root@pam/token/own", { privsep: "1" })) as {
      readonly data: { readonly value: string }
    }
    const service = rig.as({ auth: tokenAuth(`root@pam!own=${made.data.value}`) })
    expect((await service.run(Effect.flip(observe))).facts).toMatchObject({ reason: "forbidden" })
    await root(rig, "PUT", "/access/acl", { path: "/", roles: "Administrator", tokens: "root@pam!own" })
    await service.run(Effect.andThen(people, observe))
    await rig.close()
  })

  it("distrusts a list of accounts that lacks its own", async () => {
    const rig = makeRig()
    rig.sim.faults.add({
      kind: "garbage",
      match: { method: "GET", path: "/access/users" },
      when: "after",
      body: JSON.stringify({ data: [{ userid: "bob@pve" }] }),
    })
    expect((await rig.run(Effect.flip(observe))).message).toContain("root@pam")
    await rig.close()
  })
})

describe("a password set with a token that could not recreate the account", () => {
  const obstacles: readonly (readonly [string, Prepare])[] = [
    ["Realm.AllocateUser on /access/realm/pve", (_, has) => has("/access/realm/pve", "Realm.Allocate")],
    ["User.Modify on /access/groups", (_, has) => has("/access/groups", "Sys.Audit", "Group.Allocate")],
    [
      "Permissions.Modify on /vms/4711",
      (rig) => root(rig, "PUT", "/access/acl", { path: "/vms/4711", roles: "PVEAuditor", users: bob }),
    ],
  ]
  it.each(obstacles)("is not set, because it lacks %s", async (missing, prepare) => {
    const rig = makeRig()
    const { service, has } = await serviceOf(rig)
    await service.run(people)
    expect((await service.run(observe)).accounts.get(bob)?.passwordObstacle).toBeUndefined()
    await prepare(rig, has)
    expect((await service.run(observe)).accounts.get(bob)?.passwordObstacle).toContain(missing)
    // the hypervisor would refuse it, and nothing would be lost
    await service.run(Effect.flip(apply({ kind: "set-password", ...making }, "the second password")))
    expect(await rig.others.letsIn(bob, "the first password")).toBe(true)
    await rig.close()
  })

  it("is set if everything of the account can be restored", async () => {
    const rig = makeRig()
    const { service } = await serviceOf(rig)
    await service.run(people)
    await rig.others.right(bob, { path: "/pool/THEIRS", role: "PVEAuditor", propagate: true })
    expect((await service.run(observe)).accounts.get(bob)?.passwordObstacle).toBeUndefined()
    await service.run(apply({ kind: "set-password", ...making }, "the second password"))
    expect(await rig.others.letsIn(bob, "the second password")).toBe(true)
    await rig.close()
  })
})

describe("a service with exactly the privileges that it needs", () => {
  it("revokes any role on a machine in a range's pool, even one that it does not have itself", async () => {
    const rig = makeRig()
    const { service } = await serviceOf(rig)
    await service.run(people)
    await rig.stranger(20_001)
    await root(rig, "PUT", "/pools", { poolid: "LAB", vms: "20001" })
    const roles = ["Administrator", "NoAccess", "PVEVMUser"]
    for (const name of roles) await root(rig, "PUT", "/access/acl", { path: "/vms/20001", roles: name, users: bob })
    const place = { type: "machine", rangeId: "LAB" as RangeId, vmid: 20_001 as Vmid } as const
    await service.run(apply({ kind: "revoke", place, subjects: [{ type: "user", name: bob, roles }] }))
    expect((await service.run(observe)).rights.filter(({ path }) => path === "/vms/20001")).toEqual([])
    await rig.close()
  })
})
