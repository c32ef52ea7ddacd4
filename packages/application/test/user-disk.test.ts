import { commitTo, type MemoryFiles, publishTo } from "@rangewright/adapter-memory"
import type { User } from "@rangewright/domain"
import { type ArtifactEntry, ArtifactLibrary, LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

/** A tenth of the disk limit of a user. */
const unit = 256 * 1024
const limit = 10 * unit
let app: TestApp
let boss: User
let ada: User
let bea: User
const start = async (userDiskBytes: number | undefined) => {
  app = makeTestApp({ settings: userDiskBytes === undefined ? {} : { userDiskBytes } })
  boss = await app.addUser("Boss", { isAdmin: true })
  ada = await app.addUser("Ada")
  bea = await app.addUser("Bea")
}
beforeEach(() => start(limit))

const pngHead = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1]
const filler = (size: number): Uint8Array => new Uint8Array(size * unit)
const archive = (filename: string, files: MemoryFiles) => {
  const path = `/uploads/${app.artifacts.content.archives.size}`
  app.artifacts.content.archives.set(path, files)
  return { filename, contentType: "application/x-tar", size: 1, path }
}
const roleOf = (size: number): MemoryFiles => ({ "meta/main.yml": "galaxy_info: {author: acme}\n", "files/big": filler(size) })
const role = (name: string, size: number, body: object = {}) => ({ body, file: archive(`${name}.tar`, roleOf(size)) })
const addRole = (user: User, name: string, size: number, body: object = {}) =>
  app.call("InstallRoleTar", user, role(name, size, body))
const refuseRole = (user: User, name: string, size: number, body: object = {}) =>
  app.fails("InstallRoleTar", user, role(name, size, body))
const rolesOf = async (user: User): Promise<readonly string[]> =>
  ((await app.call("getRolesAndCollections", user)) as readonly { readonly name: string }[]).map(({ name }) => name)
const removeRole = (user: User, name: string) => app.call("InstallRole", user, { body: { role: name, action: "remove" } })
/** Of the blueprints that the user owns or has. */
const idsOf = async (user: User): Promise<readonly string[]> => {
  const listed = await app.call("listBlueprints", user, { query: {} })
  return (listed as readonly { readonly blueprintID: string }[]).map(({ blueprintID }) => blueprintID).toSorted()
}
const pinned = () => [...app.artifacts.content.pins].filter(([, holders]) => holders.size > 0).map(([id]) => id)

const url = "https://git.example/acme/labs.git"
const ships = (size: number): MemoryFiles => ({
  "blueprints/web/blueprint.yml": "id: web\nname: Web\nversion: 1.0.0\nconfig: config.yml\n",
  "blueprints/web/config.yml": "ludus: []\n",
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n",
  "ansible/roles/hello/files/big": filler(size),
})
const register = (user: User, id = "labs") => app.call("createSource", user, { body: { type: "git", url, id } })
const refuseRegister = (user: User, id = "labs") => app.fails("createSource", user, { body: { type: "git", url, id } })
const path = { sourceID: "labs" }
const show = (user: User) => app.call("getSource", user, { path })

