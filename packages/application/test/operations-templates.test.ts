import { commitTo, type MemoryFiles } from "@rangewright/adapter-memory"
import type { StoredFile } from "@rangewright/application"
import { CannotPlan, type ObservedMachine, type SourceCatalog, type User, type UserId, type Vmid } from "@rangewright/domain"
import { ArtifactLibrary, type LibraryScope, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it, vi } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let ada: User
let bob: User
let boss: User

const machine = (vmid: number, name: string, more: Partial<ObservedMachine> = {}): ObservedMachine => ({
  vmid: vmid as Vmid,
  node: "node1",
  name,
  power: "stopped",
  template: true,
  pool: "SHARED",
  cpus: 2,
  memoryMiB: 4096,
  tags: [],
  ...more,
})

beforeEach(async () => {
  app = makeTestApp({
    settings: { templateBuilds: 2, templateLogins: new Map([["golden", { user: "admin", password: "secret" }]]) },
  })
  ada = await app.addUser("ADA")
  bob = await app.addUser("BOB")
  boss = await app.addUser("BOSS", { isAdmin: true })
  app.builds.script = () => ({ prints: ["==> Creating VM\n"], seconds: 0.01 })
  await app.observe([])
})

const builder = (name: string, more = "") => `variable "vm_name" {\n  default = "${name}"\n}\n${more}`
const archive = (files: MemoryFiles, filename = "folder"): StoredFile => {
  const path = `/upload/${filename}-${app.artifacts.content.archives.size}`
  app.artifacts.content.archives.set(path, files)
  return { filename, contentType: "application/x-tar", size: 0, path }
}
const add = (user: User, files: MemoryFiles, force = false) =>
  app.call("addTemplateFromTar", user, { body: { force }, file: archive(files) }) as Promise<{ readonly result: string }>
const addFails = (user: User, files: MemoryFiles, force = false) =>
  app.fails("addTemplateFromTar", user, { body: { force }, file: archive(files) })
const debian: MemoryFiles = { "deb/deb.pkr.hcl": builder("debian"), "deb/http/preseed.cfg": "d-i\n" }

interface Item {
  readonly name: string
  readonly status: string
}
const listed = async (user: User) =>
  ((await app.call("getTemplates", user)) as readonly Item[]).map(({ name, status }) => `${name} ${status}`)
const textOf = async (user: User, name: string, path: string) =>
  app.run(
    Effect.gen(function* () {
      const files = yield* (yield* ArtifactLibrary).files({ scope: { type: "user", userId: user.id }, kind: "template", name })
      const file = files?.find((entry) => entry.path === path)
      return file?.kind === "file" ? new TextDecoder().decode(yield* file.read) : undefined
    }),
  )
interface Built {
  readonly result: string
  readonly builds: readonly { readonly template: string; readonly runID: string }[]
}
const start = (user: User, templates: readonly string[], parallel?: number) =>
  app.call("buildTemplates", user, {
    body: { templates, ...(parallel === undefined ? {} : { parallel }) },
  }) as Promise<Built>
const build = async (user: User, templates: readonly string[]) => {
  const { builds } = await start(user, templates)
  for (const { runID } of builds) await app.ended(runID)
  return builds
}
const remove = (user: User, name: string) =>
  app.call("deleteTemplate", user, { path: { name } }) as Promise<{ readonly result: string }>
const removeFails = (user: User, name: string) => app.fails("deleteTemplate", user, { path: { name } })
const hold = () => {
  app.builds.script = () => ({ prints: ["==> Creating VM\n"], seconds: 3600 })
}
const running = () => vi.waitFor(() => expect(app.builds.processes.size).toBeGreaterThan(0))

