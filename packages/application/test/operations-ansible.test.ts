import { publishTo } from "@rangewright/adapter-memory"
import { CallerGone } from "@rangewright/application"
import type { RecordId, SourceId, User } from "@rangewright/domain"
import {
  type ArtifactEntry,
  ArtifactLibrary,
  GuestAutomation,
  type LibraryScope,
  type SourceClaim,
  Sources,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp, type TestAppOptions } from "./support/app.ts"

const entriesOf = (files: Readonly<Record<string, string>>): readonly ArtifactEntry[] =>
  Object.entries(files).map(([path, text]) => {
    const bytes = new TextEncoder().encode(text)
    return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
  })
const roleFiles = (text: string) => ({ "meta/main.yml": "galaxy_info: {author: acme}\n", "tasks/main.yml": `# ${text}\n` })
const collectionFiles = (name: string, version: string) => {
  const [namespace, own] = name.split(".")
  return { "galaxy.yml": `namespace: ${namespace}\nname: ${own}\nversion: ${version}\n` }
}

let app: TestApp
let boss: User
let ada: User
const start = async (options: TestAppOptions = {}) => {
  app = makeTestApp(options)
  boss = await app.addUser("Boss", { isAdmin: true })
  ada = await app.addUser("Ada")
  for (const version of ["1.0.0", "2.0.0"]) {
    publishTo(app.artifacts.galaxy, "role", "acme.web", version, { entries: entriesOf(roleFiles(version)) })
    publishTo(app.artifacts.galaxy, "collection", "acme.util", version, {
      entries: entriesOf(collectionFiles("acme.util", version)),
    })
  }
}
beforeEach(() => start())

const mine: LibraryScope = { type: "user", userId: "Ada" as User["id"] }
const everybodys: LibraryScope = { type: "global" }
const listed = (as = ada) => app.call("getRolesAndCollections", as) as Promise<readonly object[]>
const role = (body: object, as = ada) => app.call("InstallRole", as, { body: { role: "acme.web", action: "install", ...body } })
const roleFails = (body: object, as = ada) =>
  app.fails("InstallRole", as, { body: { role: "acme.web", action: "install", ...body } })
const collection = (body: object, as = ada) => app.call("InstallCollection", as, { body: { collection: "acme.util", ...body } })
const collectionFails = (body: object, as = ada) =>
  app.fails("InstallCollection", as, { body: { collection: "acme.util", ...body } })
const place = (scope: LibraryScope, name: string, files: Readonly<Record<string, string>>, version?: string) =>
  app.run(
    Effect.flatMap(ArtifactLibrary, (library) =>
      library.place({ scope, kind: "role", name }, entriesOf(files), {
        replace: true,
        ...(version === undefined ? {} : { version }),
      }),
    ),
  )

describe("what is installed", () => {
  it("is nothing at first", async () => expect(await listed()).toEqual([]))

  it("is the user's roles and collections, then everybody's, with an unknown version of a role in words", async () => {
    await role({ version: "1.0.0" })
    await collection({})
    await role({ global: true }, boss)
    await place(everybodys, "bare", { "tasks/main.yml": "[]\n" })
    expect(await listed()).toEqual([
      { name: "acme.web", version: "1.0.0", type: "role" },
      { name: "acme.util", version: "2.0.0", type: "collection" },
      { name: "acme.web", version: "2.0.0", type: "role", global: true },
      { name: "bare", version: "(unknown version)", type: "role", global: true },
    ])
    expect(await listed(boss)).toHaveLength(2)
  })
})