describe("what a user installs", () => {
  it("is refused when it is more than the user may keep, with what is used and what to do, and leaves nothing behind", async () => {
    await addRole(ada, "one", 6)
    expect(await refuseRole(ada, "two", 5)).toMatchObject({
      kind: "forbidden",
      message: expect.stringMatching(
        /^Cannot install the user's role "two": it takes 1\.3 MiB more on the service's host, where Ada's .* already take 1\.6 MiB of 2\.5 MiB\. Remove some of them, or ask an administrator for more \(the setting user_disk\)\.$/u,
      ),
    })
    expect(await rolesOf(ada)).toEqual(["one"])
    expect(pinned()).toEqual([])
    await addRole(ada, "three", 3)
  })

  it("has room again when something else is removed", async () => {
    await addRole(ada, "one", 6)
    await refuseRole(ada, "two", 5)
    await removeRole(ada, "one")
    await addRole(ada, "two", 5)
    expect(await rolesOf(ada)).toEqual(["two"])
  })

  it("counts once when it takes the place of another, and not at all when that stays", async () => {
    await addRole(ada, "one", 6)
    await addRole(ada, "one", 9, { force: true })
    expect(await addRole(ada, "one", 20)).toMatchObject({ result: expect.stringContaining("was left as it is") })
    expect(await refuseRole(ada, "one", 11, { force: true })).toMatchObject({ kind: "forbidden" })
  })

  it("does not count for others; administrators and global items have no limit", async () => {
    await addRole(ada, "one", 9)
    await addRole(bea, "one", 9)
    await addRole(boss, "one", 20)
    await addRole(boss, "two", 20, { global: true })
    expect(await rolesOf(ada)).toEqual(["one", "two"])
  })

  it("has no limit where the operator sets none", async () => {
    for (const none of [0, undefined]) {
      await start(none)
      await addRole(ada, "one", 20)
    }
  })

  it("concurrently is installed as far as there is room for it", async () => {
    const tries = ["one", "two", "three"].map((name) =>
      addRole(ada, name, 4).then(
        () => "in",
        () => "refused",
      ),
    )
    expect((await Promise.all(tries)).toSorted()).toEqual(["in", "in", "refused"])
    expect(await rolesOf(ada)).toHaveLength(2)
  })

  it("counts together: roles, templates, and what comes from Galaxy with all that it needs", async () => {
    const builder = 'variable "vm_name" {\n  default = "debian"\n}\n'
    const template = archive("folder", { "deb/deb.pkr.hcl": builder, "deb/iso": filler(4) })
    await app.call("addTemplateFromTar", ada, { body: { force: false }, file: template })
    const entries = Object.entries(roleOf(3)).map(([at, bytes]): ArtifactEntry => {
      const content = typeof bytes === "string" ? new TextEncoder().encode(bytes) : (bytes as Uint8Array)
      return { kind: "file", path: at, size: content.length, executable: false, read: Effect.succeed(content) }
    })
    publishTo(app.artifacts.galaxy, "role", "acme.db", "1.0.0", { entries })
    publishTo(app.artifacts.galaxy, "role", "acme.web", "1.0.0", { entries, roles: [{ name: "acme.db" }] })
    const install = { body: { role: "acme.web", action: "install" } }
    expect(await app.fails("InstallRole", ada, install)).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining("already take 1.9 MiB of 2.5 MiB"),
    })
    expect(await rolesOf(ada)).toEqual(["acme.db"])
    const other = archive("folder", { "k/k.pkr.hcl": builder.replace("debian", "kali"), "k/iso": filler(4) })
    expect(await app.fails("addTemplateFromTar", ada, { body: { force: false }, file: other })).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining('Cannot install the user\'s template "kali"'),
    })
  })

  it("stays if the limit is lowered below it, and may be replaced by something smaller", async () => {
    await start(undefined)
    await addRole(ada, "one", 20)
    const { artifacts, builds, store, world } = app
    app = makeTestApp({ settings: { userDiskBytes: limit }, after: { artifacts, builds, store, world } })
    expect(await refuseRole(ada, "two", 1)).toMatchObject({ kind: "forbidden" })
    await addRole(ada, "one", 15, { force: true })
    expect(await rolesOf(ada)).toEqual(["one"])
  })
})

describe("a role of everybody's", () => {
  it("is copied to a user as far as there is room for it", async () => {
    await addRole(boss, "big", 20, { global: true })
    const move = { body: { roles: ["big"], global: false, copy: true } }
    expect(await app.call("MoveRoleScope", ada, move)).toMatchObject({
      success: [],
      errors: [{ role: "big", error: expect.stringContaining("it takes 5.1 MiB more") }],
    })
  })
})

