import { type BlueprintId, exampleRangeConfig, type GroupName, type GroupRole, type User, type UserId } from "@rangewright/domain"
import { Blueprints, Groups, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

const config = `# as written
ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: "{{ range_id }}-web"
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 2
    cpus: 2
    linux: true
`
const template = { vmid: 900, name: "debian-12-x64-server-template", node: "node1", power: "stopped", template: true } as const

let app: TestApp
let admin: User
let ada: User
let bob: User
let cleo: User
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  cleo = await app.addUser("Cleo")
})

const web = "web/basic"
const create = (as = ada, body: Record<string, unknown> = {}) =>
  app.call("createBlueprint", as, { body: { blueprintID: web, config, ...body } })
const path = { blueprintID: web }
const configOf = async (id = web, as = ada) =>
  ((await app.call("getBlueprintConfig", as, { path: { blueprintID: id } })) as { readonly json: { readonly result: string } })
    .json.result
const makeGroup = async (name: string, roles: readonly (readonly [User, GroupRole])[]) => {
  await app.call("createGroup", admin, { body: { name } })
  const wanted = new Map<UserId, GroupRole>(roles.map(([user, role]) => [user.id, role]))
  await app.run(Effect.flatMap(Groups, (groups) => groups.setRoles(name as GroupName, wanted)))
}
const share = (userIDs: readonly string[], as = admin) => app.call("shareBlueprintWithUsers", as, { path, body: { userIDs } })
const unshare = (userIDs: readonly string[], as = admin) => app.call("unshareBlueprintWithUsers", as, { path, body: { userIDs } })
const shareGroups = (groupNames: readonly string[], as = admin) =>
  app.call("shareBlueprintWithGroups", as, { path, body: { groupNames } })
const unshareGroups = (groupNames: readonly string[], as = admin) =>
  app.call("unshareBlueprintWithGroups", as, { path, body: { groupNames } })
const listed = async (as: User, query = {}) =>
  (
    (await app.call("listBlueprints", as, { query })) as readonly { readonly blueprintID: string; readonly accessType: string }[]
  ).map(({ blueprintID, accessType }) => `${blueprintID} ${accessType}`)
const withTemplate = () => app.observe([{ ...template, vmid: 900 as never, pool: "SHARED", cpus: 1, memoryMiB: 1024, tags: [] }])
const rangeConfig = (id: string) =>
  app.run(Effect.flatMap(Ranges, (ranges) => Effect.map(ranges.config(id as never), (stored) => stored?.text)))

