import type { Group, GroupName, GroupRole, Range, User, UserId } from "@rangewright/domain"
import { Groups, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let admin: User
let ada: User
let bob: User
let lab: Range
let red: Group
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  lab = await app.addRange("LAB")
  await app.call("createGroup", admin, { body: { name: "red" } })
  red = await groupNamed("red")
})

const groupNamed = (name: string): Promise<Group> =>
  app.run(
    Effect.flatMap(Groups, (groups) =>
      Effect.flatMap(groups.find(name as GroupName), (found) =>
        found === undefined ? Effect.die("no group") : Effect.succeed(found),
      ),
    ),
  )

const addUsers = (userIDs: readonly string[], managers: readonly string[] = [], as = admin) =>
  app.call("addUsersToGroup", as, { group: red, body: { userIDs, managers } })
const removeUsers = (userIDs: readonly string[], as = admin) =>
  app.call("removeUsersFromGroup", as, { group: red, body: { userIDs } })
const addRanges = (rangeIDs: readonly string[], as = admin) =>
  app.call("addRangesToGroup", as, { group: red, body: { rangeIDs } })
const removeRanges = (rangeIDs: readonly string[], as = admin) =>
  app.call("removeRangesFromGroup", as, { group: red, body: { rangeIDs } })

const roles = async () =>
  Object.fromEntries(
    (await app.run(Effect.flatMap(Groups, (groups) => groups.members(red.name)))).map(({ userId, role }) => [userId, role]),
  ) as Record<string, GroupRole>
const holders = async (range = lab) =>
  (await app.run(Effect.flatMap(Ranges, (ranges) => ranges.grants(range.id)))).map((grant) => [grant.userId, grant.accessType])
const rights = (rangeId = "LAB") => app.rightsOn(rangeId)
const router = (power: "running" | "stopped", range = lab, vmid = 140) =>
  app.addMachine(range, vmid, `${range.id}-router-debian11-x64`, { power, tags: ["router"], address: "10.1.10.254" })
const told = () => app.runs.asked.map(({ request }) => request)
const accessControl = { kind: "access" }

/** The group's ranges: the operation prepares their JSON itself. */
const rangesOf = async (as: typeof ada): Promise<unknown> =>
  JSON.parse(new TextDecoder().decode((await app.call("listGroupRanges", as, { group: red })) as Uint8Array))

describe("users whose role another request sets at that moment", () => {
  beforeEach(() => app.addUser("Eve"))

  /** Adds Ada, Bob and Eve while another request adds the first two. */
  const addOvertaken = () =>
    app.run(
      Effect.gen(function* () {
        const groups = yield* Groups
        let isOvertaken = false
        const others = new Map([
          [ada.id, "member"],
          [bob.id, "manager"],
        ] as const)
        const setRoles: typeof groups.setRoles = (...asked) =>
          // only the first call is overtaken
          Effect.andThen(isOvertaken ? Effect.void : groups.setRoles(red.name, others), () => {
            isOvertaken = true
            return groups.setRoles(...asked)
          })
        const asked = app.handle("addUsersToGroup", admin, { group: red, body: { userIDs: ["Ada", "Bob", "Eve"] } })
        return yield* Effect.provideService(asked, Groups, Groups.of({ ...groups, setRoles }))
      }).pipe(Effect.orDie),
    )

  it("keep it: this request neither sets it again, nor takes it away if it cannot update the router", async () => {
    await addRanges(["LAB"])
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    await addOvertaken()
    expect(await roles()).toEqual({ Ada: "member", Bob: "manager" })
  })

  it("are not said to be added by this one: the other request may still fail, and take the role back", async () => {
    const reason = (id: string) => `Another request was changing the role of user ${id} in group red: try again`
    expect(await addOvertaken()).toEqual({
      success: ["Eve"],
      errors: [
        { item: "Ada", reason: reason("Ada") },
        { item: "Bob", reason: reason("Bob") },
      ],
    })
    expect(await roles()).toEqual({ Ada: "member", Bob: "manager", Eve: "member" })
  })
})