describe("a template in an archive", () => {
  it("is named after the machine that it builds, and can be built; its description is listed without reading the file", async () => {
    const { result } = await add(ada, {
      "deb/deb.pkr.hcl": builder("debian", 'variable "os" { default = "win11" }\nvariable "description" { default = "Small" }\n'),
    })
    expect(result).toMatch(/^Successfully added template debian\. .*proxmox_pool/u)
    expect(await app.call("getTemplates", ada)).toEqual([
      { name: "debian", built: false, status: "not_built", os: "windows", description: "Small" },
    ])
    expect(await listed(bob)).toEqual([])
  })

  it("shows its picture to its owner, and serves no other file as a picture", async () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1])
    const named = (name: string, variable: string, path: string) =>
      builder(name, `variable "${variable}" { default = "${path}" }\n`)
    await add(ada, { "a/a.pkr.hcl": named("a", "icon_path", "img/a.png"), "a/img/a.png": png })
    await add(ada, { "b/b.pkr.hcl": named("b", "thumbnail_path", "b.png"), "b/b.png": "<svg onload=alert(1)/>" })
    await add(ada, { "c/c.pkr.hcl": named("c", "icon_path", "../../a/img/a.png") })
    const pictures = ((await app.call("getTemplates", ada)) as readonly { readonly thumbnailUrl?: string }[]).map(
      ({ thumbnailUrl }) => thumbnailUrl,
    )
    expect(pictures).toEqual(["/api/v2/template/a/picture", undefined, undefined])
    const path = { name: "a" }
    expect(await app.call("getTemplatePicture", ada, { path })).toEqual({ contentType: "image/png", bytes: png })
    expect(await app.fails("getTemplatePicture", bob, { path })).toMatchObject({ kind: "not-found" })
    for (const name of ["b", "c", "none", "../a"])
      expect(await app.fails("getTemplatePicture", ada, { path: { name } })).toMatchObject({ kind: "not-found" })
  })

  it("does not replace another one, with texts that clients match", async () => {
    await add(ada, debian)
    expect(await addFails(ada, debian)).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/Template already exists.*--force/u),
    })
    for (const user of [bob, boss]) {
      expect(await addFails(user, debian)).toMatchObject({
        kind: "failed",
        message: expect.stringMatching(/already present on the server.*must be unique/u),
      })
      expect((await addFails(user, debian, true)).message).toContain('"debian" does not belong to you')
    }
    await app.observe([machine(900, "kali")])
    expect(
      (await addFails(ada, { "k/k.pkr.json": JSON.stringify({ variable: { vm_name: { default: "kali" } } }) })).message,
    ).toContain("already present on the server")
  })

  it.each<[string, MemoryFiles, string, string]>([
    ["without a name", { "deb/deb.pkr.hcl": "nothing\n" }, "failed", "Error extracting template name"],
    ["with two builder files", { ...debian, "deb/x/other.pkr.json": "{}" }, "failed", "2 builder files"],
    ["without a builder file", { "deb/README": "" }, "failed", "0 builder files"],
    ["with two folders", { ...debian, "other/x": "" }, "invalid", "exactly one folder"],
    ["with a file beside the folder", { ...debian, x: "" }, "invalid", "exactly one folder"],
    ["with a link", { ...debian, "deb/link": { link: "http/preseed.cfg" } }, "invalid", "is a link"],
    ...["packer_cache", "tmp", "log-history"].map((own): [string, MemoryFiles, string, string] => [
      `whose folder is the tool's own ${own}`,
      { [`${own}/d.pkr.hcl`]: builder("debian") },
      "invalid",
      `cannot be named ${own}`,
    ]),
    [
      "whose builder file is too long",
      { "deb/deb.pkr.hcl": builder("debian", "#".repeat(2_000_000)) },
      "failed",
      "Error extracting",
    ],
    ["whose builder file is deep", { "deb/deb.pkr.hcl": "a = ".concat("[".repeat(200_000)) }, "failed", "Error extracting"],
    ["called as a path", { "deb/deb.pkr.hcl": builder("../../etc") }, "invalid", "a template cannot be named"],
    ["called as an option", { "deb/deb.pkr.hcl": builder("-rf") }, "invalid", "a template cannot be named"],
    ["called as a command", { "deb/deb.pkr.hcl": builder("$(id)") }, "invalid", "a template cannot be named"],
    ["called in two lines", { "deb/deb.pkr.hcl": builder("a\\nb") }, "invalid", "a template cannot be named"],
    ["called by 300 characters", { "deb/deb.pkr.hcl": builder("a".repeat(300)) }, "invalid", "a template cannot be named"],
  ])("%s is refused, and the one that was there stays as it was", async (_what, files, kind, because) => {
    await add(ada, debian)
    for (const force of [false, true])
      expect(await addFails(ada, files, force)).toMatchObject({ kind, message: expect.stringContaining(because) })
    expect(await textOf(ada, "debian", "http/preseed.cfg")).toBe("d-i\n")
    expect(await listed(ada)).toEqual(["debian not_built"])
    expect([...app.artifacts.content.pins.values()].flatMap((holders) => [...holders])).toEqual([])
  })

  it("is replaced by its owner, where that is asked for", async () => {
    await add(ada, debian)
    await add(ada, { ...debian, "deb/http/preseed.cfg": "new\n" }, true)
    expect(await textOf(ada, "debian", "http/preseed.cfg")).toBe("new\n")
  })
})