describe("a user that is removed", () => {
  it("leaves nothing installed for the next user with the ID", async () => {
    await role({})
    await role({ global: true }, boss)
    await app.call("deleteUser", boss, { path: { userID: "Ada" }, query: {} })
    ada = await app.addUser("Ada")
    expect(await listed()).toEqual([{ name: "acme.web", version: "2.0.0", type: "role", global: true }])
  })

  it("leaves nothing of what roles kept on the host", async () => {
    const forgotten: string[] = []
    await app.run(
      Effect.gen(function* () {
        const guest = yield* GuestAutomation
        const forget = (userId: string) => Effect.sync(() => void forgotten.push(userId))
        yield* app
          .handle("deleteUser", boss, { path: { userID: "Ada" }, query: {} })
          .pipe(Effect.provideService(GuestAutomation, { ...guest, forget }))
      }),
    )
    expect(forgotten).toEqual(["Ada"])
  })

  it("gets nothing from an installation in progress, nor does the next user with the ID", async () => {
    const before = ada
    await app.call("deleteUser", boss, { path: { userID: "Ada" }, query: {} })
    ada = await app.addUser("Ada")
    expect((await roleFails({}, before)).message).toContain("the user was removed")
    expect(await listed()).toEqual([])
  })
})

describe("who may change roles and collections", () => {
  const changes = [roleFails, collectionFails] as const

  it("excludes the hypervisor's own account, whoever has it", async () => {
    const root = { ...boss, hypervisorUsername: "root" }
    for (const change of changes) expect(await change({}, root)).toMatchObject({ kind: "forbidden" })
  })

  it("is administrators alone if the operator restricts it, for archives too", async () => {
    await start({ settings: { onlyAdminsChangeArtifacts: true } })
    for (const change of changes) expect((await change({})).message).toContain("not authorized")
    expect((await app.fails("InstallRoleTar", ada, { body: {}, file: archive("acme.web.tar", {}) })).message).toContain(
      "not authorized",
    )
    expect(await role({}, boss)).toEqual({ result: "Successfully installed: acme.web" })
  })

  it("is administrators alone for global ones", async () => {
    for (const change of changes)
      expect((await change({ global: true })).message).toBe("Only administrators can perform global ansible actions")
    expect(await app.fails("InstallRoleTar", ada, { body: { global: true }, file: archive("acme.web.tar", {}) })).toMatchObject({
      kind: "forbidden",
    })
  })
})