describe("the content of a source", () => {
  it("that is more than the user may keep is refused, and leaves nothing behind", async () => {
    commitTo(app.artifacts.content, url, ships(11))
    expect(await refuseRegister(ada)).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining("Cannot keep what source labs ships: it takes 2.9 MiB more"),
      hint: expect.stringContaining("Remove some of them"),
    })
    expect(await app.call("listSources", ada)).toEqual([])
    expect(pinned()).toEqual([])
    await register(boss)
  })

  it("is not fetched for a user who may keep nothing more", async () => {
    await start(1)
    const fault = await refuseRegister(ada)
    expect(fault).toMatchObject({ kind: "forbidden", message: expect.stringContaining("Cannot register source labs") })
    expect(await app.call("listSources", ada)).toEqual([])
  })

  it("that grows over the limit stays as it was, and its source says why", async () => {
    commitTo(app.artifacts.content, url, ships(6))
    await register(ada)
    const before = pinned()
    commitTo(app.artifacts.content, url, ships(11))
    expect(await app.fails("syncSource", ada, { path })).toMatchObject({ kind: "forbidden" })
    expect(await show(ada)).toMatchObject({
      lastSyncStatus: "error",
      lastSyncError: expect.stringContaining("it takes 1.3 MiB more on the service's host"),
    })
    expect(pinned()).toEqual(before)
    commitTo(app.artifacts.content, url, ships(9))
    await app.call("syncSource", ada, { path })
    expect(await show(ada)).toMatchObject({ lastSyncStatus: "ok" })
  })

  it("counts once for each user, however many of the user's sources have it", async () => {
    commitTo(app.artifacts.content, url, ships(9))
    await register(ada, "one")
    await register(ada, "two")
    await register(bea, "three")
    expect(await refuseRole(ada, "big", 1)).toMatchObject({ kind: "forbidden" })
  })

  it("is charged to the owner of the source, also when an administrator syncs it", async () => {
    commitTo(app.artifacts.content, url, ships(6))
    await register(ada)
    commitTo(app.artifacts.content, url, ships(11))
    expect(await app.fails("syncSource", boss, { path })).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining("Ada's"),
    })
  })

  it("is installed as far as there is room for it, item by item", async () => {
    commitTo(app.artifacts.content, url, ships(6))
    await register(ada)
    expect(await app.call("installSource", ada, { path })).toMatchObject({
      blueprintResults: { results: [{ name: "labs/web", ok: true }] },
      localAnsibleResults: { roleResults: [{ ok: false, message: expect.stringContaining("Remove some of them") }] },
    })
    expect(await rolesOf(ada)).toEqual([])
  })
})

describe("the texts and the picture of a blueprint", () => {
  /** A tenth of what one user may keep here. */
  const part = 50 * 1024
  beforeEach(() => start(10 * part))
  const config = (size: number): string => `# ${"x".repeat(size * part)}\nludus: []\n`
  const body = (id: string, size: number) => ({ body: { blueprintID: id, config: config(size) } })
  const make = (id: string, size: number, user = ada) => app.call("createBlueprint", user, body(id, size))
  const change = (id: string, size: number, user = ada) =>
    app.call("updateBlueprintConfig", user, { path: { blueprintID: id }, body: { config: config(size) } })

  it("are stored as far as its owner has room for them, and count with all else", async () => {
    await make("one", 3)
    await make("two", 3)
    expect(await app.fails("createBlueprint", ada, body("three", 4))).toMatchObject({
      kind: "forbidden",
      message: expect.stringMatching(
        /^Cannot create blueprint three: it takes 0\.3 MiB more .* already take 0\.4 MiB of 0\.5 MiB$/u,
      ),
    })
    expect(await refuseRole(ada, "big", 2)).toMatchObject({ kind: "forbidden" })
    expect(await idsOf(ada)).toEqual(["one", "two"])
    await make("three", 4, bea)
    await make("four", 4, boss)
    await app.call("deleteBlueprint", ada, { path: { blueprintID: "one" } })
    await make("five", 4)
  })

  it("of several concurrent requests are stored as far as there is room", async () => {
    const tries = ["a", "b", "c"].map((id) =>
      make(id, 4).then(
        () => "made",
        () => "refused",
      ),
    )
    expect((await Promise.all(tries)).toSorted()).toEqual(["made", "made", "refused"])
  })

  it("may grow as far as there is room for the growth, and may always shrink", async () => {
    await make("one", 3)
    await make("two", 3)
    await change("one", 4)
    await expect(change("one", 7)).rejects.toThrow("Cannot change blueprint one: it takes 0.2 MiB more")
    // it counts for its owner, whoever changes it
    await expect(change("one", 7, boss)).rejects.toThrow("Ada's")
    const { artifacts, builds, store, world } = app
    app = makeTestApp({ settings: { userDiskBytes: part }, after: { artifacts, builds, store, world } })
    await expect(change("one", 5)).rejects.toThrow("already take 0.5 MiB of 0.1 MiB")
    await change("one", 2)
  })

  it("count again when a picture takes the place of another", async () => {
    await make("one", 4)
    const png = (size: number) => {
      const bytes = filler(0.2 * size)
      bytes.set(pngHead)
      return { filename: "p.png", contentType: "image/png", bytes }
    }
    const id = [...app.store.blueprints.values()][0]?.blueprint.recordId ?? ""
    const put = (size: number) => ({ path: { id }, body: {}, file: png(size) })
    await app.call("recordUpdateBlueprint", ada, put(4))
    await app.call("recordUpdateBlueprint", ada, put(5))
    expect(await app.fails("recordUpdateBlueprint", ada, put(7))).toMatchObject({ kind: "forbidden" })
    await app.call("recordUpdateBlueprint", ada, { path: { id }, body: { thumbnail: "" } })
    await make("two", 4)
  })
})

