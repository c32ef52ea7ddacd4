import {
  type AccessChange,
  type AccountId,
  type AccountKeep,
  adminGroup,
  groupOfAccount,
  nothingKept,
  type RangeId,
  userGroup,
} from "@rangewright/domain"
import { HypervisorAccess } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { rangeId } from "./support/under-test.ts"

const bob = "bob@pve" as AccountId
const group = groupOfAccount(bob)
const first = "the first password"
const second = "the second password"

const apply = (change: AccessChange, password = first) =>
  HypervisorAccess.use((access) => access.apply(change, Redacted.make(password)))
const observe = HypervisorAccess.use((access) => access.observe(undefined))
const making = (keep: AccountKeep = nothingKept) => ({ account: bob, groups: [userGroup, group], keep })
const setPassword = (keep?: AccountKeep) => apply({ kind: "set-password", ...making(keep) }, second)
const people = Effect.gen(function* () {
  for (const name of [userGroup, adminGroup, group]) yield* apply({ kind: "create-group", group: name })
  yield* apply({ kind: "create-account", ...making() })
})

/** Calls as root, in simulated time. */
const root = (rig: Rig, method: string, path: string, form = ""): Promise<string> =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, form)))
const dataOf = async (rig: Rig, path: string): Promise<unknown> =>
  (JSON.parse(await root(rig, "GET", path)) as { readonly data: unknown }).data

/** The access list, sorted. */
const aclOf = async (rig: Rig): Promise<readonly string[]> =>
  ((await dataOf(rig, "/access/acl")) as readonly unknown[]).map((entry) => JSON.stringify(entry)).toSorted()

/** The requests that an effect makes, in order. */
const requestsOf = async (rig: Rig, act: Effect.Effect<unknown, unknown, HypervisorAccess>): Promise<readonly string[]> => {
  rig.sim.calls.clear()
  await rig.run(Effect.exit(act))
  return rig.sim.calls.recent().map(({ method, path }) => `${method} ${decodeURIComponent(path.replace(/\?.*$/u, ""))}`)
}
const byPassword = (rig: Rig): Rig =>
  rig.as({ auth: { type: "password", username: "root@pam", password: Redacted.make(rig.sim.rootPassword) } })

