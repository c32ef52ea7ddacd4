import { commitTo, type MemoryFiles, offerRole, publishTo } from "@rangewright/adapter-memory"
import type { BlueprintId, RecordId, SourceId, User } from "@rangewright/domain"
import { ArtifactLibrary, Blueprints, ContentFetcher, type LibraryScope, RunJournal, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

const url = "https://git.example/acme/labs.git"
const configWith = (...roles: readonly string[]) => `ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 2
    cpus: 2
    linux: true
    roles: [${roles.join(", ")}]
`
const webConfig = configWith("acme.hello", "acme.util.one", "pub.docker")
const webRequirements = "roles:\n  - {name: acme.hello}\n  - {name: pub.docker, version: 7.4.4}\ncollections: [acme.util]\n"
const labs: MemoryFiles = {
  "source.yml": "name: Acme Labs\nauthors: [Acme]\nhomepage: https://acme.example\nlicense: MIT\n",
  "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.0.0\nconfig: range-config.yml\n",
  "blueprints/web/range-config.yml": webConfig,
  "blueprints/web/requirements.yml": webRequirements,
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {namespace: acme, role_name: hello}\n",
  "ansible/roles/hello/meta/version.yml": "version: 2.0.0\n",
  "ansible/roles/hello/tasks/main.yml": "[]\n",
  "ansible/roles/unused/tasks/main.yml": "[]\n",
  "ansible/collections/util/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\n",
  "ansible/collections/util/roles/one/tasks/main.yml": "[]\n",
}

const file = (path: string, text = "---\n") => {
  const bytes = new TextEncoder().encode(text)
  return { kind: "file" as const, path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
}

let app: TestApp
let admin: User
let ada: User
let bob: User
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  commitTo(app.artifacts.content, url, labs)
  const { galaxy } = app.artifacts
  publishTo(galaxy, "role", "pub.docker", "7.4.4", { entries: [file("tasks/main.yml")] })
  publishTo(galaxy, "collection", "pub.tools", "3.0.0", {
    entries: [file("galaxy.yml", "namespace: pub\nname: tools\nversion: 3.0.0\n")],
  })
  // what is published under the names of the source's items is something else
  publishTo(galaxy, "role", "acme.hello", "9.9.9", { entries: [file("tasks/evil.yml")] })
})

const sourceRecord = "source000000001" as RecordId
const web = { path: { blueprintID: "labs/web" } }

/** The source and its installed blueprint, without anything that it requires. */
const installWeb = async (owner = ada) => {
  await app.run(
    Effect.gen(function* () {
      yield* (yield* Sources).create({
        recordId: sourceRecord,
        id: "labs" as SourceId,
        owner: owner.id,
        type: "git",
        url,
        ref: "HEAD",
        path: "",
        name: "Acme Labs",
        access: undefined,
        schedule: undefined,
        nextSyncAt: undefined,
        createdAt: new Date(0),
      })
      const recordId = "blueprint000001" as RecordId
      const { id: snapshot } = yield* (yield* ContentFetcher).fetch({
        location: { type: "git", url },
        holder: `blueprint:${recordId}`,
      })
      yield* (yield* Sources).commitSync(
        { recordId: sourceRecord, id: "labs" as SourceId, url, ref: "HEAD", path: "" },
        { snapshot, manifest: { name: "Acme Labs", authors: ["Acme"], homepage: "https://acme.example", license: "MIT" } },
      )
      yield* (yield* Blueprints).putFromSource([
        {
          id: "labs/web" as BlueprintId,
          recordId,
          owner: owner.id,
          name: "A web server",
          description: "",
          version: "1.0.0",
          tags: ["web"],
          minVersion: "",
          config: webConfig,
          requirements: webRequirements,
          bundle: { snapshot, directory: "blueprints/web" },
          thumbnail: undefined,
          origin: { source: sourceRecord, sourceBlueprintID: "web" },
          createdAt: new Date(0),
        },
      ])
    }),
  )
}

const place = (scope: LibraryScope, name: string, version?: string) =>
  app.run(
    Effect.flatMap(ArtifactLibrary, (library) =>
      library.place({ scope, kind: "role", name }, [file("tasks/main.yml")], {
        ...(version === undefined ? {} : { version }),
        replace: false,
      }),
    ),
  )