describe("a blueprint", () => {
  it("is made from a configuration, which stays as it was written, or from the example", async () => {
    const said = { name: "Web", description: "d", version: "one", tags: ["a"], min_ludus_version: "2.0" }
    expect(await create(ada, said)).toEqual({ result: "Blueprint web/basic created", blueprintID: web })
    expect(await app.call("getBlueprintDetail", ada, { path })).toMatchObject({ id: web, ...said })
    expect(await configOf()).toBe(config)
    await app.call("createBlueprint", ada, { body: { blueprintID: " plain " } })
    expect(await app.call("getBlueprintDetail", ada, { path: { blueprintID: "plain" } })).toMatchObject({
      name: "plain",
      description: "",
      version: "1.0.0",
      tags: [],
      lastInstallStatus: "",
    })
    expect(await configOf("plain")).toBe(exampleRangeConfig)
  })

  it("is made as if what is empty had been left out", async () => {
    const range = await app.addRange("LAB", [ada], config)
    const empty = { name: "", description: "" }
    const detail = (blueprintID: string) => app.call("getBlueprintDetail", ada, { path: { blueprintID } })
    await create(ada, { ...empty, version: "", min_ludus_version: "", config: "" })
    expect(await detail(web)).toMatchObject({ name: web, description: "", version: "1.0.0" })
    expect(await configOf()).toBe(exampleRangeConfig)
    await app.call("copyBlueprint", ada, { path, body: { ...empty, blueprintID: "" } })
    expect(await detail("web/basic-copy")).toMatchObject({ name: `${web} (Copy)` })
    await app.call("createBlueprintFromRange", ada, { range, body: { ...empty, blueprintID: "lab", rangeID: "" } })
    expect(await detail("lab")).toMatchObject({ name: `${range.name} Blueprint`, description: "Configuration of range LAB" })
  })

  it("is not created under an ID that is invalid or in use, or from an invalid configuration; nothing is stored then", async () => {
    for (const blueprintID of ["", "1", "../etc", "a/b/c/d", "a b", "x".repeat(256), "a\u0000"])
      expect(await app.fails("createBlueprint", ada, { body: { blueprintID } })).toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("Blueprint ID must be a valid ID") as string,
      })
    for (const [member, value] of [
      ["config", "ludus: 5"],
      ["config", "a: &a [*a]"],
      ["name", " "],
      ["description", "x".repeat(5001)],
      ["tags", [""]],
    ] as const)
      expect(await app.fails("createBlueprint", ada, { body: { blueprintID: web, config, [member]: value } })).toMatchObject({
        kind: "invalid",
      })
    expect(app.store.blueprints.size).toBe(0)
    await create()
    expect(await app.fails("createBlueprint", bob, { body: { blueprintID: web } })).toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("already in use") as string,
    })
  })

  it("is made from a range that the user may use: the one named, or the default, byte for byte", async () => {
    await app.addRange("LAB", [ada], config)
    const body = { blueprintID: web, rangeID: "LAB" }
    expect(await app.fails("createBlueprintFromRange", bob, { body })).toMatchObject({ kind: "forbidden" })
    expect(await app.fails("createBlueprintFromRange", bob, { body: { ...body, rangeID: "NONE" } })).toMatchObject({
      kind: "not-found",
      message: expect.stringContaining("Range NONE not found") as string,
    })
    expect(await app.fails("createBlueprintFromRange", bob, { body: { blueprintID: web } })).toMatchObject({ kind: "not-found" })
    await app.call("createBlueprintFromRange", ada, { body })
    expect(await configOf()).toBe(config)
    const inDefault = { user: { ...ada, defaultRangeId: "LAB" as never }, body: { blueprintID: "second" } }
    await app.call("createBlueprintFromRange", ada, inDefault)
    expect(await configOf("second")).toBe(config)
  })

  it("is changed and deleted by its owner and administrators only, also where it is shared", async () => {
    await create()
    await share(["Bob"])
    const change = { path, body: { name: "New" } }
    for (const [id, request] of [
      ["updateBlueprintMetadata", change],
      ["updateBlueprintConfig", { path, body: { config } }],
      ["deleteBlueprint", { path }],
    ] as const) {
      for (const user of [bob, cleo])
        expect(await app.fails(id, user, request)).toMatchObject({
          kind: "forbidden",
          message: expect.stringContaining("do not own this blueprint and cannot") as string,
        })
      expect(await app.fails(id, admin, { ...request, path: { blueprintID: "none" } })).toMatchObject({ kind: "not-found" })
    }
    await app.call("updateBlueprintMetadata", ada, change)
    await app.call("updateBlueprintMetadata", admin, { path, body: { tags: ["t"] } })
    expect(await app.call("getBlueprintDetail", bob, { path })).toMatchObject({ name: "New", tags: ["t"], version: "1.0.0" })
    expect(await app.fails("updateBlueprintMetadata", ada, { path, body: { name: "" } })).toMatchObject({ kind: "invalid" })
    await app.call("deleteBlueprint", ada, { path })
    expect(await app.fails("getBlueprintDetail", admin, { path })).toMatchObject({ kind: "not-found" })
  })

  it("takes a new configuration whole or not at all", async () => {
    await create()
    for (const wrong of ["", " \n", "ludus: 5", "{"])
      expect(await app.fails("updateBlueprintConfig", ada, { path, body: { config: wrong } })).toMatchObject({ kind: "invalid" })
    expect(await configOf()).toBe(config)
    await app.call("updateBlueprintConfig", ada, { path, body: { config: "ludus: []\r\n# end" } })
    expect(await configOf()).toBe("ludus: []\r\n# end")
  })

  it("tells which of the templates and roles that it needs are there", async () => {
    const needing = `${config}    roles:\n      - geerlingguy.docker\n`
    await create(ada, { config: needing })
    const statuses = async () => (await app.call("getBlueprintDetail", ada, { path })) as Record<string, unknown>
    expect(await statuses()).toMatchObject({
      templateStatus: [{ name: "debian-12-x64-server-template", built: false }],
      roleStatus: [{ name: "geerlingguy.docker", installed: false, subscription: false }],
    })
    await withTemplate()
    expect(await statuses()).toMatchObject({ templateStatus: [{ name: "debian-12-x64-server-template", built: true }] })
  })

  it("is found by the id of its record too", async () => {
    await create()
    const recordId = app.store.blueprints.get(web as BlueprintId)?.blueprint.recordId ?? ""
    expect(await app.call("getBlueprintDetail", ada, { path: { blueprintID: recordId } })).toMatchObject({ id: web })
    expect(await app.fails("getBlueprintDetail", bob, { path: { blueprintID: recordId } })).toMatchObject({ kind: "forbidden" })
  })

  it("comes as a file that is named like it", async () => {
    await create(ada, { name: "My Web/One" })
    expect(await app.call("getBlueprintConfig", ada, { path, query: { download: true } })).toEqual({
      file: { name: "my web/one", ending: ".yml", text: config },
    })
  })
})