describe("a range that another request gives the group at that moment", () => {
  it("stays, although this one cannot update the router", async () => {
    await addUsers(["Ada"])
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    const answer = await app.run(
      Effect.gen(function* () {
        const groups = yield* Groups
        const addRange: typeof groups.addRange = (...one) => Effect.andThen(groups.addRange(...one), groups.addRange(...one))
        const asked = app.handle("addRangesToGroup", admin, { group: red, body: { rangeIDs: ["LAB"] } })
        return yield* Effect.provideService(asked, Groups, Groups.of({ ...groups, addRange }))
      }).pipe(Effect.orDie),
    )
    expect(answer).toEqual({ errors: [{ item: "LAB", reason: "Group red already has access to range LAB" }] })
    expect(await holders()).toEqual([["Ada", "Group Member"]])
  })
})

describe("a range that a user has through a group", () => {
  it("is not revoked from the user alone: the answer says why and what to do", async () => {
    await addUsers(["Ada"])
    await addRanges(["LAB"])
    expect(await app.fails("revokeRangeFromUser", admin, { range: lab, path: { userID: "Ada", rangeID: "LAB" } })).toMatchObject({
      kind: "conflict",
      message: "Cannot revoke range LAB from user Ada: they have it through a group",
      hint: "Remove the user from the group, or the range from it.",
    })
    expect(await holders()).toEqual([["Ada", "Group Member"]])
  })
})

describe("groups", () => {
  it("are made once, with names that are allowed", async () => {
    expect(await app.call("createGroup", admin, { body: { name: "blue", description: "Defenders" } })).toEqual({
      result: "Group blue created",
    })
    expect(await app.fails("createGroup", admin, { body: { name: "blue" } })).toMatchObject({ kind: "conflict" })
    for (const name of ["", "a b", "../etc", "x".repeat(65), "a\u0000"])
      expect(await app.fails("createGroup", admin, { body: { name } })).toMatchObject({
        kind: "invalid",
        issues: [{ path: "name" }],
      })
    expect(await app.fails("createGroup", admin, { body: { name: "g", description: "x".repeat(5001) } })).toMatchObject({
      kind: "invalid",
    })
  })

  it("are shown to administrators all, to others those they are in", async () => {
    await app.call("createGroup", admin, { body: { name: "blue" } })
    await addUsers(["Ada", "Bob"], ["Ada"])
    await addRanges(["LAB"])
    const full = { name: "red", description: "", numMembers: 1, numManagers: 1, numRanges: 1 }
    expect(await app.call("listGroups", admin)).toMatchObject([{ name: "blue", numMembers: 0 }, full])
    expect(await app.call("listGroups", bob)).toEqual([full])
    expect(await app.call("listGroups", admin, { user: bob })).toHaveLength(2)
    expect(await app.call("listGroupMembers", ada, { group: red })).toEqual([
      { userID: "Bob", name: "User Bob", role: "member" },
      { userID: "Ada", name: "User Ada", role: "manager" },
    ])
    expect(await rangesOf(ada)).toMatchObject([{ rangeID: "LAB", VMs: [] }])
  })

  it("name the machines of their ranges by ID as well, as their clients expect; other lists of ranges leave it 0", async () => {
    await addRanges(["LAB"])
    await router("running")
    const machine = (ID: number) => [{ rangeID: "LAB", VMs: [{ ID, proxmoxID: 140 }] }]
    expect(await rangesOf(admin)).toMatchObject(machine(140))
    expect(await app.call("listAllRange", admin, { query: {} })).toMatchObject(machine(0))
    expect(await rangesOf(admin)).toMatchObject(machine(140))
  })

  it("are shown to their users, in lists and in their records", async () => {
    await app.call("createGroup", admin, { body: { name: "blue", description: "Defenders" } })
    await addUsers(["Ada"], ["Ada"])
    await addRanges(["LAB"])
    await app.call("addUsersToGroup", admin, { group: await groupNamed("blue"), body: { userIDs: ["Ada"] } })
    expect(await app.call("getUserMemberships", ada)).toEqual(
      expect.arrayContaining([
        { groupName: "blue", description: "Defenders", role: "member" },
        { groupName: "red", role: "manager" },
      ]),
    )
    const own = await app.addRange("OWN", [ada])
    // a record names the ranges that the user has directly, and the groups separately
    expect(await app.call("whoami", ada)).toMatchObject({
      user: { ranges: [own.recordId], groups: expect.arrayContaining([red.recordId]) },
    })
  })
})