describe("building", () => {
  it("gives everybody the template, and builds it once, however often it is requested", async () => {
    await add(ada, debian)
    const [first, second] = await Promise.all([start(ada, ["debian"]), start(ada, ["all"])])
    for (const { runID } of [...first.builds, ...second.builds]) await app.ended(runID)
    expect(app.builds.begun).toHaveLength(1)
    expect(await listed(bob)).toEqual(["debian built"])
    expect((await start(ada, ["debian"])).result).toBe("Nothing to build. Skipped: debian is built.")
    expect((await start(ada, ["all"])).result).toBe("Nothing to build.")
  })

  it("builds no more at once than the limit, and shows which builds wait", async () => {
    for (const name of ["a", "b", "c"]) await add(ada, { [`${name}/x.pkr.hcl`]: builder(name) })
    hold()
    expect((await start(ada, ["a", "b", "c", "a"], 100)).result).toMatch(/^Building a, b, c, 2 in parallel/u)
    await vi.waitFor(async () =>
      expect(
        ((await app.call("getTemplatesStatus", bob)) as readonly { readonly phase: string }[])
          .map(({ phase }) => phase)
          .toSorted(),
      ).toEqual(["queued", "running", "running"]),
    )
    expect(await listed(ada)).toEqual(["a building", "b building", "c building"])
    expect(await app.call("getTemplatesStatus", bob)).toContainEqual({ template: "a", user: "ada", phase: expect.any(String) })
    expect(await app.call("abortTemplates", ada)).toEqual({ result: expect.stringMatching(/^Aborted the build of/u) })
    expect(app.builds.most).toBe(2)
    expect([...app.world.vms.values(), ...app.builds.files]).toEqual([])
  })

  it("accepts only templates that the user can build", async () => {
    await add(ada, debian)
    expect(await app.fails("buildTemplates", bob, { body: { templates: ["debian"] } })).toMatchObject({ kind: "not-found" })
    expect(await app.fails("buildTemplates", ada, { body: { templates: [] } })).toMatchObject({ kind: "invalid" })
    expect(app.builds.begun).toEqual([])
  })

  it.each([undefined, 0, -1])("builds one after another where %s at once are asked for", async (parallel) => {
    await add(ada, debian)
    const body = { templates: ["all"], ...(parallel === undefined ? {} : { parallel }) }
    expect(await app.call("buildTemplates", ada, { body })).toMatchObject({
      result: expect.stringContaining("Building debian, 1 in parallel") as string,
    })
  })

  it("says what the host lacks, before anything is queued", async () => {
    await add(ada, debian)
    app.builds.available = {
      available: false,
      because: ["packer is not installed", "xorriso is not installed"],
      hint: "Install them.",
    }
    expect(await app.fails("buildTemplates", ada, { body: { templates: ["all"] } })).toMatchObject({
      kind: "failed",
      message: "Cannot build templates: packer is not installed; xorriso is not installed",
      hint: "Install them.",
    })
    expect(await app.call("getTemplateLogHistory", ada)).toEqual([])
  })

  it("is aborted for the caller only, and can be started again at once", async () => {
    await add(ada, debian)
    await add(bob, { "k/k.pkr.hcl": builder("kali") })
    hold()
    await start(ada, ["debian"])
    await start(bob, ["kali"])
    await vi.waitFor(() => expect(app.builds.processes.size).toBe(2))
    await app.call("abortTemplates", ada)
    expect(await app.fails("abortTemplates", ada)).toMatchObject({ kind: "failed" })
    expect(app.builds.processes.size).toBe(1)
    expect((await start(ada, ["debian"])).builds).toHaveLength(1)
    await app.call("abortTemplates", ada)
    await app.call("abortTemplates", bob)
  })
})

