import { commitTo, type MemoryFiles, publishTo } from "@rangewright/adapter-memory"
import type { RecordId, SourceId, User } from "@rangewright/domain"
import { Blueprints, ContentFetcher, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

const url = "https://git.example/acme/labs.git"
const config = `ludus:
  - vm_name: web
    hostname: web
    template: debian-lab
    vlan: 10
    ip_last_octet: 11
    ram_gb: 2
    cpus: 2
    linux: true
    roles: [acme.hello, pub.docker]
`
const files: MemoryFiles = {
  "source.yml": "name: Acme Labs\nauthors: [Acme]\nlicense: MIT\n",
  "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.0.0\nconfig: range-config.yml\ntags: [web]\n",
  "blueprints/web/range-config.yml": config,
  "blueprints/web/requirements.yml":
    "roles:\n  - {name: pub.docker, version: 7.4.4}\n  - {name: hello}\ncollections:\n  - {name: acme.util}\n  - {name: pub.tools}\n",
  "blueprints/bare/blueprint.yml": "id: bare\nname: Nothing needed\nversion: 1.0.0\nconfig: range-config.yml\n",
  "blueprints/bare/range-config.yml": "ludus: []\n",
  "templates/debian/debian.pkr.hcl": 'variable "vm_name" {\n  type = string\n  default = "debian-lab"\n}\n',
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {namespace: acme, role_name: hello}\n",
  "ansible/roles/hello/meta/version.yml": "version: 2.0.0\n",
  "ansible/roles/hello/tasks/main.yml": "- debug: {msg: hello}\n",
  "ansible/roles/unused/tasks/main.yml": "[]\n",
  "ansible/collections/util/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\n",
  "ansible/collections/util/roles/one/tasks/main.yml": "[]\n",
}

let app: TestApp
let admin: User
let ada: User
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  commitTo(app.artifacts.content, url, files)
  const entry = (path: string) => ({
    kind: "file" as const,
    path,
    size: 3,
    executable: false,
    read: Effect.succeed(new TextEncoder().encode("---")),
  })
  publishTo(app.artifacts.galaxy, "role", "pub.docker", "7.4.4", { entries: [entry("tasks/main.yml")] })
  publishTo(app.artifacts.galaxy, "collection", "pub.tools", "3.0.0", {
    entries: [
      {
        ...entry("galaxy.yml"),
        size: 45,
        read: Effect.succeed(new TextEncoder().encode("namespace: pub\nname: tools\nversion: 3.0.0\n")),
      },
    ],
  })
  await addSource()
})

const labs = {
  recordId: "source000000001" as RecordId,
  id: "labs" as SourceId,
  type: "git",
  url,
  ref: "HEAD",
  path: "",
  name: "labs",
  access: undefined,
  schedule: undefined,
  nextSyncAt: undefined,
  createdAt: new Date(0),
} as const
const second = { ...labs, recordId: "source000000002" as RecordId, id: "other" as SourceId }
const addSource = () => app.run(Effect.flatMap(Sources, (sources) => sources.create({ ...labs, owner: ada.id })))
const path = { sourceID: "labs" }
interface Result {
  readonly templateResults: readonly { readonly name: string; readonly ok: boolean; readonly message?: string }[]
  readonly localAnsibleResults: {
    readonly roleResults: Result["templateResults"]
    readonly collectionResults: Result["templateResults"]
  }
  readonly blueprintResults: {
    readonly ansibleResults: readonly {
      readonly name: string
      readonly ok: boolean
      readonly version?: string
      readonly error?: string
      readonly type: string
    }[]
    readonly undeclaredDependencies?: readonly unknown[]
    readonly results?: Result["templateResults"]
  }
}
const install = async (body?: Record<string, unknown>, as = ada): Promise<Result> =>
  (await app.call("installSource", as, { path, body })) as Result