describe("the notice of a group", () => {
  const put = (text: string, duration?: string) => ({
    group: undefined as never,
    body: { text, ...(duration === undefined ? {} : { duration }) },
  })
  it("is shown to its people until it expires or is removed, and replaces the previous one", async () => {
    await app.call("createGroup", admin, { body: { name: "blue" } })
    await addUsers(["Ada"], ["Ada"])
    const group = red
    await app.call("setGroupNotice", ada, { ...put("The exam begins"), group })
    const notice = await app.call("setGroupNotice", ada, { ...put(" The exam ends at noon.\r\nSave your work. ", "2h"), group })
    expect(notice).toMatchObject({ groupName: "red", text: "The exam ends at noon.\nSave your work.", by: "Ada" })
    const { at, until } = notice as { readonly at: string; readonly until: string }
    expect(Date.parse(until) - Date.parse(at)).toBe(7_200_000)
    await app.call("setGroupNotice", admin, { ...put("To nobody"), group: await groupNamed("blue") })
    expect(await app.call("listNotices", ada)).toEqual([notice])
    expect(await app.call("listNotices", bob)).toEqual([])
    expect(await app.call("listNotices", admin)).toMatchObject([{ groupName: "blue" }, { groupName: "red" }])
    await app.run(
      Groups.use((groups) =>
        groups.setNotice({ group: group.name, text: "over", by: ada.id, at: new Date(0), until: new Date(1) }),
      ),
    )
    expect(await app.call("listNotices", ada)).toEqual([])
    await app.call("removeGroupNotice", admin, { group: await groupNamed("blue") })
    expect(await app.call("listNotices", admin)).toEqual([])
  })

  it.each([
    ["its text is empty", " \n "],
    ["its text is too long", "x".repeat(501)],
    ["control characters", "a\u0000b"],
    ["control characters", "turned \u202E round"],
    ["is not a duration", "text", "soon"],
    ["is not a duration", "text", "0h"],
    ["is not a duration", "text", "169h"],
  ])("is refused where %s: %j %s", async (because, text, duration?: string) => {
    const told = await app.fails("setGroupNotice", admin, { ...put(text, duration), group: red })
    expect(told).toMatchObject({ kind: "invalid", message: expect.stringContaining(because) })
    expect(await app.call("listNotices", admin)).toEqual([])
  })
})