describe("templates that are left to administrators", () => {
  it("are neither uploaded nor built by members", async () => {
    app = makeTestApp({ settings: { onlyAdminsBuildTemplates: true } })
    ada = await app.addUser("ADA")
    boss = await app.addUser("BOSS", { isAdmin: true })
    app.builds.script = () => ({ prints: [], seconds: 0.01 })
    await app.observe([])
    const because = expect.stringContaining("only administrators may manage templates on this service")
    expect(await addFails(ada, debian)).toMatchObject({ kind: "forbidden", message: because })
    expect(await app.fails("buildTemplates", ada, { body: { templates: ["all"] } })).toMatchObject({
      kind: "forbidden",
      message: because,
    })
    await add(boss, debian)
    await build(boss, ["debian"])
    expect(await listed(ada)).toEqual(["debian built"])
  })
})

describe("the builds of one user", () => {
  it("are 10 at most, waiting ones too; the others are named, and others' builds do not count", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `t${String(n).padStart(2, "0")}`)
    for (const name of names) await add(ada, { [`${name}/x.pkr.hcl`]: builder(name) })
    await add(bob, debian)
    hold()
    const [first, second] = await Promise.allSettled([start(ada, ["all"]), start(ada, names.toReversed())])
    const all = [first, second].flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    expect(all.flatMap(({ builds }) => builds)).toHaveLength(10)
    expect(all.map(({ result }) => result).join()).toContain("needs another request later: each user may have at most 10 builds")
    expect(await app.fails("buildTemplates", ada, { body: { templates: ["all"] } })).toMatchObject({
      kind: "conflict",
      message: "Cannot build templates: you already have 10 builds waiting or running, and the limit is 10",
    })
    expect((await start(bob, ["debian"])).builds).toHaveLength(1)
    await app.call("abortTemplates", ada)
    expect((await start(ada, ["t11"])).builds).toHaveLength(1)
    for (const user of [ada, bob]) await app.call("abortTemplates", user)
  })
})

describe("a name that the service itself uses", () => {
  const router = "debian-11-x64-server-template"
  const files: MemoryFiles = { "deb/deb.pkr.hcl": builder(router) }
  const place = (scope: LibraryScope, name: string) => {
    const bytes = new TextEncoder().encode(builder(name))
    return app.run(
      ArtifactLibrary.use((library) =>
        library.place(
          { scope, kind: "template", name },
          [{ kind: "file", path: "s.pkr.hcl", size: bytes.length, executable: false, read: Effect.succeed(bytes) }],
          { replace: true },
        ),
      ),
    )
  }

  it("is an administrator's to upload", async () => {
    const refused = {
      kind: "forbidden",
      message: expect.stringContaining(`Cannot add template ${router}: the service itself uses`),
    }
    for (const force of [false, true]) expect(await addFails(ada, files, force)).toMatchObject(refused)
    expect(await addFails(ada, { "k/k.pkr.hcl": builder("golden") })).toMatchObject({ kind: "forbidden" })
    await add(boss, files)
    expect(await listed(boss)).toEqual([`${router} not_built`])
  })

  it("is not built from a member's files, however they came; from the service's own it is", async () => {
    await place({ type: "user", userId: ada.id }, router)
    await add(ada, debian)
    expect(await app.fails("buildTemplates", ada, { body: { templates: [router, "debian"] } })).toMatchObject({
      kind: "forbidden",
      message: expect.stringContaining(`Cannot build template ${router}`),
    })
    const { result, builds } = await start(ada, ["all"])
    expect(result).toContain(`Skipped: ${router} can only be built by an administrator`)
    expect(builds.map(({ template }) => template)).toEqual(["debian"])
    for (const { runID } of builds) await app.ended(runID)
    await place({ type: "global" }, router)
    expect((await build(bob, [router])).map(({ template }) => template)).toEqual([router])
    expect(await listed(bob)).toContain(`${router} built`)
  })
})