describe("observing access", () => {
  it("reads each list once, however many accounts, groups, pools and rights there are, and its own rights where needed", async () => {
    const rig = makeRig()
    await rig.run(people)
    for (let n = 1; n <= 30; n++) {
      await rig.others.group(`g${n}`)
      await rig.others.account(`user${n}@pve` as AccountId, first)
      await rig.others.pool(`P${n}` as RangeId)
      await rig.others.right(`user${n}@pve` as AccountId, { path: `/pool/P${n}`, role: "PVEVMAdmin", propagate: true })
    }
    const calls = await requestsOf(rig, observe)
    const lists = ["GET /access/acl", "GET /access/groups", "GET /access/users", "GET /cluster/sdn/vnets", "GET /pools"]
    const ofItself = "GET /access/permissions"
    expect(calls.filter((call) => call !== ofItself).toSorted()).toEqual(lists)
    expect(calls.filter((call) => call === ofItself).length).toBe(4)
    // for many paths at once: all in one call
    for (let n = 1; n <= 30; n++)
      await rig.others.right(`user${n}@pve` as AccountId, { path: `/vms/${500 + n}`, role: "PVEAuditor", propagate: true })
    expect((await requestsOf(rig, observe)).filter((call) => call === ofItself).length).toBe(1)
    await rig.close()
  })

  it("has every entry of the access list except those of its own account", async () => {
    const rig = makeRig()
    await rig.run(people)
    const right = (path: string, role: string, propagate = true) => rig.others.right(bob, { path, role, propagate })
    await right("/pool/LAB1", "PVEVMAdmin")
    await right("/pool/LAB2", "PVEAuditor")
    await right("/sdn/zones/ludus/r7", "PVESDNUser", false)
    await right("/vms/100", "PVEVMAdmin")
    await rig.run(apply({ kind: "grant", place: { type: "pool", rangeId }, groups: [group] }))
    await root(rig, "PUT", "/access/acl", "path=/pool/LAB1&roles=PVEVMAdmin&users=root@pam")
    await root(rig, "PUT", "/access/acl", `path=/pool/LAB1&roles=PVEVMAdmin&tokens=${rig.sim.rootToken.split("=")[0]}`)
    await root(rig, "POST", "/access/users/bob@pve/token/mine")
    await root(rig, "PUT", "/access/acl", "path=/pool/LAB1&roles=PVEVMAdmin&tokens=bob@pve!mine")
    const { accounts, rights } = await rig.run(observe)
    expect(
      rights.map(({ path, subject, role, propagate }) => [path, subject.name, role, propagate].join(" ")).toSorted(),
    ).toEqual(
      [
        "/pool/LAB1 bob@pve PVEVMAdmin true",
        "/pool/LAB1 bob@pve!mine PVEVMAdmin true",
        ...["PVEPoolUser", "PVESDNAdmin", "PVEVMAdmin"].map((role) => `/pool/LAB1 ${group} ${role} true`),
        "/pool/LAB2 bob@pve PVEAuditor true",
        "/sdn/zones/ludus/r7 bob@pve PVESDNUser false",
        "/vms/100 bob@pve PVEVMAdmin true",
      ].toSorted(),
    )
    // including what the service grants at such a place: the place may be foreign
    expect(accounts.get(bob)?.keep.rights).toEqual([
      { path: "/pool/LAB1", role: "PVEVMAdmin", propagate: true },
      { path: "/pool/LAB2", role: "PVEAuditor", propagate: true },
      { path: "/sdn/zones/ludus/r7", role: "PVESDNUser", propagate: false },
      { path: "/vms/100", role: "PVEVMAdmin", propagate: true },
    ])
    expect([...accounts.keys()]).toEqual([bob])
    await rig.close()
  })

  it("does not take an answer that is no list for an empty one", async () => {
    for (const path of ["/access/users", "/access/groups", "/access/acl", "/pools", "/cluster/sdn/vnets"]) {
      const rig = makeRig()
      const body = JSON.stringify({ data: null })
      rig.sim.faults.add({ kind: "garbage", match: { method: "GET", path }, when: "after", body })
      expect((await rig.run(Effect.flip(observe))).facts).toMatchObject({ reason: "away" })
      await rig.close()
    }
  })

  it("sees no VNets on a node without SDN", async () => {
    const rig = makeRig()
    const match = { method: "GET", path: "/cluster/sdn/vnets" }
    rig.sim.faults.add({
      kind: "respond",
      match,
      when: "before",
      status: 501,
      message: "Method 'GET /cluster/sdn/vnets' not implemented",
    })
    expect((await rig.run(observe)).vnets).toEqual(new Map())
    await rig.close()
  })

  it("leaves out ambiguous names", async () => {
    const rig = makeRig()
    const data = [
      { path: "/pool/LAB1", roleid: "PVEVMAdmin", type: "group", ugid: "a,b", propagate: 1 },
      { path: "/pool/LAB1", roleid: "PVEVMAdmin", type: "user", ugid: "a@pve,b@pve", propagate: 1 },
      { path: "/pool/LAB1", roleid: "PVEVMAdmin", type: "token", ugid: "a@pve!x,b@pve!x", propagate: 1 },
      { path: "/pool/../x", roleid: "PVEVMAdmin", type: "group", ugid: "a", propagate: 1 },
      { path: "/pool/LAB1", roleid: "PVEVMAdmin", type: "group", ugid: 7, propagate: "yes" },
      "nonsense",
    ]
    rig.sim.faults.add({
      kind: "garbage",
      match: { method: "GET", path: "/access/acl" },
      when: "after",
      body: JSON.stringify({ data }),
    })
    const { rights } = await rig.run(observe)
    expect(rights.filter(({ path }) => path === "/pool/LAB1")).toEqual([
      { path: "/pool/LAB1", role: "PVEVMAdmin", subject: { type: "group", name: "7" }, propagate: false },
    ])
    await rig.close()
  })
})