describe("a copy", () => {
  it("belongs to who made it, is shared with nobody, and outlives the original", async () => {
    await create(ada, { tags: ["t"], version: "2.0.0", description: "d" })
    await share(["Bob"])
    expect(await app.fails("copyBlueprint", cleo, { path })).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining("do not have access") as string,
    })
    expect(await app.call("copyBlueprint", bob, { path })).toMatchObject({ blueprintID: "web/basic-copy" })
    expect(await app.call("copyBlueprint", bob, { path })).toMatchObject({ blueprintID: "web/basic-copy-2" })
    expect((await listed(bob)).sort()).toEqual(["web/basic direct", "web/basic-copy owner", "web/basic-copy-2 owner"])
    await app.call("deleteBlueprint", ada, { path })
    expect(await configOf("web/basic-copy", bob)).toBe(config)
    expect(await app.call("getBlueprintDetail", bob, { path: { blueprintID: "web/basic-copy" } })).toMatchObject({
      name: "web/basic (Copy)",
      description: "d",
      version: "2.0.0",
      tags: ["t"],
    })
  })

  it("has the requested ID, if that is free", async () => {
    await create()
    const copy = (blueprintID: string) => ({ path, body: { blueprintID, name: "Mine" } })
    expect(await app.call("copyBlueprint", ada, copy("mine"))).toMatchObject({ blueprintID: "mine" })
    expect(await app.fails("copyBlueprint", ada, copy("mine"))).toMatchObject({ kind: "conflict" })
    expect(await app.fails("copyBlueprint", ada, copy("../mine"))).toMatchObject({ kind: "invalid" })
  })

  it("is one for each of many that are made at once", async () => {
    await create()
    const copies = await Promise.all(Array.from({ length: 6 }, () => app.call("copyBlueprint", ada, { path })))
    expect(new Set(copies.map((copy) => (copy as { blueprintID: string }).blueprintID)).size).toBe(6)
  })
})