const only = (selection: Record<string, readonly string[]>, more = {}) => install({ selection, ...more })
const installed = () => [...app.artifacts.library.artifacts.keys()].toSorted()
const listed = async (operation: string, as = ada) => app.call(operation, as, { path })
const source = async () => {
  const found = await app.run(Effect.flatMap(Sources, (sources) => sources.find("labs" as SourceId)))
  if (found === undefined) throw new Error("no source")
  return found
}
const blueprint = (id: string) => app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.find(id as never)))
const pinned = (holder: string) => app.run(Effect.flatMap(ContentFetcher, (fetcher) => fetcher.pinned(holder)))
const names = (items: unknown) => (items as readonly { readonly name: string }[]).map(({ name }) => name)

describe("an installation", () => {
  it("installs everything that the source ships, and what its blueprints require, when nothing is selected", async () => {
    expect(await install()).toEqual({
      sourceID: "labs",
      templateResults: [{ name: "debian-lab", ok: true }],
      localAnsibleResults: {
        roleResults: [
          { name: "acme.hello", ok: true },
          { name: "unused", ok: true },
        ],
        collectionResults: [{ name: "acme.util", ok: true }],
      },
      blueprintResults: {
        ansibleResults: [
          { name: "pub.docker", version: "7.4.4", ok: true, type: "role" },
          { name: "pub.tools", version: "3.0.0", ok: true, type: "collection" },
        ],
        results: [
          { name: "labs/bare", ok: true },
          { name: "labs/web", ok: true },
        ],
      },
    })
    expect(installed()).toEqual([
      "user:Ada/collection/acme.util",
      "user:Ada/collection/pub.tools",
      "user:Ada/role/acme.hello",
      "user:Ada/role/pub.docker",
      "user:Ada/role/unused",
      "user:Ada/template/debian-lab",
    ])
    expect(await source()).toMatchObject({ lastSyncStatus: "ok", lastSyncError: "", name: "Acme Labs" })
  })

  it("installs nothing for an empty selection", async () => {
    const result = await install({ selection: {} })
    expect(result.templateResults).toEqual([])
    expect([installed(), await listed("listSourceBlueprints")]).toEqual([[], []])
  })

  it("brings with a blueprint what the source ships of its needs, and nothing else", async () => {
    await only({ blueprints: ["web"] }, { noDeps: true })
    expect(installed()).toEqual(["user:Ada/collection/acme.util", "user:Ada/role/acme.hello", "user:Ada/template/debian-lab"])
  })

  it("adds to what was installed before and takes nothing away", async () => {
    await only({ localRoles: ["unused"] })
    await only({ templates: ["debian-lab"] })
    await only({ blueprints: ["bare"] })
    expect(installed()).toEqual(["user:Ada/role/unused", "user:Ada/template/debian-lab"])
    expect(names(await listed("listSourceBlueprints"))).toEqual(["Nothing needed"])
  })

  it("names everything that was selected and is not shipped, and installs nothing", async () => {
    const fault = await app.fails("installSource", ada, {
      path,
      body: { selection: { blueprints: ["web", "gone"], localRoles: ["away"] } },
    })
    expect([fault.kind, fault.message]).toEqual([
      "invalid",
      "Cannot install from source labs: it does not ship blueprint gone, role away",
    ])
    expect(installed()).toEqual([])
  })

  it("goes to everybody only by an administrator, and templates to nobody but the caller", async () => {
    expect((await app.fails("installSource", ada, { path, body: { global: true } })).kind).toBe("forbidden")
    await install({ global: true }, admin)
    expect(installed()).toEqual([
      "global/collection/acme.util",
      "global/collection/pub.tools",
      "global/role/acme.hello",
      "global/role/pub.docker",
      "global/role/unused",
      "user:Root1/template/debian-lab",
    ])
  })

  it("brings users no roles and collections where that is left to administrators, but all the rest", async () => {
    app = makeTestApp({ settings: { onlyAdminsChangeArtifacts: true } })
    ada = await app.addUser("Ada")
    commitTo(app.artifacts.content, url, files)
    await addSource()
    expect((await app.fails("installSource", ada, { path })).kind).toBe("forbidden")
    expect((await app.fails("installSource", ada, { path, query: { dryRun: true } })).kind).toBe("forbidden")
    await only({ blueprints: ["bare"], templates: ["debian-lab"] })
    expect(installed()).toEqual(["user:Ada/template/debian-lab"])
  })

  it("of a source that the caller does not see does not exist", async () => {
    const other = await app.addUser("Bob")
    expect((await app.fails("installSource", other, { path })).kind).toBe("not-found")
  })

  it("gives blueprints the owner of the source, whoever installs", async () => {
    await install({}, admin)
    expect((await blueprint("labs/web"))?.owner).toBe("Ada")
  })

  it("queues behind other work on the source: nobody is refused, and all of it is done", async () => {
    const calls = [
      only({ localRoles: ["acme.hello"] }),
      only({ localRoles: ["unused"] }, { force: true }),
      app.call("syncSource", ada, { path }),
      app.call("upgradeFromSource", ada, { path }),
      only({ templates: ["debian-lab"] }),
      app.call("uninstallFromSource", ada, { path, body: { selection: {} } }),
    ]
    await Promise.all(calls)
    expect(installed()).toEqual(["user:Ada/role/acme.hello", "user:Ada/role/unused", "user:Ada/template/debian-lab"])
    expect((await source()).lastSyncStatus).toBe("ok")
    await Promise.all(Array.from({ length: 30 }, () => only({ templates: ["debian-lab"] })))
    const holders = [...app.artifacts.content.pins.values()].flatMap((names) => [...names])
    expect(holders).toEqual([`source:${labs.recordId}`])
  })

  it("that cannot fetch the source installs nothing, and the record says why", async () => {
    app.artifacts.content.repositories.clear()
    const fault = await app.fails("installSource", ada, { path })
    expect([fault.kind, installed()]).toEqual(["failed", []])
    expect(await source()).toMatchObject({ lastSyncStatus: "error", lastSyncError: fault.message })
  })
})