describe("a role", () => {
  it("whose URL holds credentials is refused without telling them", async () => {
    const { message } = await roleFails({ role: "https://ada:s3cret@git.example/acme.web.tar.gz" })
    expect(message).toContain("Cannot install the role https://***@git.example/acme.web.tar.gz")
    expect(message).not.toContain("s3cret")
  })

  it("is installed under its name, in the version asked for", async () => {
    expect(await role({ version: "1.0.0" })).toEqual({ result: "Successfully installed: acme.web,1.0.0" })
    for (const version of ["1.0.0", ">=1.0"])
      expect(await role({ version })).toEqual({ result: `Successfully installed: acme.web,${version}` })
    expect(await listed()).toEqual([{ name: "acme.web", version: "1.0.0", type: "role" }])
  })

  it.each([{ version: "2.0.0" }, {}])(
    "that is there in a version not asked for (%j) is told as clients know it, and replaced by force",
    async (asked) => {
      await role({ version: "1.0.0" })
      const fault = await roleFails(asked)
      expect(fault).toMatchObject({ kind: "failed", hint: expect.stringContaining("force") })
      expect(fault.message).toContain("acme.web (1.0.0) is already installed")
      await role({ ...asked, force: true })
      expect(await listed()).toEqual([{ name: "acme.web", version: "2.0.0", type: "role" }])
    },
  )

  it("that is installed in an unknown version fails when a version is requested", async () => {
    await place(mine, "acme.web", roleFiles("by hand"))
    expect((await roleFails({ version: "1.0.0" })).message).toContain("acme.web (unknown version) is already installed")
    expect(await role({})).toEqual({ result: "Successfully installed: acme.web" })
  })

  it.each([
    ["that nobody publishes", { role: "acme.nothing" }],
    ["in a version that is not there", { version: "9.9.9" }],
  ])("%s cannot be had, and nothing is done", async (_, body) => {
    expect(await roleFails(body)).toMatchObject({ kind: "failed", message: expect.stringContaining("Cannot install") })
    expect(await listed()).toEqual([])
  })

  it.each([
    ["called like a path", { role: "../../etc" }, "that is not a valid role name"],
    ["called like an option", { role: "--help" }, "that is not a valid role name"],
    ["that is no name at all", { role: "" }, "that is not a valid role name"],
    ["in a version like an option", { version: "--force" }, "that is not a valid version"],
    ["in a version with a line in it", { version: "1\n- x" }, "that is not a valid version"],
  ])("%s is refused in words before anything is asked", async (_, body, because) => {
    expect(await roleFails(body)).toMatchObject({ kind: "invalid", message: expect.stringContaining(because) })
    expect(await listed()).toEqual([])
  })

  it("is not fetched any longer when nobody waits for it", async () => {
    publishTo(app.artifacts.galaxy, "role", "acme.slow", "1.0.0", {
      entries: [{ kind: "file", path: "tasks/main.yml", size: 1, executable: false, read: Effect.never }],
    })
    const request = { body: { role: "acme.slow", action: "install" } }
    const left = app.handle("InstallRole", ada, request).pipe(Effect.provideService(CallerGone, Effect.void), Effect.result)
    expect(await app.run(left)).toMatchObject({ failure: { message: expect.stringContaining("the client disconnected") } })
    expect(await listed()).toEqual([])
  })

  it("whose dependencies are not available is not installed, and the reason is reported", async () => {
    publishTo(app.artifacts.galaxy, "role", "acme.site", "1.0.0", {
      entries: entriesOf(roleFiles("site")),
      roles: [{ name: "acme.gone" }],
    })
    const fault = await roleFails({ role: "acme.site" })
    expect(fault.message).toContain("needs the role acme.gone")
    expect(await listed()).toEqual([])
  })

  it("is removed from its scope alone; one that is not installed is a conflict that clients match", async () => {
    await role({})
    await role({ global: true }, boss)
    expect(await role({ action: "remove" })).toEqual({ result: "Successfully removed: acme.web" })
    expect(await listed()).toEqual([{ name: "acme.web", version: "2.0.0", type: "role", global: true }])
    expect(await roleFails({ action: "remove" })).toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("is not installed, skipping."),
    })
    expect(await role({ action: "remove", global: true }, boss)).toEqual({ result: "Successfully removed: acme.web" })
  })

  it.each(["../x", "", ".", "a/b"])("called %j cannot be removed", async (name) => {
    expect(await roleFails({ role: name, action: "remove" })).toMatchObject({ kind: "invalid" })
  })

  it("of the core stays", async () => {
    await place(mine, "lae.proxmox", { "tasks/main.yml": "[]\n" })
    expect(await roleFails({ role: "lae.proxmox", action: "remove" })).toMatchObject({ kind: "invalid" })
    expect(await listed()).toHaveLength(1)
  })

  it("that is removed is claimed by no source any more, in that scope", async () => {
    const claims: readonly SourceClaim[] = [mine, everybodys].map((scope) => ({
      kind: "galaxy-role",
      name: "acme.web",
      version: "2.0.0",
      scope,
    }))
    const recordId = "source000000000" as RecordId
    const left = await app.run(
      Effect.gen(function* () {
        const sources = yield* Sources
        const origin = { type: "git", url: "https://git.example/x.git", ref: "", path: "" } as const
        const rest = { access: undefined, schedule: undefined, nextSyncAt: undefined, createdAt: new Date(0) }
        yield* sources.create({ recordId, id: "s" as SourceId, owner: ada.id, name: "s", ...origin, ...rest })
        yield* sources.claim(recordId, claims)
        yield* Effect.promise(() => role({}))
        yield* Effect.promise(() => role({ action: "remove" }))
        return yield* sources.claims(recordId)
      }),
    )
    expect(left.map(({ scope }) => scope)).toEqual([everybodys])
  })
})