const filesOf = (name: string, kind: "role" | "collection", scope: LibraryScope = { type: "user", userId: ada.id }) =>
  app.run(
    Effect.flatMap(ArtifactLibrary, (library) =>
      Effect.map(library.files({ scope, kind, name }), (entries) => entries?.map(({ path }) => path)),
    ),
  )
const requirementsOf = (id: string) => app.run(Effect.flatMap(Blueprints, ({ requirements }) => requirements(id as BlueprintId)))
const detail = async (id: string, as = ada) =>
  (await app.call("getBlueprintDetail", as, { path: { blueprintID: id } })) as Readonly<Record<string, unknown>>
const create = (roles: readonly string[], as = ada, blueprintID = "lab") =>
  app.call("createBlueprint", as, { body: { blueprintID, config: configWith(...roles) } })
const install = (body?: Record<string, unknown>, as = ada, request = web) =>
  app.call("installBlueprintDeps", as, { ...request, body })
const own = { path: { blueprintID: "lab" } }

describe("a new blueprint", () => {
  it("requires the roles of its configuration, and installs the available ones; the others never fail it", async () => {
    expect(await create(["pub.docker", "pub.tools.x", "gone.role"])).toEqual({
      result: "Blueprint lab created",
      blueprintID: "lab",
      ansibleResults: [
        { name: "gone.role", ok: false, error: expect.any(String) as string, type: "role" },
        { name: "pub.docker", version: "7.4.4", ok: true, type: "role" },
        { name: "pub.tools", version: "3.0.0", ok: true, type: "collection" },
      ],
    })
    expect(await requirementsOf("lab")).toBe(
      "roles:\n  - name: gone.role\n  - name: pub.docker\ncollections:\n  - name: pub.tools\n",
    )
    expect(await filesOf("pub.docker", "role")).toContain("tasks/main.yml")
    expect(await detail("lab")).toMatchObject({
      roleStatus: [
        { name: "gone.role", installed: false, subscription: false },
        { name: "pub.docker", installed: true, subscription: false },
        { name: "pub.tools.x", installed: true, subscription: false },
      ],
      lastInstallStatus: "error",
      lastInstallError: expect.stringMatching(/^role gone\.role: /u) as string,
      lastInstalledAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u) as string,
    })
  })

  it("requires the version that is installed, also of one made from a range", async () => {
    await place({ type: "global" }, "pub.docker", "7.0.0")
    await app.addRange("LAB", [ada], configWith("pub.docker"))
    await app.call("createBlueprintFromRange", ada, { body: { blueprintID: "lab", rangeID: "LAB" } })
    expect(await requirementsOf("lab")).toBe("roles:\n  - name: pub.docker\n    version: 7.0.0\n")
  })

  it("is not created with roles that are only on this server", async () => {
    await place({ type: "user", userId: ada.id }, "local_a")
    expect(
      await app.fails("createBlueprint", ada, { body: { blueprintID: "lab", config: configWith("local_a") } }),
    ).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("local_a") as string,
      hint: expect.stringContaining("source") as string,
    })
    expect(app.store.blueprints.size).toBe(0)
  })

  it("without roles requires nothing, and nothing is said of an installation", async () => {
    expect(await create([])).toEqual({ result: "Blueprint lab created", blueprintID: "lab" })
    expect(await requirementsOf("lab")).toBeUndefined()
    expect(await detail("lab")).toMatchObject({ lastInstallStatus: "", lastInstallError: "", lastInstalledAt: "" })
  })
})