describe("a password set with an API token", () => {
  it("is set in these calls, and everything that the account had is restored", async () => {
    const rig = makeRig()
    await rig.run(people)
    await rig.others.group("theirs")
    await rig.others.join(bob, "theirs")
    await root(rig, "PUT", "/access/users/bob@pve", "email=bob@lab.example")
    await rig.others.right(bob, { path: "/vms/100", role: "PVEAuditor", propagate: false })
    await rig.run(apply({ kind: "grant", place: { type: "pool", rangeId }, groups: [group] }))
    const [account, acl] = [await dataOf(rig, "/access/users/bob@pve"), await aclOf(rig)]
    // `keep` is empty: grants by others since then are read anew
    expect(await requestsOf(rig, setPassword())).toEqual([
      "GET /access/users/bob@pve",
      "GET /access/acl",
      "GET /access/groups",
      "PUT /access/users/bob@pve",
      "PUT /access/acl",
      "DELETE /access/users/bob@pve",
      "GET /access/groups",
      "POST /access/users",
      "PUT /access/acl",
    ])
    expect([await dataOf(rig, "/access/users/bob@pve"), await aclOf(rig)]).toEqual([account, acl])
    expect([await rig.others.letsIn(bob, first), await rig.others.letsIn(bob, second)]).toEqual([false, true])
    await rig.close()
  })

  it("is set when it is repeated after a failure between removing and recreating the account", async () => {
    const rig = makeRig()
    await rig.run(people)
    await rig.others.group("theirs")
    await rig.others.join(bob, "theirs")
    await rig.others.right(bob, { path: "/vms/100", role: "PVEAuditor", propagate: false })
    const { keep } = (await rig.run(observe)).accounts.get(bob)!
    const before = await aclOf(rig)
    rig.sim.faults.add({ kind: "drop", match: { method: "POST", path: "/access/users" }, when: "before" })
    expect((await rig.run(Effect.flip(setPassword(keep)))).facts.reason).toBe("unknown-effect")
    expect((await rig.run(observe)).accounts.has(bob)).toBe(false)
    await rig.restarted().run(setPassword(keep))
    expect((await rig.run(observe)).accounts.get(bob)).toMatchObject({ ours: true, keep })
    expect(await aclOf(rig)).toEqual(before)
    expect(await rig.others.letsIn(bob, second)).toBe(true)
    await rig.close()
  })

  const obstacles: readonly (readonly [string, RegExp, (rig: Rig) => Promise<unknown>])[] = [
    [
      "was made by others",
      /the service did not create it/u,
      async (rig) => {
        await root(rig, "DELETE", "/access/users/bob@pve")
        await rig.others.account(bob, first)
      },
    ],
    ["has tokens", /has API tokens/u, (rig) => root(rig, "POST", "/access/users/bob@pve/token/mine")],
    ["has a second factor", /second factor/u, (rig) => root(rig, "PUT", "/access/users/bob@pve", "keys=x")],
    ["was disabled", /disabled/u, (rig) => root(rig, "PUT", "/access/users/bob@pve", "enable=0")],
  ]
  for (const [what, why, prepare] of obstacles)
    it(`is not set for an account that ${what}, and nothing is lost`, async () => {
      const rig = makeRig()
      await rig.run(people)
      await prepare(rig)
      const before = await dataOf(rig, "/access/users/bob@pve")
      expect((await rig.run(observe)).accounts.get(bob)?.passwordObstacle).toMatch(why)
      const { facts } = await rig.run(Effect.flip(setPassword()))
      expect(facts).toMatchObject({ reason: "not-ours", detail: expect.stringMatching(why) as string })
      expect(await dataOf(rig, "/access/users/bob@pve")).toEqual(before)
      await rig.close()
    })

  it("is not set if a right of the account could not be restored", async () => {
    const rig = makeRig()
    await rig.run(people)
    await rig.others.right(bob, { path: "/vms/100", role: "PVEAuditor", propagate: false })
    rig.sim.faults.add({
      kind: "respond",
      match: { method: "PUT", path: "/access/acl" },
      when: "before",
      status: 400,
      message: "Parameter verification failed.",
      errors: { role: "Cannot add role 'PVEAuditor' - requires 'Permissions.Modify' or superset of privileges." },
    })
    expect((await rig.run(Effect.flip(setPassword()))).facts.reason).toBe("invalid")
    expect(await rig.others.letsIn(bob, first)).toBe(true)
    await rig.close()
  })
})

