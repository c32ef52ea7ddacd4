import { commitTo, type MemoryFiles } from "@rangewright/adapter-memory"
import type { RecordId, SourceId, User } from "@rangewright/domain"
import { ArtifactLibrary, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it, vi } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let ada: User
let bob: User
let boss: User
beforeEach(async () => {
  app = makeTestApp({ settings: { templateBuilds: 1 } })
  ada = await app.addUser("ADA")
  bob = await app.addUser("BOB")
  boss = await app.addUser("BOSS", { isAdmin: true })
  app.builds.script = () => ({ prints: [], seconds: 0.01 })
  await app.observe([])
})

const builder = (name: string, more = "") => `variable "vm_name" {\n  default = "${name}"\n}\n${more}`
const shipping = (more = ""): MemoryFiles => ({ "templates/debian/debian.pkr.hcl": builder("debian", more) })
const urlOf = (name: string) => `https://git.example/${name}.git`

/** A source of the user, from this repository. */
const addSource = (owner: User, id: string, repository: string) =>
  app.run(
    Sources.use((sources) =>
      sources.create({
        recordId: `source${id}`.padEnd(15, "0") as RecordId,
        id: id as SourceId,
        owner: owner.id,
        type: "git",
        url: urlOf(repository),
        ref: "HEAD",
        path: "",
        name: id,
        access: undefined,
        schedule: undefined,
        nextSyncAt: undefined,
        createdAt: new Date(0),
      }),
    ),
  )
const ship = (repository: string, files: MemoryFiles) => commitTo(app.artifacts.content, urlOf(repository), files)
const install = async (user: User, id: string, body = {}) =>
  (
    (await app.call("installSource", user, { path: { sourceID: id }, body })) as {
      readonly templateResults: readonly { readonly name: string; readonly ok: boolean; readonly message?: string }[]
    }
  ).templateResults
const upload = (user: User, name: string) => {
  app.artifacts.content.archives.set(`/${name}`, { [`${name}/x.pkr.hcl`]: builder(name) })
  const file = { filename: name, contentType: "application/x-tar", size: 0, path: `/${name}` }
  return app.call("addTemplateFromTar", user, { body: { force: false }, file })
}
/** Places the files of a template, as an earlier version allowed; without a user, those of the service. */
const place = (user: User | undefined, text: string, name = "debian") => {
  const bytes = new TextEncoder().encode(text)
  return app.run(
    ArtifactLibrary.use((library) =>
      library.place(
        { scope: user === undefined ? { type: "global" } : { type: "user", userId: user.id }, kind: "template", name },
        [{ kind: "file", path: "debian.pkr.hcl", size: bytes.length, executable: false, read: Effect.succeed(bytes) }],
        { replace: true },
      ),
    ),
  )
}
const start = (user: User, ...templates: readonly string[]) =>
  app.call("buildTemplates", user, { body: { templates } }) as Promise<{
    readonly result: string
    readonly builds: readonly { readonly runID: string }[]
  }>
const taken = "debian is already present on the server, and names of templates must be unique"