describe("installing what a blueprint requires", () => {
  it("is for those who may read it, for everybody only by administrators", async () => {
    await create([])
    expect((await app.fails("installBlueprintDeps", bob, own)).kind).toBe("forbidden")
    expect((await app.fails("installBlueprintDeps", ada, { ...own, body: { global: true } })).kind).toBe("forbidden")
    expect((await app.fails("installBlueprintDeps", ada, { path: { blueprintID: "none" } })).kind).toBe("not-found")
    expect(await install(undefined, ada, own)).toEqual({ blueprintID: "lab", ansibleResults: [] })
    expect(await detail("lab")).toMatchObject({ lastInstallStatus: "ok", lastInstallError: "" })
  })

  it("is a run of the blueprint, which its owner may follow, with a step for each thing; deleting the blueprint takes it along", async () => {
    await installWeb()
    await app.call("shareBlueprintWithUsers", admin, { ...web, body: { userIDs: ["Bob"] } })
    await install(undefined, bob)
    const [run, ...others] = await app.run(
      Effect.flatMap(RunJournal, (journal) => journal.list({ types: ["blueprint"], limit: 9 })),
    )
    expect(others).toEqual([])
    expect(run).toMatchObject({ kind: "blueprint-install", by: "Bob", status: "success" })
    const { steps } = (await app.call("getRun", ada, { path: { runID: run?.id } })) as {
      readonly steps: readonly { readonly title: string }[]
    }
    expect(steps.map(({ title }) => title)).toEqual(
      expect.arrayContaining(["Install role acme.hello", "Install collection acme.util"]) as string[],
    )
    await app.call("deleteBlueprint", ada, web)
    expect(await app.run(Effect.flatMap(RunJournal, (journal) => journal.list({ types: ["blueprint"], limit: 9 })))).toEqual([])
  })

  it("takes shipped items from the snapshot that the blueprint was installed from, and never from elsewhere", async () => {
    await installWeb()
    commitTo(app.artifacts.content, url, { ...labs, "ansible/roles/hello/tasks/main.yml": "- newer\n" })
    expect(await install()).toEqual({
      blueprintID: "labs/web",
      ansibleResults: [
        { name: "acme.hello", version: "2.0.0", ok: true, type: "role" },
        { name: "acme.util", version: "1.0.0", ok: true, type: "collection" },
        { name: "pub.docker", version: "7.4.4", ok: true, type: "role" },
      ],
    })
    expect(await filesOf("acme.hello", "role")).toContain("tasks/main.yml")
    expect(await filesOf("acme.hello", "role")).not.toContain("tasks/evil.yml")
    expect(await filesOf("acme.util", "collection")).toContain("roles/one/tasks/main.yml")
    expect(await filesOf("unused", "role")).toBeUndefined()
    const claims = await app.run(Effect.flatMap(Sources, (sources) => sources.claims(sourceRecord)))
    expect(claims.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "galaxy-role pub.docker",
      "local-collection acme.util",
      "local-role acme.hello",
    ])
    expect((await detail("labs/web"))["roleStatus"]).toEqual(
      ["acme.hello", "acme.util.one", "pub.docker"].map((name) => ({ name, installed: true, subscription: false })),
    )
  })

  it("works for a copy as for the original, also when the source is gone", async () => {
    await installWeb()
    await app.call("copyBlueprint", ada, { ...web, body: { blueprintID: "lab" } })
    expect(await requirementsOf("lab")).toBe(webRequirements)
    await app.run(Effect.flatMap(Sources, (sources) => sources.remove(sourceRecord)))
    await app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.removeOfSource(sourceRecord, "all")))
    expect(await install(undefined, ada, own)).toMatchObject({
      ansibleResults: [
        { name: "acme.hello", ok: true },
        { name: "acme.util", ok: true },
        { name: "pub.docker", ok: true },
      ],
    })
    expect(await filesOf("acme.hello", "role")).not.toContain("tasks/evil.yml")
  })

  it("globally lets everybody use it, and replaces only on request", async () => {
    await installWeb(admin)
    await place({ type: "global" }, "pub.docker", "7.0.0")
    const outcomes = async (body: Record<string, unknown>) =>
      ((await install(body, admin)) as { readonly ansibleResults: readonly { readonly name: string; readonly ok: boolean }[] })
        .ansibleResults
    expect(await outcomes({ global: true })).toMatchObject([
      { name: "acme.hello" },
      { name: "acme.util" },
      { name: "pub.docker", ok: false },
    ])
    expect(await outcomes({ global: true, forceRoles: true })).toMatchObject([
      {},
      {},
      { name: "pub.docker", ok: true, version: "7.4.4" },
    ])
    expect(await filesOf("acme.hello", "role", { type: "global" })).toContain("tasks/main.yml")
    expect(await filesOf("acme.hello", "role", { type: "user", userId: admin.id })).toBeUndefined()
  })

  it("installs nothing of a blueprint whose subscription roles nobody offers, and says why once", async () => {
    await create(["pub.docker"])
    await app.run(
      Effect.flatMap(Blueprints, (blueprints) =>
        blueprints.setConfig(
          "lab" as BlueprintId,
          configWith("pub.docker", "sub_role"),
          "roles: [other.role]\nsubscription_roles: [sub_role]\n",
        ),
      ),
    )
    expect(await install(undefined, ada, own)).toEqual({
      blueprintID: "lab",
      ansibleResults: [
        { name: "", ok: false, error: expect.stringContaining("subscription") as string, type: "subscription_role" },
      ],
    })
    expect((await detail("lab"))["roleStatus"]).toContainEqual({ name: "sub_role", installed: false, subscription: true })
  })

  it("installs subscription roles for everybody, once, in the version on offer", async () => {
    offerRole(
      app.artifacts.registry,
      { role: "sub_role", version: "1.2.0", description: "", entitlements: ["PRO_ROLES"] },
      { "tasks/main.yml": "[]\n" },
    )
    const results = { ansibleResults: [{ name: "sub_role", version: "1.2.0", ok: true, type: "subscription_role" }] }
    expect(await create(["sub_role"])).toMatchObject(results)
    expect(await requirementsOf("lab")).toBe("subscription_roles:\n  - name: sub_role\n")
    expect(await filesOf("sub_role", "role", { type: "global" })).toContain("tasks/main.yml")
    expect((await detail("lab"))["roleStatus"]).toEqual([{ name: "sub_role", installed: true, subscription: true }])
    app.artifacts.registry.away = true
    expect(await install({ forceRoles: true }, ada, own)).toEqual({
      blueprintID: "lab",
      ansibleResults: [
        { name: "sub_role", ok: true, error: expect.stringContaining("already installed") as string, type: "subscription_role" },
      ],
    })
  })

  it("tells when the files of the blueprint are gone, and fetches nothing in their place", async () => {
    await installWeb()
    app.artifacts.content.snapshots.clear()
    expect(await install()).toMatchObject({ ansibleResults: [{ name: "", ok: false }] })
    expect(await filesOf("acme.hello", "role")).toBeUndefined()
    expect(await detail("labs/web")).toMatchObject({ lastInstallStatus: "error" })
  })
})