describe("a collection", () => {
  it("is installed, even without an action; an installed one that fits is a conflict that clients match", async () => {
    expect(await collection({ version: "1.0.0", action: "" })).toEqual({ result: "Successfully installed: acme.util:1.0.0" })
    for (const body of [{}, { version: "1.0.0" }])
      expect(await collectionFails(body)).toMatchObject({
        kind: "conflict",
        message: expect.stringContaining("already installed"),
      })
    expect(await collection({ version: "1.0.0", force: true })).toEqual({ result: "Successfully installed: acme.util:1.0.0" })
  })

  it("of another version takes the place of the one that is there", async () => {
    await collection({ version: "1.0.0" })
    await collection({ version: "2.0.0" })
    expect(await listed()).toEqual([{ name: "acme.util", version: "2.0.0", type: "collection" }])
  })

  it("is removed whether it is there or not", async () => {
    await collection({})
    for (let time = 0; time < 2; time += 1)
      expect(await collection({ action: "remove" })).toEqual({ result: "Successfully removed: acme.util" })
    expect(await listed()).toEqual([])
  })

  it.each(["acme", "acme.util.more", "../x.y", "acme.ut/il", ".", ""])(
    "called %j can neither be installed nor removed",
    async (name) => {
      expect(await collectionFails({ collection: name })).toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("that is not a valid collection name"),
      })
      expect(await collectionFails({ collection: name, action: "remove" })).toMatchObject({ kind: "invalid" })
    },
  )
})

/** An upload as the memory adapter has it: its files by path. */
const archive = (filename: string, files: Readonly<Record<string, string>>) => {
  const path = `/uploads/${filename}`
  app.artifacts.content.archives.set(path, files)
  return { filename, contentType: "application/x-tar", size: 1, path }
}

describe("a role in an archive", () => {
  const upload = (filename: string, files: Readonly<Record<string, string>>, body: object = {}, as = ada) =>
    app.call("InstallRoleTar", as, { body, file: archive(filename, files) })
  const files = { "web/tasks/main.yml": "[]\n", "web/meta/version.yml": "version: 1.10\n" }

  it("is called as its file, without the endings of archives, and has the version that it says", async () => {
    for (const name of ["acme.web.tar.gz", "other", "third.TAR"]) await upload(name, files)
    expect(await listed()).toEqual(["acme.web", "other", "third"].map((name) => ({ name, version: "1.10", type: "role" })))
  })

  it("does not take the place of another unless it is asked to, and says so", async () => {
    await upload("web.tar", files)
    const changed = { ...files, "web/tasks/main.yml": "# new\n", "web/meta/version.yml": "version: 2.0\n" }
    expect(await upload("web.tar", changed)).toEqual({ result: expect.stringMatching(/already installed.*force/u) })
    expect(await listed()).toMatchObject([{ version: "1.10" }])
    expect(await upload("web.tar", changed, { force: true })).toEqual({ result: "Successfully installed role" })
    expect(await listed()).toMatchObject([{ version: "2.0" }])
  })

  it("goes to everybody where an administrator says so", async () => {
    await upload("web.tar", files, { global: true }, boss)
    expect(await listed()).toEqual([{ name: "web", version: "1.10", type: "role", global: true }])
  })

  it.each(["../../x.tar", ".tar", "a b.tar", "-x.tar"])("called %j is refused", async (filename) => {
    expect(await app.fails("InstallRoleTar", ada, { body: {}, file: archive(filename, files) })).toMatchObject({
      kind: "invalid",
    })
  })

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ["without any of a role's folders", { "web/README": "" }, "none of the folders"],
    ["with a folder in the place of its metadata", { "web/meta/main.yml/x": "y" }, "meta/main.yml is a folder"],
    ["whose metadata are a list", { "web/meta/main.yml": "- a\n" }, "meta/main.yml is a list"],
    ["whose metadata are no YAML", { "web/meta/main.yml": "a: [\n" }, "meta/main.yml is not valid YAML"],
  ])("%s is refused, and nothing of it stays", async (_, wrong, because) => {
    expect(await app.fails("InstallRoleTar", ada, { body: {}, file: archive("web.tar", wrong) })).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(because),
    })
    expect(await listed()).toEqual([])
    expect([...app.artifacts.content.pins.values()].flatMap((holders) => [...holders])).toEqual([])
  })
})