describe("sharing", () => {
  it("shows the blueprint to those it is shared with, directly or by a group, and says why they see it", async () => {
    await makeGroup("red", [[cleo, "member"]])
    await create(ada, { tags: ["web"] })
    expect(await listed(bob)).toEqual([])
    expect(await share(["Bob", "Bob"])).toEqual({ success: ["Bob"] })
    expect(await shareGroups(["red"])).toEqual({ success: ["red"] })
    expect(await Promise.all([admin, ada, bob, cleo].map((user) => listed(user)))).toEqual([
      ["web/basic admin"],
      ["web/basic owner"],
      ["web/basic direct"],
      ["web/basic group"],
    ])
    expect(await listed(bob, { tag: "web" })).toHaveLength(1)
    expect(await listed(bob, { tag: "we" })).toEqual([])
    expect(await listed(bob, { "from-source": "any" })).toEqual([])
    expect(await listed(admin, { tag: "web" })).toEqual(["web/basic admin"])
    expect(await unshare(["Bob"])).toEqual({ success: ["Bob"] })
    expect(await unshareGroups(["red"])).toEqual({ success: ["red"] })
    expect([...(await listed(bob)), ...(await listed(cleo))]).toEqual([])
  })

  it("is for administrators, and for managers of a group that the user is in; owning the blueprint does not suffice", async () => {
    await makeGroup("red", [
      [bob, "manager"],
      [cleo, "member"],
    ])
    await create()
    const notManager = (item: string) => ({ item, reason: expect.stringContaining("is not a manager of") as string })
    expect(await share(["Cleo"], ada)).toEqual({ errors: [notManager("Cleo")] })
    expect(await shareGroups(["red"], ada)).toEqual({ errors: [notManager("red")] })
    expect(await app.fails("shareBlueprintWithUsers", bob, { path, body: { userIDs: ["Cleo"] } })).toMatchObject({
      kind: "forbidden",
    })
    await share(["Bob"])
    expect(await share(["Cleo, Ada,,Nobody", "Cleo"], bob)).toEqual({
      success: ["Cleo"],
      errors: [notManager("Ada"), { item: "Nobody", reason: "User Nobody not found" }],
    })
    expect(await shareGroups(["red", "blue"], bob)).toEqual({
      success: ["red"],
      errors: [{ item: "blue", reason: "Group blue not found" }],
    })
    expect(await unshareGroups(["red"], cleo)).toEqual({ errors: [notManager("red")] })
  })

  it("reports entries with nothing to do, and needs at least one entry", async () => {
    await makeGroup("red", [])
    await create()
    await share(["Bob"])
    await shareGroups(["red"])
    const reason = (text: string) => ({
      errors: [{ item: expect.any(String) as string, reason: expect.stringContaining(text) as string }],
    })
    expect(await share(["Bob"])).toEqual(reason("already shared with user Bob"))
    expect(await shareGroups(["red"])).toEqual(reason("already shared with group red"))
    expect(await unshare(["Cleo"])).toEqual(reason("is not shared with user Cleo"))
    await unshareGroups(["red"])
    expect(await unshareGroups(["red"])).toEqual(reason("is not shared with group red"))
    for (const userIDs of [[], [""], [" , "]])
      expect(await app.fails("shareBlueprintWithUsers", admin, { path, body: { userIDs } })).toMatchObject({ kind: "invalid" })
  })

  it("is listed with everybody who reads the blueprint and every reason", async () => {
    await makeGroup("red", [
      [bob, "manager"],
      [cleo, "member"],
    ])
    await create()
    await share(["Cleo"])
    await shareGroups(["red"])
    expect(await app.call("listBlueprintAccessUsers", cleo, { path })).toEqual([
      { userID: "Ada", name: "User Ada", access: ["owner"] },
      { userID: "Bob", name: "User Bob", access: ["group-manager"], groups: ["red"] },
      { userID: "Cleo", name: "User Cleo", access: ["direct", "group-member"], groups: ["red"] },
    ])
    expect(await app.call("listBlueprintAccessGroups", cleo, { path })).toEqual([
      { groupName: "red", managers: ["Bob"], members: ["Cleo"] },
    ])
  })

  it("goes with a group whose rights the hypervisor still keeps", async () => {
    await makeGroup("red", [[bob, "member"]])
    await app.addRange("LAB")
    await app.call("addRangesToGroup", admin, {
      group: await app.run(Effect.flatMap(Groups, (groups) => groups.find("red" as GroupName))),
      body: { rangeIDs: ["LAB"] },
    })
    await create()
    await shareGroups(["red"])
    app.world.fault = (call) => (call.method === "revoke" ? { when: "before", reason: "away" } : undefined)
    const group = await app.run(Effect.flatMap(Groups, (groups) => groups.find("red" as GroupName)))
    expect(await app.fails("deleteGroup", admin, { group })).toMatchObject({ _tag: "RevocationPending" })
    const found = await app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.find(web as BlueprintId)))
    expect(found?.sharedGroups).toEqual([])
  })
})