describe("the picture of a range", () => {
  const picture = (size: number) => {
    const bytes = filler(size)
    bytes.set(pngHead)
    return { filename: "p.png", contentType: "image/png", bytes }
  }
  const put = async (size: number, id = "LAB") => ({
    path: { id: (await app.range(id)).recordId },
    body: {},
    file: picture(size),
  })
  const used = async (user: User) =>
    ((await app.call("getDiskUse", user)) as { readonly usedBytes: number; readonly things: readonly object[] }).things

  it("counts for the one user who is charged for the range, whoever puts it there", async () => {
    await app.addRange("LAB", [ada, bea])
    await addRole(ada, "one", 4)
    await app.call("recordUpdateRange", bea, await put(4))
    expect(await used(ada)).toContainEqual({ kind: "range", name: "LAB", bytes: 4 * unit, shared: false })
    expect(await used(bea)).toEqual([])
    await app.call("recordUpdateRange", bea, await put(5))
    for (const user of [bea, boss])
      expect(await app.fails("recordUpdateRange", user, await put(7))).toMatchObject({
        kind: "forbidden",
        message: expect.stringMatching(/^Cannot change range LAB: .*Ada's/u) as string,
      })
    expect((await app.range("LAB")).thumbnail).toBeDefined()
    await app.call("recordUpdateRange", ada, { path: { id: (await app.range("LAB")).recordId }, body: { thumbnail: "" } })
    expect(await used(ada)).toHaveLength(1)
  })

  it("counts for nobody where nobody is charged for the range", async () => {
    await app.addRange("FREE", [])
    await app.call("recordUpdateRange", boss, await put(20, "FREE"))
    expect(await used(boss)).toEqual([])
  })

  it("of two ranges cannot take the last room twice", async () => {
    await app.addRange("LAB", [ada])
    await app.addRange("LAB2", [ada])
    const tries = await Promise.all(
      ["LAB", "LAB2"].map(async (id) =>
        app.call("recordUpdateRange", ada, await put(6, id)).then(
          () => "made",
          () => "refused",
        ),
      ),
    )
    expect(tries.toSorted()).toEqual(["made", "refused"])
  })
})

describe("the files of a blueprint", () => {
  const bundle = (size: number) =>
    archive("web.tar.gz", {
      "blueprint.yml": "id: web\nname: Web\nversion: 1.0.0\nconfig: config.yml\n",
      "config.yml": "ludus: []\n",
      "files/big": filler(size),
    })

  it("count when it is imported, and leave nothing behind when they are too many", async () => {
    expect(await app.fails("importBlueprint", ada, { file: bundle(11) })).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining("Cannot create blueprint web: it takes 2.9 MiB more"),
    })
    expect(await idsOf(ada)).toEqual([])
    expect(pinned()).toEqual([])
    await app.call("importBlueprint", ada, { file: bundle(8) })
    expect(await refuseRole(ada, "big", 2)).toMatchObject({ kind: "forbidden" })
  })

  it("are shared by copies of one owner, and count for another who makes a copy", async () => {
    await app.call("importBlueprint", ada, { file: bundle(8) })
    const copy = { path: { blueprintID: "web" }, body: {} }
    await app.call("copyBlueprint", ada, copy)
    expect(await idsOf(ada)).toEqual(["web", "web-copy"])
    await app.call("shareBlueprintWithUsers", boss, { path: { blueprintID: "web" }, body: { userIDs: ["Bea"] } })
    await addRole(bea, "one", 4)
    const held = pinned()
    expect(await app.fails("copyBlueprint", bea, copy)).toMatchObject({ kind: "forbidden" })
    expect(await idsOf(bea)).toEqual(["web"])
    expect(pinned()).toEqual(held)
    await removeRole(bea, "one")
    await app.call("copyBlueprint", bea, copy)
  })

  it("count even after the source that they came from has changed", async () => {
    commitTo(app.artifacts.content, url, ships(4))
    await register(ada)
    const install = { path, body: { selection: { blueprints: ["web"] } } }
    await app.call("installSource", ada, install)
    commitTo(app.artifacts.content, url, { ...ships(4), "more.txt": "x" })
    await app.call("syncSource", ada, { path })
    expect(await refuseRole(ada, "big", 3)).toMatchObject({ kind: "forbidden" })
    await app.call("installSource", ada, { ...install, body: { ...install.body, force: true } })
    await addRole(ada, "big", 3)
  })

  it("and its texts stay as they were when the newer ones are too many", async () => {
    commitTo(app.artifacts.content, url, ships(0))
    await register(ada)
    const install = { path, body: { selection: { blueprints: ["web"] }, force: true } }
    await app.call("installSource", ada, install)
    const blueprint = () => [...app.store.blueprints.values()][0]
    const [before, held] = [blueprint(), pinned()]
    await addRole(ada, "big", 7)
    const larger = `# ${"x".repeat(1.6 * unit)}\nludus: []\n`
    commitTo(app.artifacts.content, url, { ...ships(0), "blueprints/web/config.yml": larger })
    expect(await app.call("installSource", ada, install)).toMatchObject({
      blueprintResults: {
        results: [
          { name: "labs/web", ok: false, message: expect.stringMatching(/^Cannot install blueprint labs\/web: .* Remove some/u) },
        ],
      },
    })
    expect(blueprint()).toEqual(before)
    // the current content of the source, and that of the blueprint
    expect(pinned()).toEqual([...held, expect.anything()])
    await removeRole(ada, "big")
    await app.call("installSource", ada, install)
    expect(blueprint()?.config).toBe(larger)
    expect(pinned()).toHaveLength(1)
  })
})