describe("the name of another user's template", () => {
  it("is not given to a template of a source, unless an administrator installs it", async () => {
    await upload(ada, "debian")
    ship("evil", shipping())
    await addSource(bob, "evil", "evil")
    await addSource(boss, "good", "evil")
    for (const force of [false, true])
      expect(await install(bob, "evil", { force })).toEqual([{ name: "debian", ok: false, message: taken }])
    expect(await app.fails("buildTemplates", bob, { body: { templates: ["debian"] } })).toMatchObject({ kind: "not-found" })
    expect(await install(boss, "good")).toEqual([{ name: "debian", ok: true }])
  })

  it("is not built from other files, which a member may have from before", async () => {
    await upload(ada, "debian")
    await place(bob, builder("debian", "# evil\n"))
    expect(await app.fails("buildTemplates", bob, { body: { templates: ["debian"] } })).toMatchObject({
      kind: "forbidden",
      message: `Cannot build template debian: ${taken}: another user has a template of this name, too`,
      hint: expect.stringContaining("an administrator may delete the other one (DELETE /template/debian with userID)"),
    })
    expect(await start(bob, "all")).toMatchObject({
      result: "Nothing to build. Skipped: debian differs from the template of this name that is already present on the server.",
      builds: [],
    })
    await place(boss, builder("debian", "# golden\n"))
    const { builds } = await start(boss, "debian")
    await app.ended(builds[0]?.runID ?? "")
    expect(await app.call("getTemplates", ada)).toMatchObject([{ name: "debian", built: true }])
  })

  it("blocks both of two members with different files, until an administrator deletes one of them", async () => {
    await place(ada, builder("debian", "# hers\n"))
    await place(bob, builder("debian", "# his\n"))
    for (const user of [ada, bob])
      expect(await app.fails("buildTemplates", user, { body: { templates: ["debian"] } })).toMatchObject({
        message: expect.stringContaining(taken),
        hint: expect.not.stringMatching(/ADA|BOB/u),
      })
    // as an administrator who acts for him
    await app.call("deleteTemplate", bob, { path: { name: "debian" } })
    const { builds } = await start(ada, "debian")
    await app.ended(builds[0]?.runID ?? "")
    expect(await app.call("getTemplates", ada)).toMatchObject([{ name: "debian", built: true }])
  })

  it("of one that comes with the service is built by a member who deletes their own files", async () => {
    await place(bob, builder("debian", "# his\n"))
    await place(undefined, builder("debian"))
    expect(await app.fails("buildTemplates", bob, { body: { templates: ["debian"] } })).toMatchObject({
      message: `Cannot build template debian: ${taken}: other files of this name come with the service`,
      hint: "Change vm_name in yours, or delete yours (DELETE /template/debian) to build that one.",
    })
    await app.call("deleteTemplate", bob, { path: { name: "debian" } })
    const { builds } = await start(bob, "debian")
    await app.ended(builds[0]?.runID ?? "")
    expect(await app.call("getTemplates", bob)).toMatchObject([{ name: "debian", built: true }])
  })

  it("is everybody's who has the same files from the same repository", async () => {
    ship("labs", shipping())
    await addSource(ada, "adas", "labs")
    await addSource(bob, "bobs", "labs")
    for (const [user, id] of [
      [ada, "adas"],
      [bob, "bobs"],
    ] as const)
      expect(await install(user, id)).toEqual([{ name: "debian", ok: true }])
    const { builds } = await start(bob, "debian")
    await app.ended(builds[0]?.runID ?? "")
    expect(await app.call("getTemplates", ada)).toMatchObject([{ name: "debian", built: true }])
  })

  it("is not compared with files from elsewhere, so that nobody finds out what others have", async () => {
    await upload(ada, "debian")
    ship("guess", { "templates/debian/x.pkr.hcl": builder("debian") })
    await addSource(bob, "guess", "guess")
    expect(await install(bob, "guess")).toEqual([{ name: "debian", ok: false, message: taken }])
  })

  it("is not taken by files that were replaced while the build waited", async () => {
    ship("labs", shipping())
    await addSource(ada, "adas", "labs")
    await addSource(bob, "bobs", "labs")
    await install(ada, "adas")
    await install(bob, "bobs")
    await upload(ada, "kali")
    app.builds.script = () => ({ prints: [], seconds: 3600 })
    await start(ada, "kali")
    await vi.waitFor(() => expect(app.builds.processes.size).toBe(1))
    const { builds } = await start(bob, "debian")
    await place(bob, builder("debian", "# evil\n"))
    await app.call("abortTemplates", ada)
    const runID = builds[0]?.runID ?? ""
    await app.ended(runID)
    expect(await app.call("getRun", bob, { path: { runID } })).toMatchObject({
      status: "failure",
      message: expect.stringContaining(taken) as string,
    })
    expect(app.builds.begun.map(({ template }) => template)).toEqual(["kali"])
  })

  it("is decided by reading the sources as often for many templates as for one", async () => {
    const many = ["debian", "kali", "win10", "win11"]
    const folders = (names: readonly string[]): MemoryFiles =>
      Object.fromEntries(names.map((name) => [`templates/${name}/x.pkr.hcl`, builder(name)]))
    ship("one", folders(["first"]))
    ship("many", folders(many))
    for (const [user, id, repository] of [
      [ada, "ada1", "one"],
      [ada, "adam", "many"],
      [bob, "bob1", "one"],
      [bob, "bobm", "many"],
    ] as const)
      await addSource(user, id, repository)
    await install(ada, "ada1")
    await install(ada, "adam")
    const list = vi.spyOn(await app.run(Effect.map(Sources, (sources) => sources)), "list")
    const readsOf = async (act: () => Promise<unknown>) => {
      list.mockClear()
      await act()
      return list.mock.calls.length
    }
    const once = await readsOf(() => install(bob, "bob1"))
    expect(once).toBeGreaterThan(0)
    expect(await readsOf(() => install(bob, "bobm"))).toBe(once)
    // files from before, under names that others have: nothing is built
    const [carl, dan] = [await app.addUser("CARL"), await app.addUser("DAN")]
    await place(carl, builder("first"), "first")
    for (const name of many) await place(dan, builder(name), name)
    const first = await readsOf(() => start(carl, "all"))
    expect(first).toBeGreaterThan(0)
    expect(await readsOf(() => start(dan, "all"))).toBe(first)
  })
})