describe("records of blueprints", () => {
  const recordId = () => app.store.blueprints.get(web as BlueprintId)?.blueprint.recordId ?? ""
  const records = async (as: User, filter?: string) =>
    (await app.call("recordListBlueprints", as, { query: filter === undefined ? {} : { filter } })) as {
      readonly items: readonly Record<string, unknown>[]
      readonly totalItems: number
    }

  it("are found by the id of the blueprint, by those who may read it, and name others by their records", async () => {
    await makeGroup("red", [[cleo, "member"]])
    await create()
    await create(ada, { blueprintID: "other" })
    await share(["Bob"])
    await shareGroups(["red"])
    const group = app.store.groups.get("red" as GroupName)?.group
    for (const user of [admin, ada, bob, cleo])
      expect(await records(user, 'blueprintID = "web/basic"')).toMatchObject({
        totalItems: 1,
        items: [{ id: recordId(), owner: ada.recordId, sharedUsers: [bob.recordId], sharedGroups: [group?.recordId] }],
      })
    expect((await records(ada)).totalItems).toBe(2)
    expect((await records(bob, 'blueprintID = "other"')).items).toEqual([])
    expect(await app.fails("recordListBlueprints", ada, { query: { filter: "name ~ 'x' || 1" } })).toMatchObject({
      kind: "invalid",
    })
  })

  it("are changed by owners and administrators in what they say of themselves; nobody else learns that they exist", async () => {
    await create()
    await share(["Bob"])
    const change = { path: { id: recordId() }, body: { name: "New", min_ludus_version: "2.0" } }
    for (const [user, id] of [
      [bob, recordId()],
      [cleo, recordId()],
      [admin, "none"],
      [admin, web],
    ] as const)
      expect(await app.fails("recordUpdateBlueprint", user, { ...change, path: { id } })).toMatchObject({ kind: "not-found" })
    expect(await app.call("recordUpdateBlueprint", ada, change)).toMatchObject({
      name: "New",
      min_ludus_version: "2.0",
      tags: [],
    })
    expect(await app.fails("recordUpdateBlueprint", ada, { ...change, body: { name: " " } })).toMatchObject({
      kind: "invalid",
      issues: [{ path: "name" }],
    })
    expect(await app.call("getBlueprintDetail", ada, { path })).toMatchObject({ name: "New" })
  })
})

describe("the picture of a blueprint", () => {
  const png = Uint8Array.from([
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1,
  ])
  const gif = Uint8Array.from("GIF89a\u0001\0\u0001\0", (letter) => letter.charCodeAt(0))
  const file = (bytes: Uint8Array, filename = "../My web.svg") => ({ filename, contentType: "image/svg+xml", bytes })
  const recordId = () => app.store.blueprints.get(web as BlueprintId)?.blueprint.recordId ?? ""
  const update = (bytes: Uint8Array | undefined, body: Record<string, unknown> = {}) =>
    app.call("recordUpdateBlueprint", ada, {
      path: { id: recordId() },
      body,
      ...(bytes === undefined ? {} : { file: file(bytes) }),
    }) as Promise<{ readonly thumbnail: string }>
  const get = (recordID: string, filename: string, collection = "blueprints") => ({ path: { collection, recordID, filename } })

  beforeEach(() => create())

  it("is served under its address, with the actual type and not the one that its sender claimed", async () => {
    const { thumbnail } = await update(png, { name: "New" })
    expect(thumbnail).toMatch(/^_My_web_\w+\.png$/u)
    expect(await app.call("listBlueprints", ada, { query: {} })).toMatchObject([
      { name: "New", thumbnailUrl: `/api/files/blueprints/${recordId()}/${thumbnail}` },
    ])
    expect(await app.call("recordFile", bob, get(recordId(), thumbnail))).toEqual({ contentType: "image/png", bytes: png })
    for (const wrong of [get(recordId(), "x.png"), get("other0000000000", thumbnail), get(recordId(), thumbnail, "ranges")])
      expect(await app.fails("recordFile", admin, wrong)).toMatchObject({ kind: "not-found" })
  })

  it("is replaced, removed by an empty text, and stays otherwise", async () => {
    const { thumbnail: first } = await update(png)
    const { thumbnail: second } = await update(gif)
    expect(await app.fails("recordFile", ada, get(recordId(), first))).toMatchObject({ kind: "not-found" })
    expect((await update(undefined, { name: "New", thumbnail: second })).thumbnail).toBe(second)
    expect((await update(undefined, { thumbnail: "" })).thumbnail).toBe("")
    expect(await app.fails("recordFile", ada, get(recordId(), second))).toMatchObject({ kind: "not-found" })
  })

  it("is refused if it is of another kind or too large; nothing is changed then", async () => {
    const svg = Uint8Array.from("<svg onload=alert(1)>", (letter) => letter.charCodeAt(0))
    const large = new Uint8Array(10 * 1024 * 1024 + 1)
    large.set(png)
    const flat = Uint8Array.from("GIF89a\u0001\0\0\0", (letter) => letter.charCodeAt(0))
    for (const bytes of [svg, new Uint8Array(), large, flat, flat.subarray(0, 7)])
      expect(
        await app.fails("recordUpdateBlueprint", ada, { path: { id: recordId() }, body: { name: "New" }, file: file(bytes) }),
      ).toMatchObject({ kind: "invalid", issues: [{ path: "thumbnail" }] })
    expect(await app.call("getBlueprintDetail", ada, { path })).toMatchObject({ name: web })
  })

  it("goes with a copy, and outlives the original there", async () => {
    const { thumbnail } = await update(png)
    await app.call("copyBlueprint", ada, { path, body: { blueprintID: "copy" } })
    await app.call("deleteBlueprint", ada, { path })
    const copy = app.store.blueprints.get("copy" as BlueprintId)?.blueprint
    expect(copy?.thumbnail).toBe(thumbnail)
    expect(await app.call("recordFile", ada, get(copy?.recordId ?? "", thumbnail))).toMatchObject({ bytes: png })
  })
})