describe("a blueprint of a source", () => {
  it("names its source in lists and records, and shows who published it", async () => {
    await installWeb()
    await create([])
    expect(await app.call("listBlueprints", ada, { query: { "from-source": "labs" } })).toMatchObject([
      { blueprintID: "labs/web", sourceID: "labs" },
    ])
    expect(await app.call("listBlueprints", bob, { query: { "from-source": "labs" } })).toEqual([])
    for (const unknown of ["none", "../labs", ""])
      expect(await app.call("listBlueprints", ada, { query: { "from-source": unknown } })).toEqual([])
    expect(await app.call("listBlueprints", ada, { query: {} })).toHaveLength(2)
    expect(await detail("labs/web")).toMatchObject({ authors: ["Acme"], homepage: "https://acme.example", license: "MIT" })
    expect(Object.keys(await detail("lab"))).not.toContain("authors")
    const records = (await app.call("recordListBlueprints", ada, { query: { filter: 'blueprintID = "labs/web"' } })) as {
      readonly items: readonly unknown[]
    }
    expect(records.items).toMatchObject([{ source: sourceRecord, sourceBlueprintID: "web", lastInstallStatus: "" }])
  })

  it("keeps its configuration while it has its source; a copy may have another, and keeps files and requirements", async () => {
    await installWeb()
    const config = configWith("pub.docker", "acme.hello", "pub.tools.x")
    expect(await app.fails("updateBlueprintConfig", ada, { ...web, body: { config } })).toMatchObject({ kind: "conflict" })
    await app.call("copyBlueprint", ada, { ...web, body: { blueprintID: "lab" } })
    await app.call("updateBlueprintConfig", ada, { ...own, body: { config } })
    expect(await requirementsOf("lab")).toContain("pub.tools")
    expect(await requirementsOf("lab")).toContain("{ name: pub.docker, version: 7.4.4 }")
    const stored = app.store.blueprints.get("lab" as BlueprintId)
    expect(stored?.blueprint.bundle?.directory).toBe("blueprints/web")
    expect(stored?.config).toBe(config)
    // it includes what its source ships, installed or not, with or without a version
    await install(undefined, ada, own)
    await place({ type: "user", userId: ada.id }, "unused")
    await app.call("updateBlueprintConfig", ada, { ...own, body: { config: configWith("unused", "hello", "acme.util.one") } })
    expect(await requirementsOf("lab")).not.toContain("unused")
    await app.run(Effect.flatMap(Sources, (sources) => sources.remove(sourceRecord)))
    await app.call("updateBlueprintConfig", ada, { ...web, body: { config } })
  })
})