describe("adding users to a group", () => {
  it("gives them its ranges, here and on the hypervisor", async () => {
    await addRanges(["LAB"])
    expect(await addUsers([" Ada ", "Bob", "Ada"], ["Bob"])).toEqual({ success: ["Ada", "Bob"] })
    expect(await roles()).toEqual({ Ada: "member", Bob: "manager" })
    expect(await holders()).toEqual([
      ["Ada", "Group Member"],
      ["Bob", "Group Manager"],
    ])
    expect(rights()).toEqual(["ada@pve", "bob@pve"])
    expect(await app.call("listUserAccessibleRanges", ada)).toEqual([
      { rangeID: "LAB", rangeNumber: lab.number, accessType: "Group" },
    ])
  })

  it("does what can be done and says why the rest was not", async () => {
    await addUsers(["Ada"])
    expect(await addUsers(["Zoe", "Ada", "Bob", ""])).toEqual({
      success: ["Bob"],
      errors: [
        { item: "Zoe", reason: "User Zoe not found" },
        { item: "Ada", reason: expect.stringContaining("already a member") as string },
        { item: "", reason: expect.stringContaining("not found") as string },
      ],
    })
    expect(await app.fails("addUsersToGroup", admin, { group: red, body: { userIDs: [] } })).toMatchObject({ kind: "invalid" })
  })

  it("promotes a member who is named as manager, and demotes nobody", async () => {
    await addUsers(["Ada"])
    expect(await addUsers(["Ada"], ["Ada"])).toEqual({ success: ["Ada"] })
    expect(await roles()).toEqual({ Ada: "manager" })
    expect(await addUsers(["Ada"])).toMatchObject({
      errors: [{ item: "Ada", reason: expect.stringContaining("already a member") }],
    })
    expect(await roles()).toEqual({ Ada: "manager" })
    expect(await addUsers(["Bob"], ["Zoe"])).toEqual({ success: ["Bob"] })
  })

  it("updates each range's router once, with rules that let in all new users", async () => {
    await addRanges(["LAB"])
    await router("running")
    let known: readonly unknown[] = []
    app.runs.effect = () => Effect.promise(async () => void (known = await holders()))
    await addUsers(["Ada", "Bob"])
    expect(told()).toMatchObject([accessControl])
    expect(known).toHaveLength(2)
  })

  it("leaves alone a range that they have already", async () => {
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.grant(lab.id, ada.id)))
    await addRanges(["LAB"])
    await router("stopped")
    expect(await addUsers(["Ada"])).toEqual({ success: ["Ada"] })
    expect(told()).toEqual([])
  })

  it("changes nothing while the router of one of its ranges is off", async () => {
    await app.addRange("OTHER")
    await addRanges(["LAB", "OTHER"])
    await router("running", await app.range("OTHER"), 150)
    await router("stopped")
    expect(await addUsers(["Ada"])).toMatchObject({
      errors: [{ item: "Ada", reason: expect.stringMatching(/must be accessible.*LAB-router/u) }],
    })
    expect([await roles(), rights(), rights("OTHER"), told()]).toEqual([{}, [], [], []])
  })

  it("is undone everywhere when a router cannot be updated or the hypervisor does not grant the rights", async () => {
    await addRanges(["LAB"])
    await addUsers(["Bob"])
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    expect(await addUsers(["Ada"])).toMatchObject({ errors: [{ reason: expect.stringContaining("no route to the router") }] })
    expect([await roles(), rights()]).toEqual([{ Bob: "member" }, ["bob@pve"]])
    app.world.fault = (call) => (call.method === "grant" ? { when: "before", reason: "away" } : undefined)
    expect(await addUsers(["Ada", "Bob"], ["Bob"])).toMatchObject({ errors: [{ item: "Ada" }, { item: "Bob" }] })
    expect(await roles()).toEqual({ Bob: "member" })
  })

  it("that is undone does not restore users whom somebody else removed meanwhile", async () => {
    await addRanges(["LAB"])
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.grant(lab.id, ada.id)))
    await addUsers(["Ada"])
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    let removed: unknown
    app.runs.effect = () => Effect.promise(async () => void (removed ??= await removeUsers(["Ada"])))
    expect(await addUsers(["Bob", "Ada"], ["Ada"])).toMatchObject({ errors: [{ item: "Bob" }, { item: "Ada" }] })
    expect(removed).toEqual({ success: ["Ada"] })
    expect(await roles()).toEqual({})
  })

  it("updates both routers again when one of them failed", async () => {
    const other = await app.addRange("OTHER")
    await addRanges(["LAB", "OTHER"])
    await router("running")
    await router("running", other, 150)
    const known: (readonly unknown[])[] = []
    app.runs.effect = () => Effect.promise(async () => void known.push(await holders()))
    let runs = 0
    app.runs.ending = () => (++runs === 2 ? { status: "failure", message: "it broke" } : { status: "success" })
    await addUsers(["Ada"])
    // one was updated, and one failed but may have loaded the rules: both are updated again without the user
    const given = [["Ada", "Group Member"]]
    expect(known).toEqual([given, given, [], []])
    expect(told()).toHaveLength(4)
  })
})