describe("a template of the same name that is anywhere else on the hypervisor", () => {
  const elsewhere = (pool: string) =>
    app.world.vms.set(900 as Vmid, {
      ...machine(900, "debian", { pool }),
      balloonMiB: undefined,
      description: "",
      nics: [],
      storage: "local",
      agentAt: undefined,
      addresses: [],
      sessions: [],
      stages: new Map(),
      name: "debian",
      memoryMiB: 1,
    })

  it("keeps one from being built", async () => {
    await add(ada, debian)
    elsewhere("GOLDEN")
    const [run] = await build(ada, ["debian"])
    const page = (await app.call("getTemplateLogHistoryByID", ada, { path: { logID: run?.runID ?? "" } })) as { result: string }
    expect(page.result).toContain("there is another template with this name, VM 900 in pool GOLDEN")
    expect(app.builds.begun).toEqual([])
    expect([...app.world.vms.keys()]).toEqual([900])
  })

  it("counts only for its range if it is in the pool of one", async () => {
    await add(ada, debian)
    await app.addRange("LAB", [bob])
    elsewhere("LAB")
    await build(ada, ["debian"])
    expect(await listed(ada)).toEqual(["debian built"])
  })

  it("prevents the adoption of one that was built meanwhile", async () => {
    await add(ada, debian)
    app.builds.script = () => {
      elsewhere("GOLDEN")
      return { prints: ["==> Creating VM\n"], seconds: 0.01 }
    }
    const [run] = await build(ada, ["debian"])
    const page = (await app.call("getTemplateLogHistoryByID", ada, { path: { logID: run?.runID ?? "" } })) as { result: string }
    expect(page.result).toContain("there is another template with this name, VM 900 in pool GOLDEN")
    expect([...app.world.vms.keys()]).toEqual([900])
  })
})

describe("the log of a build", () => {
  const page = (user: User, query = {}) =>
    app.call("getPackerLogs", user, { query }) as Promise<{ readonly result: string; readonly cursor: number }>

  it("grows for its followers, is kept, and is only for the user and administrators", async () => {
    await add(ada, debian)
    expect(await app.fails("getPackerLogs", ada)).toMatchObject({ kind: "failed" })
    hold()
    const { builds } = await start(ada, ["debian"])
    const id = builds[0]?.runID ?? ""
    await running()
    await vi.waitFor(async () => expect((await page(ada)).result).toContain("==> Creating VM"))
    const { cursor } = await page(ada, { logID: id })
    for (const user of [bob, boss]) {
      expect(await app.fails("getPackerLogs", user)).toMatchObject({ kind: "failed" })
      expect(await app.fails("getPackerLogs", user, { query: { logID: id } })).toMatchObject({ kind: "invalid" })
    }
    await app.call("abortTemplates", ada)
    const rest = await page(ada, { cursor })
    expect(rest.result).toContain("=> Build aborted")
    expect(rest.result).not.toContain("Creating VM")
    expect(await app.fails("getPackerLogs", ada, { query: { logID: id } })).toMatchObject({ kind: "invalid" })

    expect(await app.call("getTemplateLogHistory", ada)).toMatchObject([{ id, template: "debian", status: "aborted" }])
    expect(await app.call("getTemplateLogHistory", bob)).toEqual([])
    const entry = (user: User, logID = id) => app.call("getTemplateLogHistoryByID", user, { path: { logID } })
    for (const user of [ada, boss])
      expect(await entry(user)).toMatchObject({ id, status: "aborted", result: expect.stringContaining("=>") })
    expect(await app.fails("getTemplateLogHistoryByID", bob, { path: { logID: id } })).toMatchObject({ kind: "forbidden" })
    expect(await app.fails("getTemplateLogHistoryByID", boss, { path: { logID: "x" } })).toMatchObject({
      kind: "not-found",
      message: expect.stringContaining("Log entry not found"),
    })
  })

  it("does not belong to the next user with the ID of a removed one, and neither does what was built", async () => {
    await add(ada, debian)
    const [first] = await build(ada, ["debian"])
    const again = await app.run(
      Effect.gen(function* () {
        const users = yield* Users
        yield* (yield* ArtifactLibrary).removeUser(ada, users.remove(ada.id))
        return yield* users.create({
          ...ada,
          recordId: "another00000000" as never,
          email: "other@lab.example",
          secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "" },
        })
      }),
    )
    expect(again.id).toBe("ADA" as UserId)
    expect(await app.call("getTemplateLogHistory", again)).toEqual([])
    expect(await app.fails("getTemplateLogHistoryByID", again, { path: { logID: first?.runID ?? "" } })).toMatchObject({
      kind: "forbidden",
    })
    expect(await app.fails("getRun", again, { path: { runID: first?.runID } })).toMatchObject({ kind: "forbidden" })
    expect(await removeFails(again, "debian")).toMatchObject({ kind: "invalid" })
  })
})

/** A configuration with a machine of each of these templates. */
const uses = (...names: readonly string[]) =>
  `ludus:\n${names.map((name, n) => `  - {vm_name: m${n}, hostname: m${n}, template: ${name}, vlan: 10, ip_last_octet: ${n + 11}, ram_gb: 2, cpus: 1, linux: true}\n`).join("")}`