describe("the scope of roles", () => {
  const move = (roles: readonly string[], body: object = {}) =>
    app.call("MoveRoleScope", boss, { user: ada, body: { roles, ...body } })

  it("changes for those that can go, and the others say why not", async () => {
    for (const name of ["a", "both"]) await place(mine, name, roleFiles("x"), "1.0")
    for (const name of ["g", "both"]) await place(everybodys, name, roleFiles("x"), "1.0")
    expect(await move(["a", "g", "both", "none", "../x"], { global: true })).toEqual({
      success: ["a"],
      errors: [
        { role: "g", error: "Role g is already in the global scope" },
        { role: "both", error: "Role both is already in the global scope" },
        { role: "none", error: "Role none is not installed" },
        { role: "../x", error: "Role ../x is not installed" },
      ],
    })
    expect(await move(["both", "g"])).toEqual({
      success: ["g"],
      errors: [{ role: "both", error: "Role both exists at destination, the user's scope" }],
    })
    expect(await listed()).toEqual([
      { name: "both", version: "1.0", type: "role" },
      { name: "g", version: "1.0", type: "role" },
      { name: "a", version: "1.0", type: "role", global: true },
      { name: "both", version: "1.0", type: "role", global: true },
    ])
  })

  it("becomes both with copy", async () => {
    await place(mine, "a", roleFiles("x"))
    await move(["a"], { global: true, copy: true })
    expect(await listed()).toHaveLength(2)
  })

  it("is invalid without roles", async () => {
    expect(await app.fails("MoveRoleScope", boss, { body: { roles: [] } })).toMatchObject({ kind: "invalid" })
  })
})

describe("the variables of roles", () => {
  const vars = (...roles: readonly string[]) => app.call("GetRoleVars", ada, { body: { roles } })

  it("are the defaults, and what the role says of each", async () => {
    await place(mine, "web", {
      ...roleFiles("x"),
      "defaults/main.yml": "port: 8080\ntls: yes\nnames: [a]\n",
      "meta/argument_specs.yml":
        "argument_specs:\n  main:\n    options:\n      port: {type: int, description: [Where it listens, From 1], choices: [80, 8080]}\n      secret: {type: str, required: true}\n",
    })
    expect(await vars("web")).toEqual({
      roles: [
        {
          name: "web",
          vars: { port: 8080, tls: true, names: ["a"] },
          variables: [
            { name: "names", type: "list", default: ["a"] },
            { name: "port", type: "int", description: "Where it listens\nFrom 1", default: 8080, choices: [80, 8080] },
            { name: "secret", type: "str", required: true },
            { name: "tls", type: "bool", default: true },
          ],
        },
      ],
    })
  })

  it("are the user's before the global ones, in the requested order, and none for a role that is not installed", async () => {
    const defaults = (text: string) => ({ ...roleFiles("x"), "defaults/main.yml": `who: ${text}\n` })
    await place(mine, "web", defaults("me"))
    for (const name of ["web", "db"]) await place(everybodys, name, defaults("all"))
    expect(await vars("db", "web", "none", "../../web")).toMatchObject({
      roles: [
        { name: "db", global: true, vars: { who: "all" } },
        { name: "web", vars: { who: "me" } },
        { name: "none", vars: {} },
        { name: "../../web", vars: {} },
      ],
    })
  })

  it.each(["[]", "just text", "a: [", "a: &a [*a]", "", "\0"])("of defaults that are %j are none", async (text) => {
    await place(mine, "web", { ...roleFiles("x"), "defaults/main.yml": text })
    expect(await vars("web")).toMatchObject({ roles: [{ name: "web", vars: {} }] })
  })

  it("are not read without a name", async () => {
    expect(await app.fails("GetRoleVars", ada, { body: { roles: [] } })).toMatchObject({ kind: "invalid" })
  })
})