describe("removing users from a group", () => {
  beforeEach(async () => {
    await addRanges(["LAB"])
    await addUsers(["Ada", "Bob"], ["Bob"])
  })

  it("takes its ranges from them, here, on the routers and on the hypervisor", async () => {
    await router("running")
    expect(await removeUsers(["Ada", "Root1", "Zoe"])).toEqual({
      success: ["Ada", "Root1"],
      errors: [{ item: "Zoe", reason: "User Zoe not found" }],
    })
    expect([await holders(), rights()]).toEqual([[["Bob", "Group Manager"]], ["bob@pve"]])
    expect(told()).toMatchObject([accessControl])
  })

  it("leaves the rights that another path gives", async () => {
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.grant(lab.id, ada.id)))
    await app.call("createGroup", admin, { body: { name: "blue" } })
    const blue = await groupNamed("blue")
    await app.call("addRangesToGroup", admin, { group: blue, body: { rangeIDs: ["LAB"] } })
    await app.call("addUsersToGroup", admin, { group: blue, body: { userIDs: ["Bob"] } })
    await router("stopped")
    expect(await removeUsers(["Ada", "Bob"])).toEqual({ success: ["Ada", "Bob"] })
    expect([await holders(), rights()]).toEqual([
      [
        ["Ada", "Direct"],
        ["Bob", "Group Member"],
      ],
      ["ada@pve", "bob@pve"],
    ])
    // and the other way round: the direct grant is revoked, that of the group stays
    await app.call("addUsersToGroup", admin, { group: blue, body: { userIDs: ["Ada"] } })
    await app.call("revokeRangeFromUser", admin, { range: lab, path: { userID: "Ada", rangeID: "LAB" } })
    expect([rights(), told()]).toEqual([["ada@pve", "bob@pve"], []])
  })

  it("stays stored while the hypervisor keeps the rights, says so, and is done there as soon as it can be", async () => {
    app.world.fault = (call) => (call.method === "revoke" ? { when: "before", reason: "away" } : undefined)
    const pending = expect.stringContaining("on the hypervisor yet; it is done here")
    expect(await removeUsers(["Ada", "Bob"])).toMatchObject({
      errors: [
        { item: "Ada", reason: pending },
        { item: "Bob", reason: pending },
      ],
    })
    expect(await roles()).toEqual({})
    expect(rights()).toEqual(["ada@pve", "bob@pve"])
    expect(await app.call("getAccess", admin)).toMatchObject({
      revocations: ["ada@pve still has rights on LAB", "bob@pve still has rights on LAB"],
    })
    app.world.fault = () => undefined
    await app.inLine()
    expect(rights()).toEqual([])
  })

  it("is not undone when a router fails: somebody may already rely on the removal", async () => {
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    let other: unknown
    app.runs.effect = () => Effect.promise(async () => void (other ??= await removeUsers(["Ada"])))
    const reason = expect.stringMatching(/router of LAB yet; it is done here and on the hypervisor: .*no route/u) as string
    expect(await removeUsers(["Ada"])).toMatchObject({ errors: [{ item: "Ada", reason }] })
    expect(other).toEqual({ success: ["Ada"] })
    expect([await roles(), rights()]).toEqual([{ Bob: "manager" }, ["bob@pve"]])
  })

  it("leaves a group its last manager, unless an administrator removes that one", async () => {
    expect(await removeUsers(["Bob", "Ada"], bob)).toEqual({
      success: ["Ada"],
      errors: [{ item: "Bob", reason: expect.stringMatching(/no manager left.*administrator/u) as string }],
    })
    await addUsers(["Ada"], ["Ada"], bob)
    expect(await removeUsers(["Bob", "Ada"], bob)).toMatchObject({ success: ["Bob"], errors: [{ item: "Ada" }] })
    expect(await removeUsers(["Ada"])).toEqual({ success: ["Ada"] })
    expect(await roles()).toEqual({})
  })
})

describe("giving a group ranges", () => {
  beforeEach(() => addUsers(["Ada", "Bob"], ["Bob"]))

  it("opens them to all its users", async () => {
    await router("running")
    expect(await addRanges(["LAB", "NONE"])).toEqual({
      success: ["LAB"],
      errors: [{ item: "NONE", reason: "Range NONE not found" }],
    })
    expect([await holders(), rights()]).toEqual([
      [
        ["Ada", "Group Member"],
        ["Bob", "Group Manager"],
      ],
      ["ada@pve", "bob@pve"],
    ])
    expect(told()).toMatchObject([accessControl])
    expect(await addRanges(["LAB"])).toMatchObject({ errors: [{ reason: expect.stringContaining("already has access") }] })
  })

  it("is for managers who have the ranges themselves", async () => {
    const own = await app.addRange("OWN", [bob])
    expect(await addRanges(["LAB", "OWN"], bob)).toEqual({
      success: ["OWN"],
      errors: [{ item: "LAB", reason: "You do not have access to range LAB and cannot add it to group red" }],
    })
    expect(await holders(own)).toContainEqual(["Ada", "Group Member"])
  })

  it("is not for a member of another group that has the range, only for its managers", async () => {
    await app.call("createGroup", admin, { body: { name: "blue" } })
    const blue = await groupNamed("blue")
    const join = (managers: readonly string[]) =>
      app.call("addUsersToGroup", admin, { group: blue, body: { userIDs: ["Bob"], managers } })
    await app.call("addRangesToGroup", admin, { group: blue, body: { rangeIDs: ["LAB"] } })
    await join([])
    expect(await addRanges(["LAB"], bob)).toEqual({
      errors: [{ item: "LAB", reason: "You do not own range LAB and cannot add it to group red" }],
    })
    expect(await holders()).toEqual([["Bob", "Group Member"]])
    await join(["Bob"])
    expect(await addRanges(["LAB"], bob)).toEqual({ success: ["LAB"] })
  })

  it("does each range for itself", async () => {
    const other = await app.addRange("OTHER")
    await router("stopped")
    await router("running", other, 150)
    expect(await addRanges(["LAB", "OTHER"])).toMatchObject({ success: ["OTHER"], errors: [{ item: "LAB" }] })
    expect([await holders(), rights(), rights("OTHER")]).toEqual([[], [], ["ada@pve", "bob@pve"]])
  })
})