describe("a configuration", () => {
  it("that names templates which are not built is refused with their names, the reasons, and the one call that builds them", async () => {
    await app.observe([machine(900, "debian-11-x64-server-template")])
    await add(ada, debian)
    await add(ada, { "k/k.pkr.hcl": builder("kali") })
    const range = await app.addRange("LAB", [ada])
    const bytes = new TextEncoder().encode(uses("kali", "debian", "nothing"))
    const fault = await app.fails("putConfig", ada, { range, body: {}, file: { filename: "file", contentType: "", bytes } })
    const messages = fault.issues.map(({ message }) => message)
    const call = 'build with POST /templates {"templates":["debian","kali"]}'
    expect(messages).toEqual([
      expect.stringMatching(/the template "kali" is not built/u),
      expect.stringMatching(/the template "debian" is not built/u),
      expect.stringMatching(/there is no template "nothing"/u),
    ])
    for (const message of messages) expect(message).toContain(call)
  })
})

describe("what needs templates", () => {
  const url = "https://git.example/acme/labs.git"
  const wanted = ["built-one", "building-one", "own-one", "shipped-one", "nobodys-one"]
  const files: MemoryFiles = {
    "blueprints/lab/blueprint.yml": "id: lab\nname: Lab\nversion: 1.0.0\nconfig: config.yml\n",
    "blueprints/lab/config.yml": uses(...wanted),
    ...Object.fromEntries(["shipped-one", "own-one", "unused-one"].map((name) => [`templates/${name}/t.pkr.hcl`, builder(name)])),
  }
  const statuses = (ofShipped: string) =>
    ["built", "building", "not_built", ofShipped, "missing"]
      .map((status, at) => ({ name: wanted[at] ?? "", built: at === 0, status }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))

  it("is told the same by sources, blueprints and deploys: what is built, what is being built, what could be and how, and what is missing", async () => {
    commitTo(app.artifacts.content, url, files)
    await app.observe([machine(900, "built-one"), machine(901, "debian-11-x64-server-template")])
    const { sourceID } = (await app.call("createSource", ada, { body: { type: "git", url } })) as { readonly sourceID: string }
    const install = (selection: object) => app.call("installSource", ada, { path: { sourceID }, body: { selection } })
    await install({ templates: ["own-one"] })
    await add(ada, { "b/b.pkr.hcl": builder("building-one") })
    hold()
    await start(ada, ["building-one"])
    const catalog = JSON.parse((await app.call("getSourceCatalog", ada, { path: { sourceID } })) as string) as SourceCatalog
    expect(catalog.blueprints.items).toMatchObject([{ id: "lab", templateStatus: statuses("missing") }])
    expect(catalog.templates).toEqual([
      { name: "own-one", state: "installed", status: "not_built", requiredBy: ["lab"] },
      { name: "shipped-one", state: "not_installed", status: "missing", requiredBy: ["lab"] },
      { name: "unused-one", state: "not_installed", status: "missing" },
    ])
    expect(await app.call("listSourceTemplates", ada, { path: { sourceID } })).toEqual([{ name: "own-one", status: "not_built" }])
    // a blueprint brings the templates of its source that it names
    await install({ blueprints: ["lab"] })
    const blueprintID = `${sourceID}/lab`
    expect(await app.call("getBlueprintDetail", ada, { path: { blueprintID } })).toMatchObject({
      templateStatus: statuses("not_built"),
    })

    const range = await app.addRange("LAB", [ada])
    const said = [
      'build with POST /templates {"templates":["own-one","shipped-one"]}',
      "wait for the build of building-one",
      'add "nobodys-one" with PUT /templates or from a source, or use others',
    ]
    const refused = await app.fails("applyBlueprintToRange", ada, { path: { blueprintID }, range, body: {} })
    expect(refused.issues).toHaveLength(4)
    for (const { message } of refused.issues) for (const part of said) expect(message).toContain(part)
    app.runs.planning = () => {
      const templates = wanted.slice(1).toSorted()
      return Effect.fail(new CannotPlan({ doing: "deploy", issues: [{ code: "template-missing", message: "", templates }] }))
    }
    for (const [operation, request] of [
      ["planRange", {}],
      ["deployRange", {}],
      ["deployRange", { body: { dryRun: true } }],
    ] as const) {
      const fault = await app.fails(operation, ada, { range, ...request })
      expect(fault.message).toBe(
        'Cannot deploy: the template "building-one" is still being built, there is no template "nobodys-one", the template "own-one" is not built, the template "shipped-one" is not built',
      )
      expect(fault.hint?.toLowerCase()).toBe(`${said.join("; ").toLowerCase()}.`)
    }
    await app.call("abortTemplates", ada)
  })
})