describe("what is there already", () => {
  const changed: MemoryFiles = { ...files, "ansible/roles/hello/tasks/main.yml": "- debug: {msg: changed}\n" }
  const tasks = () => {
    const entry = app.artifacts.library.artifacts.get("user:Ada/role/acme.hello")?.get("tasks/main.yml")
    return entry?.kind === "file" ? new TextDecoder().decode(entry.bytes) : undefined
  }

  it("and differs stays without force, is told of, and is replaced with force", async () => {
    await only({ localRoles: ["acme.hello"] })
    commitTo(app.artifacts.content, url, changed)
    const [kept] = (await only({ localRoles: ["acme.hello"] })).localAnsibleResults.roleResults
    expect([kept?.ok, kept?.message, tasks()]).toEqual([
      true,
      "something else of this name is there and stays; use force to replace it",
      "- debug: {msg: hello}\n",
    ])
    const [forced] = (await only({ localRoles: ["acme.hello"] }, { force: true })).localAnsibleResults.roleResults
    expect([forced, tasks()]).toEqual([{ name: "acme.hello", ok: true }, "- debug: {msg: changed}\n"])
  })

  it("and was fetched is skipped and told of", async () => {
    await install()
    const { ansibleResults } = (await install()).blueprintResults
    expect(ansibleResults.map(({ name, ok, error }) => [name, ok, error])).toEqual([
      ["pub.docker", true, "pub.docker is already installed, skipping"],
      ["pub.tools", true, "pub.tools is already installed, skipping"],
    ])
  })
})