describe("a password set with user and password", () => {
  it("is set in place, tokens and all, even for a foreign account", async () => {
    const rig = makeRig()
    const service = byPassword(rig)
    await rig.run(people)
    await root(rig, "POST", "/access/users/bob@pve/token/mine")
    await root(rig, "PUT", "/access/users/bob@pve", "comment=theirs")
    expect((await service.run(observe)).accounts.get(bob)?.passwordObstacle).toBeUndefined()
    await service.run(setPassword())
    expect([await rig.others.letsIn(bob, first), await rig.others.letsIn(bob, second)]).toEqual([false, true])
    expect(await root(rig, "GET", "/access/users/bob@pve")).toContain("mine")
    await rig.close()
  })

  it("recreates a missing account", async () => {
    const rig = makeRig()
    await rig.run(people)
    await root(rig, "DELETE", "/access/users/bob@pve")
    await byPassword(rig).run(setPassword())
    expect(await rig.others.letsIn(bob, second)).toBe(true)
    await rig.close()
  })
})

describe("objects that the service must not change", () => {
  it("its own account gets no other password or groups and is not removed, whatever user asks", async () => {
    const rig = makeRig()
    for (const service of [rig, byPassword(rig)]) {
      await service.run(people)
      const account = "root@pam" as AccountId
      const changes: readonly AccessChange[] = [
        { kind: "create-account", account, groups: [userGroup], keep: nothingKept },
        { kind: "set-password", account, groups: [userGroup], keep: nothingKept },
        { kind: "join-groups", account, groups: [adminGroup] },
        { kind: "leave-groups", account, groups: [adminGroup] },
        { kind: "restore", account, keep: nothingKept },
        { kind: "remove-account", account },
      ]
      const before = await dataOf(rig, "/access/users/root@pam")
      for (const change of changes) expect((await service.run(Effect.flip(apply(change)))).facts.reason).toBe("not-ours")
      expect(await dataOf(rig, "/access/users/root@pam")).toEqual(before)
    }
    await rig.close()
  })

  it("rights of other roles, of others and at other places stay when one is revoked", async () => {
    const rig = makeRig()
    await rig.run(people)
    await rig.others.right(bob, { path: "/pool/LAB1", role: "PVEAuditor", propagate: true })
    await rig.others.right(bob, { path: "/vms/100", role: "PVEVMAdmin", propagate: true })
    const before = await aclOf(rig)
    await rig.others.right(bob, { path: "/pool/LAB1", role: "PVEVMAdmin", propagate: true })
    await rig.run(apply({ kind: "revoke", place: { type: "pool", rangeId }, subjects: [{ type: "user", name: bob }] }))
    expect(await aclOf(rig)).toEqual(before)
    await rig.close()
  })

  it("a grant is one call, whatever it grants to whom", async () => {
    const rig = makeRig()
    await rig.run(people)
    const grant = { kind: "grant", place: { type: "pool", rangeId }, groups: [group, adminGroup] } as const
    expect(await requestsOf(rig, apply(grant))).toEqual(["PUT /access/acl"])
    await rig.close()
  })
})

describe("a password", () => {
  it("appears in no fault and no record of a call, whatever fails", async () => {
    const secret = "tell nobody about this"
    for (const path of ["/access/users", "/access/password"])
      for (const status of [400, 403, 500]) {
        const rig = makeRig()
        await rig.run(people)
        const service = path === "/access/password" ? byPassword(rig) : rig
        rig.sim.faults.add({
          kind: "respond",
          match: { path, method: path === "/access/password" ? "PUT" : "POST" },
          when: "before",
          status,
        })
        const exit = await service.run(Effect.exit(apply({ kind: "set-password", ...making() }, secret)))
        expect(exit._tag).toBe("Failure")
        const shown = inspect([exit, rig.sim.calls.recent(), rig.sim.faults.list()], { depth: 20 }) + JSON.stringify(exit)
        expect(shown).not.toContain(secret)
        expect(shown).not.toContain(encodeURIComponent(secret))
        await rig.close()
      }
  })
})