describe("taking ranges from a group", () => {
  it("closes them to its users, and says so at the top and under `result`", async () => {
    await addUsers(["Ada"])
    await addRanges(["LAB"])
    const outcome = { success: ["LAB"], errors: [{ item: "NONE", reason: "Range NONE not found" }] }
    expect(await removeRanges(["LAB", "NONE"])).toEqual({ ...outcome, result: outcome })
    expect([await holders(), rights()]).toEqual([[], []])
    expect(await removeRanges(["LAB"])).toMatchObject({ success: ["LAB"] })
  })
})

describe("deleting a group", () => {
  const remove = () => app.call("deleteGroup", admin, { group: red })
  beforeEach(async () => {
    await addUsers(["Ada", "Bob"], ["Bob"])
    await addRanges(["LAB"])
  })

  it("takes away what its users had by it alone, and tells the routers", async () => {
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.grant(lab.id, ada.id)))
    await router("running")
    expect(await remove()).toEqual({ result: "Group red deleted" })
    expect([await holders(), rights(), await app.call("listGroups", admin)]).toEqual([[["Ada", "Direct"]], ["ada@pve"], []])
    expect(told()).toMatchObject([accessControl])
  })

  it("does not wait for a router that is off: it is updated later, which the answer says", async () => {
    await router("stopped")
    expect(await remove()).toEqual({
      result: expect.stringMatching(/deleted; the router of range LAB could not be updated yet/u) as string,
    })
    expect([await holders(), rights()]).toEqual([[], []])
  })

  it("takes the rights as soon as the hypervisor can, when it could not", async () => {
    app.world.fault = (call) => (call.method === "revoke" ? { when: "before", reason: "away" } : undefined)
    expect(await app.fails("deleteGroup", admin, { group: red })).toMatchObject({ _tag: "RevocationPending" })
    expect(app.store.groups.has(red.name)).toBe(false)
    expect([await holders(), rights()]).toEqual([[], ["ada@pve", "bob@pve"]])
    app.world.fault = () => undefined
    await app.inLine()
    expect(rights()).toEqual([])
  })
})

it("a deleted user is in no group any more", async () => {
  await addUsers(["Ada", "Bob"])
  await app.call("deleteUser", admin, { path: { userID: "Ada" } })
  expect(await roles()).toEqual({ Bob: "member" })
  expect(await app.run(Effect.flatMap(Users, (users) => users.find("Ada" as UserId)))).toBeUndefined()
})

describe("a request about many ranges", () => {
  const many = Array.from({ length: 12 }, (_, n) => `R${n}`)
  beforeEach(async () => {
    for (const [n, id] of many.entries()) await router("running", await app.addRange(id), 200 + n)
  })
  const requests = {
    "ranges given to a group": async () => {
      await addUsers(["Ada"])
      return () => addRanges(many)
    },
    "ranges taken from a group": async () => {
      await addUsers(["Ada"])
      await addRanges(many)
      return () => removeRanges(many)
    },
    "users added to a group": async () => {
      await addRanges(many)
      return () => addUsers(["Ada"])
    },
  }

  it.each(Object.entries(requests))("starts the runs of a few of them at once: %s", async (_, prepared) => {
    const request = await prepared()
    const before = told().length
    let starting = 0
    let most = 0
    app.runs.planning = () =>
      Effect.promise(async () => {
        most = Math.max(most, ++starting)
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
        starting--
      })
    await request()
    expect(told()).toHaveLength(before + many.length)
    expect([most > 1, most <= 4]).toEqual([true, true])
  })
})