describe("an item that fails", () => {
  it("leaves the others, and the record of the source says which it was", async () => {
    app.artifacts.galaxy.roles.clear()
    commitTo(app.artifacts.content, url, { ...files, "ansible/roles/broken/README.md": "no role\n" })
    const result = await install()
    expect(result.localAnsibleResults.roleResults.find(({ name }) => name === "broken")?.ok).toBe(false)
    expect(result.blueprintResults.ansibleResults.map(({ name, ok }) => [name, ok])).toEqual([
      ["pub.docker", false],
      ["pub.tools", true],
    ])
    expect(installed()).toContain("user:Ada/role/acme.hello")
    const { lastSyncStatus, lastSyncError } = await source()
    expect(lastSyncStatus).toBe("partial")
    expect(lastSyncError).toMatch(/^local_role broken: it has none of the folders.*; role pub\.docker: /u)
  })

  it("is a blueprint whose ID another one has, which stays as it is", async () => {
    await app.call("createBlueprint", admin, { body: { blueprintID: "labs/web", name: "Mine", config: "ludus: []\n" } })
    const { results } = (await install()).blueprintResults
    expect(results).toEqual([
      { name: "labs/bare", ok: true },
      { name: "labs/web", ok: false, message: "another blueprint has the ID labs/web" },
    ])
    expect((await blueprint("labs/web"))?.name).toBe("Mine")
  })

  it("is told on the blueprint that wants it", async () => {
    app.artifacts.galaxy.roles.clear()
    await install()
    expect((await blueprint("labs/web"))?.installation).toMatchObject({ status: "error" })
    expect((await blueprint("labs/bare"))?.installation).toMatchObject({ status: "ok", error: "" })
  })
})

describe("an installed blueprint", () => {
  const newer: MemoryFiles = {
    ...files,
    "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n",
    "blueprints/web/range-config.yml": "ludus: []\n",
  }
  const configOf = () => app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.config("labs/web" as never)))

  it("keeps its configuration, requirements and files whatever the source becomes, until it is installed again", async () => {
    await install()
    const before = await blueprint("labs/web")
    commitTo(app.artifacts.content, url, newer)
    await only({ templates: ["debian-lab"] })
    expect([await configOf(), (await blueprint("labs/web"))?.version]).toEqual([config, "1.0.0"])
    expect(await pinned(`blueprint:${before?.recordId}`)).toEqual([before?.bundle?.snapshot])
    await only({ blueprints: ["web"] })
    const after = await blueprint("labs/web")
    expect([await configOf(), after?.version, after?.recordId]).toEqual(["ludus: []\n", "1.1.0", before?.recordId])
    expect(await pinned(`blueprint:${before?.recordId}`)).toEqual([(await source()).snapshot])
    expect(after?.bundle?.snapshot).not.toBe(before?.bundle?.snapshot)
  })

  it("goes when the source no longer ships it, at the next installation of anything", async () => {
    await install()
    const row = await blueprint("labs/bare")
    const { "blueprints/bare/blueprint.yml": _, "blueprints/bare/range-config.yml": __, ...less } = files
    commitTo(app.artifacts.content, url, less)
    await install({ selection: {} })
    expect([await blueprint("labs/bare"), await pinned(`blueprint:${row?.recordId}`)]).toEqual([undefined, []])
    expect(await blueprint("labs/web")).toBeDefined()
  })

  it("takes over again what the source says of it", async () => {
    await install()
    await app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.change("labs/web" as never, { name: "Renamed" })))
    await only({ blueprints: ["web"] })
    expect((await blueprint("labs/web"))?.name).toBe("A web server")
  })
})

describe("the lists of a source", () => {
  it("tell what was installed from it, not what it ships", async () => {
    await only({ blueprints: ["web"] })
    expect(await listed("listSourceBlueprints")).toEqual([
      {
        id: "labs/web",
        sourceID: "labs",
        sourceBlueprintID: "web",
        name: "A web server",
        version: "1.0.0",
        authors: ["Acme"],
        license: "MIT",
        tags: ["web"],
      },
    ])
    expect(await listed("listSourceTemplates")).toEqual([{ name: "debian-lab" }])
    expect(await listed("listSourceRoles")).toEqual([
      { name: "acme.hello", version: "2.0.0", scope: "local" },
      { name: "pub.docker", version: "7.4.4", scope: "galaxy" },
    ])
    expect(await listed("listSourceCollections")).toEqual([
      { name: "acme.util", version: "1.0.0" },
      { name: "pub.tools", version: "3.0.0" },
    ])
  })

  it("are empty where nothing was installed, and not there for others", async () => {
    const bob = await app.addUser("Bob")
    for (const operation of ["listSourceBlueprints", "listSourceTemplates", "listSourceRoles", "listSourceCollections"]) {
      expect(await listed(operation)).toEqual([])
      expect((await app.fails(operation, bob, { path })).kind).toBe("not-found")
    }
  })
})