describe("accounts of other realms", () => {
  it("are made without a password, which their realm keeps", async () => {
    const rig = makeRig()
    const account = "bob@pam" as AccountId
    await rig.run(people)
    await rig.run(apply({ kind: "create-account", account, groups: [userGroup], keep: nothingKept }))
    expect((await rig.run(observe)).accounts.get(account)).toMatchObject({ ours: true, groups: [userGroup] })
    const set = apply({ kind: "set-password", account, groups: [userGroup], keep: nothingKept })
    expect((await rig.run(Effect.flip(set))).facts.reason).toBe("not-ours")
    await rig.close()
  })
})

describe("pools", () => {
  it("above a nested one are removed with the last one below them, and foreign ones stay", async () => {
    const rig = makeRig()
    const pools = async (): Promise<readonly string[]> =>
      [...(await rig.run(observe)).pools.keys()].filter((id) => id !== "SHARED" && id !== "ADMIN").toSorted()
    const pool = (kind: "create-pool" | "remove-pool", id: string) => rig.run(apply({ kind, rangeId: id as RangeId }))
    await rig.others.pool("theirs" as RangeId)
    for (const id of ["team/one", "team/two", "theirs/three"]) await pool("create-pool", id)
    await pool("remove-pool", "team/one")
    expect(await pools()).toEqual(["team", "team/two", "theirs", "theirs/three"])
    expect((await rig.run(Effect.flip(apply({ kind: "remove-pool", rangeId: "team" as RangeId })))).facts.reason).toBe("not-ours")
    await pool("remove-pool", "team/two")
    await pool("remove-pool", "theirs/three")
    expect(await pools()).toEqual(["theirs"])
    await rig.close()
  })
})

describe("a pool with a nested pool", () => {
  it("stays when the nested one is removed if it belongs to a range itself, and is removed with its range", async () => {
    const rig = makeRig()
    const pool = (kind: "create-pool" | "remove-pool", id: string) => rig.run(apply({ kind, rangeId: id as RangeId }))
    await pool("create-pool", "LAB/one")
    await pool("create-pool", "LAB")
    await pool("remove-pool", "LAB/one")
    expect((await rig.run(observe)).pools.has("LAB" as RangeId)).toBe(true)
    await pool("remove-pool", "LAB")
    expect((await rig.run(observe)).pools.has("LAB" as RangeId)).toBe(false)
    await rig.close()
  })
})

describe("the service's own rights", () => {
  it("that a token lacks are reported one by one", async () => {
    const rig = makeRig()
    await root(rig, "POST", "/access/users", "userid=svc@pve")
    const made = JSON.parse(await root(rig, "POST", "/access/users/svc@pve/token/rw", "privsep=0")) as {
      readonly data: { readonly value: string }
    }
    await root(rig, "PUT", "/access/acl", "path=/vms&roles=PVEVMAdmin&users=svc@pve")
    const auth = { type: "token", id: "svc@pve!rw", secret: Redacted.make(made.data.value) } as const
    const poor = rig.as({ auth })
    const features = await poor.run(HypervisorAccess.use((access) => access.privileges))
    const privileges = new Map(features.flatMap(({ privileges: needed }) => [...needed]))
    expect(privileges.get("VM.Clone on /vms")).toBe(true)
    expect(privileges.get("Sys.Audit on /")).toBe(false)
    expect(privileges.get("Pool.Allocate on /pool")).toBe(false)
    expect(privileges.get("User.Modify on /access/groups")).toBe(false)
    await root(rig, "PUT", "/access/acl", "path=/vms&roles=PVEVMUser&users=svc@pve&delete=0")
    await root(rig, "PUT", "/access/acl", "path=/vms&roles=PVEVMAdmin&users=svc@pve&delete=1")
    const fewer = await poor.run(HypervisorAccess.use((access) => access.privileges))
    const naming = fewer.find(({ feature }) => feature === "naming the clones that need a template")
    expect([...(naming?.privileges ?? [])]).toEqual([["VM.Config.Disk on /vms", false]])
    await rig.close()
  })
})