describe("what a user keeps is shown before a limit refuses more", () => {
  const quota = (user: User) => app.call("getQuotaStatus", user)
  const use = async (user: User) =>
    (await app.call("getDiskUse", user)) as {
      readonly limitBytes: number
      readonly usedBytes: number
      readonly things: readonly {
        readonly kind: string
        readonly name: string
        readonly bytes: number
        readonly shared: boolean
      }[]
    }
  const namesOf = async (user: User) => (await use(user)).things.map(({ kind, name }) => `${kind} ${name}`)

  it("with the limit: to the user its own, to administrators everybody's", async () => {
    await addRole(ada, "one", 6)
    await addRole(boss, "two", 20)
    const { usedBytes } = await use(ada)
    expect(usedBytes).toBeGreaterThan(6 * unit)
    expect(usedBytes).toBeLessThan(7 * unit)
    expect(await quota(ada)).toMatchObject({ limitDiskBytes: limit, usedDiskBytes: usedBytes })
    expect(await quota(bea)).toMatchObject({ limitDiskBytes: limit, usedDiskBytes: 0 })
    const all = await app.call("getAllQuotaStatus", boss)
    expect(all).toContainEqual(expect.objectContaining({ userID: "Ada", limitDiskBytes: limit, usedDiskBytes: usedBytes }))
    expect(all).toContainEqual(expect.objectContaining({ userID: "Bea", limitDiskBytes: limit, usedDiskBytes: 0 }))
    // administrators have no limit, but their use is shown
    expect(all).toContainEqual(
      expect.objectContaining({ userID: "Boss", limitDiskBytes: 0, usedDiskBytes: (await use(boss)).usedBytes }),
    )
    expect((await use(boss)).usedBytes).toBeGreaterThan(20 * unit)
    expect(await app.call("getQuotaDefaults", boss)).toMatchObject({ limitDiskBytes: limit })
  })

  it("matches the figures of a refusal, and follows additions, replacements and removals at once", async () => {
    await addRole(ada, "one", 6)
    const { usedBytes } = await use(ada)
    expect(await refuseRole(ada, "two", 5)).toMatchObject({
      message: expect.stringContaining(`already take ${Math.ceil((usedBytes / 1024 ** 2) * 10) / 10} MiB of 2.5 MiB`),
    })
    expect((await use(ada)).usedBytes).toBe(usedBytes)
    await addRole(ada, "one", 9, { force: true })
    expect((await use(ada)).usedBytes).toBe(usedBytes + 3 * unit)
    await removeRole(ada, "one")
    expect(await use(ada)).toEqual({ limitBytes: limit, usedBytes: 0, things: [] })
  })

  it("thing by thing; content that several of them need counts once", async () => {
    commitTo(app.artifacts.content, url, ships(6))
    await register(ada)
    await app.call("installSource", ada, { path, body: { selection: { blueprints: ["web"] } } })
    await addRole(ada, "one", 1)
    const { usedBytes, things } = await use(ada)
    expect(things).toMatchObject([
      { kind: "blueprint", name: "labs/web", shared: true },
      { kind: "source", name: "labs", shared: true },
      { kind: "role", name: "one", shared: false },
    ])
    const [blueprint = 0, source = 0, role = 0] = things.map(({ bytes }) => bytes)
    expect(source).toBeGreaterThan(6 * unit)
    expect(usedBytes).toBeGreaterThan(blueprint + role)
    expect(usedBytes).toBeLessThan(blueprint + role + 0.5 * unit)
    await app.call("deleteBlueprint", ada, { path: { blueprintID: "labs/web" } })
    const rest = await use(ada)
    expect(rest.usedBytes).toBe(source + role)
    expect(rest.things[0]).toEqual({ kind: "source", name: "labs", bytes: source, shared: false })
  })

  it("and names nothing of others: nothing that is shared with the user, and nothing global", async () => {
    await app.call("createBlueprint", bea, { body: { blueprintID: "hers", config: "ludus: []\n" } })
    await app.call("shareBlueprintWithUsers", boss, { path: { blueprintID: "hers" }, body: { userIDs: ["Ada"] } })
    await addRole(boss, "everybodys", 1, { global: true })
    expect(await idsOf(ada)).toEqual(["hers"])
    expect(await namesOf(ada)).toEqual([])
    expect(await namesOf(bea)).toEqual(["blueprint hers"])
  })

  it("without a figure where it cannot be counted, and what else is limited is shown all the same", async () => {
    const broken = (id: string, user: User) =>
      Effect.gen(function* () {
        const library = yield* ArtifactLibrary
        const fault = new LibraryFault({ doing: "count what is installed", reason: "unavailable", detail: "the disk is broken" })
        const handled = app.handle(id, user)
        return yield* Effect.provideService(handled, ArtifactLibrary, { ...library, sizes: () => Effect.fail(fault) })
      })
    const status = await app.run(broken("getQuotaStatus", ada))
    expect(status).toMatchObject({ limitDiskBytes: limit, usedRanges: 0 })
    expect(status).not.toHaveProperty("usedDiskBytes")
    expect(await app.run(broken("getAllQuotaStatus", boss))).toHaveLength(3)
    expect(await app.run(Effect.flip(broken("getDiskUse", ada)) as Effect.Effect<unknown>)).toMatchObject({ _tag: "Failed" })
  })

  it("and what nobody has counted yet is counted once, however many ask for it at a time", async () => {
    await addRole(ada, "one", 6)
    let [now, most, asked] = [0, 0, 0]
    const counting = Effect.gen(function* () {
      const library = yield* ArtifactLibrary
      const sizes: typeof library.sizes = (scope) =>
        Effect.gen(function* () {
          now += 1
          asked += 1
          most = Math.max(most, now)
          yield* Effect.yieldNow
          const found = yield* library.sizes(scope)
          now -= 1
          return found
        })
      const asks = Array.from({ length: 5 }, () => app.handle("getDiskUse", ada))
      return yield* Effect.provideService(Effect.all(asks, { concurrency: 5 }), ArtifactLibrary, { ...library, sizes })
    })
    await app.run(counting)
    expect([asked, most]).toEqual([5, 1])
  })
})