describe("a dry run", () => {
  it("says what would be installed and changes nothing, also not the source", async () => {
    await only({ localRoles: ["acme.hello"] })
    const before = await source()
    commitTo(app.artifacts.content, url, { ...files, "templates/other/x.pkr.hcl": "" })
    const told = await app.call("installSource", ada, {
      path,
      body: { selection: { blueprints: ["web"] } },
      query: { dryRun: true },
    })
    expect(told).toMatchObject({
      sourceID: "labs",
      sourceName: "Acme Labs",
      templateResults: [],
      blueprintIDs: ["labs/web"],
      templates: ["debian-lab"],
      localRoles: [],
      localCollections: ["acme.util"],
      galaxyRoles: ["pub.docker"],
      galaxyCollections: ["pub.tools"],
      subscriptionRoles: [],
    })
    expect([await source(), installed()]).toEqual([before, ["user:Ada/role/acme.hello"]])
  })

  it("compares what is there with what is shipped, whatever the versions say", async () => {
    await only({ localRoles: ["acme.hello", "unused"], templates: ["debian-lab"], localCollections: ["acme.util"] })
    commitTo(app.artifacts.content, url, { ...files, "ansible/roles/hello/tasks/main.yml": "- debug: {msg: world}\n" })
    await app.call("syncSource", ada, { path })
    const changes = async (force: boolean) => {
      const told = (await app.call("installSource", ada, { path, body: { force, noDeps: true, dryRun: true } })) as {
        readonly items: readonly { readonly kind: string; readonly name: string; readonly change: string }[]
      }
      return told.items.filter(({ kind }) => kind !== "blueprint").map(({ name, change }) => `${name} ${change}`)
    }
    expect(await changes(false)).toEqual(["debian-lab keep", "acme.hello differs", "unused keep", "acme.util keep"])
    expect(await changes(true)).toEqual(["debian-lab keep", "acme.hello replace", "unused keep", "acme.util keep"])
  })
})

describe("an upgrade", () => {
  const newer: MemoryFiles = {
    ...files,
    "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n",
    "ansible/roles/hello/meta/version.yml": "version: 2.1.0\n",
    "ansible/roles/unused/tasks/main.yml": "[{debug: {}}]\n",
  }
  const upgrade = (body?: Record<string, unknown>) => app.call("upgradeFromSource", ada, { path, body }) as Promise<Result>

  it("replaces what was installed by what is shipped now, and installs nothing else", async () => {
    await only({ blueprints: ["web"] })
    commitTo(app.artifacts.content, url, newer)
    await upgrade()
    expect((await blueprint("labs/web"))?.version).toBe("1.1.0")
    expect(await listed("listSourceRoles")).toContainEqual({ name: "acme.hello", version: "2.1.0", scope: "local" })
    expect(installed()).not.toContain("user:Ada/role/unused")
    expect(await blueprint("labs/bare")).toBeUndefined()
  })

  it("is of single items where they are named, and of no item that was not installed", async () => {
    await only({ localRoles: ["acme.hello"], blueprints: ["bare"] })
    commitTo(app.artifacts.content, url, newer)
    const { localAnsibleResults, blueprintResults } = await upgrade({ selection: { localRoles: ["acme.hello"] } })
    expect([localAnsibleResults.roleResults, blueprintResults.results]).toEqual([[{ name: "acme.hello", ok: true }], undefined])
    const fault = await app.fails("upgradeFromSource", ada, { path, body: { selection: { localRoles: ["unused"] } } })
    expect([fault.kind, fault.message]).toEqual([
      "invalid",
      "Cannot upgrade what was not installed from the source or is no longer shipped: localRoles: unused",
    ])
  })
})