describe("applying a blueprint", () => {
  const apply = (body: Record<string, unknown> = { rangeID: "LAB" }, as = ada) =>
    app.call("applyBlueprintToRange", as, { path, body })

  beforeEach(async () => {
    await withTemplate()
    await app.addRange("LAB", [ada])
    await create()
  })

  it("gives the range its configuration, byte for byte, and starts nothing", async () => {
    expect(await apply()).toMatchObject({
      result: expect.stringMatching(/^Blueprint web\/basic applied to range LAB/u) as string,
    })
    expect(await rangeConfig("LAB")).toBe(config)
    expect(app.runs.asked).toEqual([])
  })

  it("says whom the blueprint's author notifies of deploys", async () => {
    const notify = "notify:\n  urls: [https://hooks.example/SECRET, discord://SECRET@1, 'slack://[x]']\n"
    await app.call("updateBlueprintConfig", ada, { path, body: { config: `${config}\n${notify}` } })
    const { result } = (await apply()) as { readonly result: string }
    expect(result).toContain("When a deploy ends, it notifies hooks.example, discord\n")
    expect(result).not.toContain("SECRET")
  })

  it("is for those who may use the range and read the blueprint", async () => {
    const before = await rangeConfig("LAB")
    const asked = { path, body: { rangeID: "LAB" } }
    expect(await app.fails("applyBlueprintToRange", bob, asked)).toMatchObject({ kind: "forbidden" })
    await app.addRange("BOBS", [bob])
    expect(await app.fails("applyBlueprintToRange", bob, { path, body: { rangeID: "BOBS" } })).toMatchObject({
      message: expect.stringContaining("do not have access") as string,
    })
    expect(await app.fails("applyBlueprintToRange", ada, { path, body: { rangeID: "NONE" } })).toMatchObject({
      kind: "not-found",
    })
    expect(await app.fails("applyBlueprintToRange", bob, { path })).toMatchObject({ kind: "not-found" })
    expect(await rangeConfig("LAB")).toBe(before)
  })

  it("waits for the end of testing mode unless it is forced, and is never forced on a range that it does not fit", async () => {
    const testing = { mode: "on" as const, allowedDomains: [], allowedIps: [] }
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.change("LAB" as never, { testing })))
    expect(await app.fails("applyBlueprintToRange", ada, { path, body: { rangeID: "LAB" } })).toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("testing") as string,
    })
    await apply({ rangeID: "LAB", force: true })
    expect(await rangeConfig("LAB")).toBe(config)
    await app.observe([])
    const fault = await app.fails("applyBlueprintToRange", ada, { path, body: { rangeID: "LAB", force: true } })
    expect(fault).toMatchObject({ kind: "invalid", message: expect.stringContaining("Configuration error") as string })
  })

  it("comes with a new range; where it does not fit, the range stays and says how to go on", async () => {
    const body = { name: "N", rangeID: "NEW", blueprintID: web }
    expect(await app.fails("createRange", bob, { body })).toMatchObject({ kind: "forbidden" })
    expect(await app.fails("createRange", ada, { body: { ...body, blueprintID: "none" } })).toMatchObject({ kind: "not-found" })
    expect(await rangeConfig("NEW")).toBeUndefined()
    expect(await app.call("createRange", ada, { body })).toMatchObject({
      result: expect.stringContaining("Blueprint web/basic applied") as string,
    })
    expect(await rangeConfig("NEW")).toBe(config)
    await app.observe([])
    const fault = await app.fails("createRange", ada, { body: { ...body, rangeID: "OTHER" } })
    expect(fault).toMatchObject({ kind: "failed", hint: expect.stringContaining("/apply") as string })
    expect(await rangeConfig("OTHER")).toBe(exampleRangeConfig)
  })
})