describe("deleting a template", () => {
  it("takes what its owner has built, and the files", async () => {
    await add(ada, debian)
    await build(ada, ["debian"])
    expect(await removeFails(bob, "debian")).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("does not belong to you"),
    })
    expect((await remove(ada, "debian")).result).toBe("Template debian was deleted")
    expect([await listed(ada), [...app.world.vms.keys()]]).toEqual([[], []])
    expect(await removeFails(ada, "debian")).toMatchObject({ kind: "not-found" })
    expect(await removeFails(ada, "../x")).toMatchObject({ kind: "not-found" })
  })

  it("is refused while machines are linked to it, which are named, and keeps the files", async () => {
    await add(ada, debian)
    await build(ada, ["debian"])
    const [vm] = [...app.world.vms.values()]
    if (vm === undefined) throw new Error("nothing was built")
    const clone = { ...vm, vmid: 300 as Vmid, name: "LAB-web", template: false, pool: "LAB", clonedFrom: vm.vmid }
    app.world.vms.set(clone.vmid, clone)
    expect(await removeFails(ada, "debian")).toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("LAB-web (VM 300)"),
    })
    expect(await listed(ada)).toEqual(["debian built"])
    expect(app.world.vms.size).toBe(2)
  })

  it("is refused while it is built", async () => {
    await add(ada, debian)
    hold()
    await start(ada, ["debian"])
    await running()
    for (const user of [ada, boss]) expect(await removeFails(user, "debian")).toMatchObject({ kind: "conflict" })
    await app.call("abortTemplates", ada)
    expect(await listed(ada)).toEqual(["debian not_built"])
  })

  it("leaves what others have built, even for a user with files of that name", async () => {
    // built by hand, or by somebody whose files a source brought
    app.world.vms.set(900 as Vmid, {
      ...machine(900, "kali"),
      balloonMiB: undefined,
      description: "",
      nics: [],
      storage: "local",
      agentAt: undefined,
      addresses: [],
      sessions: [],
      stages: new Map(),
      name: "kali",
      memoryMiB: 1,
    })
    await app.observe([
      machine(900, "kali"),
      machine(901, "in-range", { pool: "LAB" }),
      machine(902, "half", { pool: "rw-build-aaaaaaaaaaaaaaa" }),
    ])
    await app.run(
      ArtifactLibrary.use((library) =>
        library.place(
          { scope: { type: "user", userId: ada.id }, kind: "template", name: "kali" },
          [{ kind: "file", path: "k.pkr.hcl", size: 0, executable: false, read: Effect.succeed(new Uint8Array()) }],
          { replace: true },
        ),
      ),
    )
    expect(await listed(ada)).toContain("kali built")
    expect((await remove(ada, "kali")).result).toContain("somebody else built stays")
    expect(app.world.vms.has(900 as Vmid)).toBe(true)
    expect(await removeFails(ada, "kali")).toMatchObject({ kind: "invalid" })
    for (const name of ["in-range", "half"]) expect(await removeFails(boss, name)).toMatchObject({ kind: "not-found" })
    expect((await remove(boss, "kali")).result).toBe("The built template kali was removed")
    expect(app.world.vms.has(900 as Vmid)).toBe(false)
  })

  it("that comes with the service only removes the VM, and is for administrators", async () => {
    const bytes = new TextEncoder().encode(builder("shipped"))
    await app.run(
      ArtifactLibrary.use((library) =>
        library.place(
          { scope: { type: "global" }, kind: "template", name: "shipped" },
          [{ kind: "file", path: "s.pkr.hcl", size: bytes.length, executable: false, read: Effect.succeed(bytes) }],
          { replace: true },
        ),
      ),
    )
    expect((await addFails(ada, { "s/s.pkr.hcl": builder("shipped") }, true)).message).toContain(
      '"shipped" does not belong to you',
    )
    await build(boss, ["shipped"])
    expect(await removeFails(bob, "shipped")).toMatchObject({ kind: "forbidden" })
    expect((await remove(boss, "shipped")).result).toContain("definition is part of the server and stays")
    expect(await listed(bob)).toEqual(["shipped not_built"])
  })
})