describe("an uninstallation", () => {
  const uninstall = (selection: Record<string, readonly string[]>, more = {}) =>
    app.call("uninstallFromSource", ada, { path, body: { selection, ...more } }) as Promise<Result>

  it("takes away what is named: copies, rows, pins and claims", async () => {
    await install()
    const row = await blueprint("labs/web")
    await uninstall({
      blueprints: ["web"],
      templates: ["debian-lab"],
      localRoles: ["acme.hello"],
      localCollections: ["acme.util"],
      roles: ["pub.docker"],
      collections: ["pub.tools"],
    })
    expect(installed()).toEqual(["user:Ada/role/unused"])
    expect(await listed("listSourceRoles")).toEqual([{ name: "unused", scope: "local" }])
    expect([await listed("listSourceTemplates"), await listed("listSourceCollections")]).toEqual([[], []])
    expect([await blueprint("labs/web"), await pinned(`blueprint:${row?.recordId}`)]).toEqual([undefined, []])
  })

  it("leaves what an installed blueprint names, by any of its names, and says which", async () => {
    await install()
    const result = await uninstall({ localRoles: ["acme.hello", "unused"], roles: ["pub.docker"], templates: ["debian-lab"] })
    expect(result.localAnsibleResults.roleResults).toEqual([
      { name: "acme.hello", ok: false, message: "blueprint labs/web needs it; use force to remove it" },
      { name: "unused", ok: true },
    ])
    expect([result.templateResults[0]?.ok, result.blueprintResults.ansibleResults[0]?.ok]).toEqual([false, false])
    expect(installed()).toContain("user:Ada/role/acme.hello")
  })

  it("takes it away with force, and says who needed it", async () => {
    await install()
    const result = await uninstall({ localRoles: ["acme.hello"] }, { force: true })
    expect(result.localAnsibleResults.roleResults).toEqual([
      { name: "acme.hello", ok: true, message: "blueprint labs/web needs it" },
    ])
    expect(installed()).not.toContain("user:Ada/role/acme.hello")
  })

  it("leaves what another source brought too", async () => {
    await install()
    await app.run(
      Effect.flatMap(Sources, (sources) =>
        Effect.andThen(
          sources.create({ ...second, owner: ada.id }),
          sources.claim(second.recordId, [
            { kind: "galaxy-role", name: "unused", version: "", scope: { type: "user", userId: ada.id } },
          ]),
        ),
      ),
    )
    const result = await uninstall({ localRoles: ["unused"] })
    expect(result.localAnsibleResults.roleResults).toEqual([
      { name: "unused", ok: false, message: "source other brought it too; use force to remove it" },
    ])
  })

  it("names what was not installed from the source, and takes nothing away", async () => {
    await only({ localRoles: ["unused"] })
    const fault = await app.fails("uninstallFromSource", ada, {
      path,
      body: { selection: { localRoles: ["unused", "../x"], blueprints: ["web"] } },
    })
    expect([fault.kind, fault.message]).toEqual([
      "invalid",
      "Cannot uninstall from source labs: not installed from it for you: blueprint web, local_role ../x",
    ])
    expect(installed()).toEqual(["user:Ada/role/unused"])
  })

  it("of what everybody has needs an administrator, and leaves users' copies", async () => {
    await only({ localRoles: ["unused"] })
    await install({ selection: { localRoles: ["unused"] }, global: true }, admin)
    const body = { selection: { localRoles: ["unused"] }, global: true }
    expect((await app.fails("uninstallFromSource", ada, { path, body })).kind).toBe("forbidden")
    await app.call("uninstallFromSource", admin, { path, body })
    expect(installed()).toEqual(["user:Ada/role/unused"])
    expect(await listed("listSourceRoles")).toEqual([{ name: "unused", scope: "local" }])
  })
})