describe("a check", () => {
  const base = "https://images.example/12"
  const sum = "a".repeat(64)
  const withImage = (name: string, url: string, checksum: string): MemoryFiles => ({
    [`${name}/x.pkr.hcl`]: builder(name, `source "a" "b" {\n  iso_url = "${url}"\n  iso_checksum = "${checksum}"\n}\n`),
  })
  const check = (user: User, name?: string) => app.call("checkTemplates", user, name === undefined ? {} : { query: { name } })
  const image = async (user: User, name: string) =>
    ((await check(user, name)) as readonly { readonly images: readonly unknown[] }[])[0]?.images[0]

  it("reports what exists, what is gone, and what only a build would show", async () => {
    await add(ada, withImage("good", `${base}/a.iso`, `sha256:${sum}`))
    await add(ada, withImage("old", `${base}/b.iso`, `sha256:${sum}`))
    await add(ada, withImage("wrong", `${base}/c.iso`, `sha256:${sum}`))
    await add(ada, withImage("listed", `${base}/c.iso`, `file:${base}/SHA256SUMS`))
    await add(ada, withImage("unlisted", `${base}/d.iso`, sum))
    await add(ada, withImage("open", `${base}/a.iso`, "none"))
    await add(ada, withImage("away", "http://10.0.0.1/x.iso", sum))
    await add(ada, { "none/x.pkr.hcl": builder("none") })
    const there = { state: "there", bytes: 600, lastModified: "yesterday" } as const
    for (const name of ["a", "c", "d"]) app.names.files.set(`${base}/${name}.iso`, there)
    app.names.files.set(`${base}/SHA256SUMS`, `${sum}  a.iso\n${"b".repeat(64)}  c.iso\n`)
    app.names.files.set("http://10.0.0.1/x.iso", { state: "unknown", because: "it is not public" })
    expect(await image(ada, "good")).toEqual({ url: `${base}/a.iso`, file: there, checksum: { state: "matches" } })
    expect(await image(ada, "old")).toMatchObject({ file: { state: "gone" }, checksum: { because: "the image itself is gone" } })
    expect(await image(ada, "wrong")).toMatchObject({
      checksum: { state: "differs", because: `${base}/SHA256SUMS has a different one: ${"b".repeat(64)}` },
    })
    expect(await image(ada, "listed")).toMatchObject({ checksum: { state: "matches" } })
    expect(await image(ada, "unlisted")).toMatchObject({ checksum: { state: "not_checked" } })
    expect(await image(ada, "open")).toMatchObject({ checksum: { state: "none" } })
    expect(await image(ada, "away")).toMatchObject({
      file: { state: "not_checked", because: "it is not public" },
      checksum: { state: "not_checked", because: "the image itself was not checked" },
    })
    expect(await check(ada, "none")).toEqual([
      { template: "none", images: [], notChecked: "it is not installed from a disc image" },
    ])
    app.names.asked.length = 0
    expect(await check(ada)).toHaveLength(8)
    // each once, however often it is named
    expect(new Set(app.names.asked).size).toBe(app.names.asked.length)
    expect(app.builds.begun).toEqual([])
  })

  it("reports the end of a Windows evaluation, counted from the build", async () => {
    const url = `${base}/SERVER_EVAL_x64FRE.iso`
    await add(ada, withImage("win", url, sum))
    const evaluation = async () => ((await check(ada)) as readonly { readonly evaluation?: unknown }[])[0]?.evaluation
    expect(await evaluation()).toEqual({
      state: "not_checked",
      days: 180,
      because: "no build of it by the service is on record",
    })
    await build(ada, ["win"])
    expect(await evaluation()).toEqual({
      state: "runs",
      days: 180,
      builtAt: expect.any(String),
      endsAt: expect.any(String),
    })
  })

  it("covers the user's own templates and the global ones", async () => {
    await add(ada, withImage("mine", `${base}/a.iso`, "none"))
    expect(await check(bob)).toEqual([])
    expect(await app.fails("checkTemplates", bob, { query: { name: "mine" } })).toMatchObject({ kind: "not-found" })
    expect(app.names.asked).toEqual([])
  })
})
