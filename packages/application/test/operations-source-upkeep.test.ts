import type { MemoryFiles } from "@rangewright/adapter-memory"
import type { CatalogItem, RecordId, SourceId } from "@rangewright/domain"
import { Blueprints, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { type Labs, labsFiles, labsSource, makeLabs, path, webConfig } from "./support/labs.ts"

let lab: Labs
beforeEach(async () => {
  lab = await makeLabs()
})

const second = { ...labsSource, recordId: "source000000002" as RecordId, id: "other" as SourceId }

describe("an installed blueprint", () => {
  const newer: MemoryFiles = {
    ...labsFiles,
    "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n",
    "blueprints/web/range-config.yml": "ludus: []\n",
  }
  const configOf = () => lab.app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.config("labs/web" as never)))

  it("keeps its configuration, requirements and files whatever the source becomes, until it is installed again", async () => {
    await lab.install()
    const before = await lab.blueprint("labs/web")
    lab.ship(newer)
    await lab.installOnly({ templates: ["debian-lab"] })
    expect([await configOf(), (await lab.blueprint("labs/web"))?.version]).toEqual([webConfig, "1.0.0"])
    expect(await lab.pinned(`blueprint:${before?.recordId}`)).toEqual([before?.bundle?.snapshot])
    await lab.installOnly({ blueprints: ["web"] })
    const after = await lab.blueprint("labs/web")
    expect([await configOf(), after?.version, after?.recordId]).toEqual(["ludus: []\n", "1.1.0", before?.recordId])
    expect(await lab.pinned(`blueprint:${before?.recordId}`)).toEqual([(await lab.source()).snapshot])
    expect(after?.bundle?.snapshot).not.toBe(before?.bundle?.snapshot)
  })

  it("goes when the source no longer ships it, at the next installation of anything", async () => {
    await lab.install()
    const row = await lab.blueprint("labs/bare")
    const { "blueprints/bare/blueprint.yml": _, "blueprints/bare/range-config.yml": __, ...less } = labsFiles
    lab.ship(less)
    await lab.install({ selection: {} })
    expect([await lab.blueprint("labs/bare"), await lab.pinned(`blueprint:${row?.recordId}`)]).toEqual([undefined, []])
    expect(await lab.blueprint("labs/web")).toBeDefined()
  })

  it("is reset to the source's description of it", async () => {
    await lab.install()
    await lab.app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.change("labs/web" as never, { name: "Renamed" })))
    await lab.installOnly({ blueprints: ["web"] })
    expect((await lab.blueprint("labs/web"))?.name).toBe("A web server")
  })
})

describe("the lists of a source", () => {
  it("tell what was installed from it, not what it ships", async () => {
    await lab.installOnly({ blueprints: ["web"] })
    expect(await lab.listed("listSourceBlueprints")).toEqual([
      {
        id: "labs/web",
        sourceID: "labs",
        sourceBlueprintID: "web",
        name: "A web server",
        version: "1.0.0",
        authors: ["Acme"],
        homepage: labsSource.url,
        license: "MIT",
        tags: ["web"],
      },
    ])
    expect(await lab.listed("listSourceTemplates")).toEqual([{ name: "debian-lab", status: "not_built" }])
    expect(await lab.listed("listSourceRoles")).toEqual([
      { name: "acme.hello", version: "2.0.0", scope: "local" },
      { name: "pub.docker", version: "7.4.4", scope: "galaxy" },
    ])
    expect(await lab.listed("listSourceCollections")).toEqual([
      { name: "acme.util", version: "1.0.0" },
      { name: "pub.tools", version: "3.0.0" },
    ])
  })

  it("are empty if nothing was installed, and not found for others", async () => {
    const bob = await lab.app.addUser("Bob")
    for (const operation of ["listSourceBlueprints", "listSourceTemplates", "listSourceRoles", "listSourceCollections"]) {
      expect(await lab.listed(operation)).toEqual([])
      expect((await lab.app.fails(operation, bob, { path })).kind).toBe("not-found")
    }
  })
})

describe("an upgrade", () => {
  const newer: MemoryFiles = {
    ...labsFiles,
    "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n",
    "ansible/roles/hello/meta/version.yml": "version: 2.1.0\n",
    "ansible/roles/unused/tasks/main.yml": "[{debug: {}}]\n",
  }
  it("replaces what was installed by what is shipped now, and installs nothing else", async () => {
    await lab.installOnly({ blueprints: ["web"] })
    lab.ship(newer)
    await lab.upgrade()
    expect((await lab.blueprint("labs/web"))?.version).toBe("1.1.0")
    expect(await lab.listed("listSourceRoles")).toContainEqual({ name: "acme.hello", version: "2.1.0", scope: "local" })
    expect(lab.installed()).not.toContain("user:Ada/role/unused")
    expect(await lab.blueprint("labs/bare")).toBeUndefined()
  })

  it("is of single items where they are named, and of no item that was not installed", async () => {
    await lab.installOnly({ localRoles: ["acme.hello"], blueprints: ["bare"] })
    lab.ship(newer)
    const { localAnsibleResults, blueprintResults } = await lab.upgrade({ selection: { localRoles: ["acme.hello"] } })
    expect([localAnsibleResults.roleResults, blueprintResults.results]).toEqual([[{ name: "acme.hello", ok: true }], undefined])
    const fault = await lab.app.fails("upgradeFromSource", lab.ada, { path, body: { selection: { localRoles: ["unused"] } } })
    expect([fault.kind, fault.message]).toEqual([
      "invalid",
      "Cannot upgrade what was not installed from the source or is no longer shipped: localRoles: unused",
    ])
  })
})

describe("an uninstallation", () => {
  it("takes away what is named: copies, rows, pins and claims", async () => {
    await lab.install()
    const row = await lab.blueprint("labs/web")
    await lab.uninstall({
      blueprints: ["web"],
      templates: ["debian-lab"],
      localRoles: ["acme.hello"],
      localCollections: ["acme.util"],
      roles: ["pub.docker"],
      collections: ["pub.tools"],
    })
    expect(lab.installed()).toEqual(["user:Ada/role/unused"])
    expect(await lab.listed("listSourceRoles")).toEqual([{ name: "unused", scope: "local" }])
    expect([await lab.listed("listSourceTemplates"), await lab.listed("listSourceCollections")]).toEqual([[], []])
    expect([await lab.blueprint("labs/web"), await lab.pinned(`blueprint:${row?.recordId}`)]).toEqual([undefined, []])
  })

  it("leaves what an installed blueprint names, by any of its names, and says which", async () => {
    await lab.install()
    const result = await lab.uninstall({ localRoles: ["acme.hello", "unused"], roles: ["pub.docker"], templates: ["debian-lab"] })
    expect(result.localAnsibleResults.roleResults).toEqual([
      { name: "acme.hello", ok: false, message: "blueprint labs/web needs it; use force to remove it" },
      { name: "unused", ok: true },
    ])
    expect([result.templateResults[0]?.ok, result.blueprintResults.ansibleResults[0]?.ok]).toEqual([false, false])
    expect(lab.installed()).toContain("user:Ada/role/acme.hello")
  })

  it("takes it away with force, and says who needed it", async () => {
    await lab.install()
    const result = await lab.uninstall({ localRoles: ["acme.hello"] }, { force: true })
    expect(result.localAnsibleResults.roleResults).toEqual([
      { name: "acme.hello", ok: true, message: "blueprint labs/web needs it" },
    ])
    expect(lab.installed()).not.toContain("user:Ada/role/acme.hello")
  })

  it("leaves what another source brought too", async () => {
    await lab.install()
    await lab.app.run(
      Effect.flatMap(Sources, (sources) =>
        Effect.andThen(
          sources.create({ ...second, owner: lab.ada.id }),
          sources.claim(second.recordId, [
            { kind: "galaxy-role", name: "unused", version: "", scope: { type: "user", userId: lab.ada.id } },
          ]),
        ),
      ),
    )
    const result = await lab.uninstall({ localRoles: ["unused"] })
    expect(result.localAnsibleResults.roleResults).toEqual([
      { name: "unused", ok: false, message: "source other also provides it; use force to remove it" },
    ])
  })

  it("names what was not installed from the source, and takes nothing away", async () => {
    await lab.installOnly({ localRoles: ["unused"] })
    const fault = await lab.app.fails("uninstallFromSource", lab.ada, {
      path,
      body: { selection: { localRoles: ["unused", "../x"], blueprints: ["web"] } },
    })
    expect([fault.kind, fault.message]).toEqual([
      "invalid",
      "Cannot uninstall from source labs: blueprint web, role ../x were not installed for you from this source",
    ])
    expect(lab.installed()).toEqual(["user:Ada/role/unused"])
  })

  it("of global items needs an administrator, and leaves users' copies", async () => {
    await lab.installOnly({ localRoles: ["unused"] })
    await lab.install({ selection: { localRoles: ["unused"] }, global: true }, lab.admin)
    const body = { selection: { localRoles: ["unused"] }, global: true }
    expect((await lab.app.fails("uninstallFromSource", lab.ada, { path, body })).kind).toBe("forbidden")
    await lab.app.call("uninstallFromSource", lab.admin, { path, body })
    expect(lab.installed()).toEqual(["user:Ada/role/unused"])
    expect(await lab.listed("listSourceRoles")).toEqual([{ name: "unused", scope: "local" }])
  })
})

describe("the catalog after an installation", () => {
  const of = (items: readonly CatalogItem[], name: string) => items.find((item) => item.name === name)

  it("shows what a blueprint brought, in both lists of collections, and in the user's scope alone", async () => {
    await lab.installOnly({ blueprints: ["web"] })
    const { blueprints, templates, localRoles, localCollections } = await lab.catalog()
    expect(blueprints.items.map(({ id, state }) => `${id} ${state}`)).toEqual(["bare not_installed", "web installed"])
    expect(of(templates, "debian-lab")?.state).toBe("installed")
    expect(of(localRoles, "acme.hello")).toMatchObject({ state: "installed", installedVersion: "2.0.0" })
    for (const items of [localCollections, blueprints.requiredCollections])
      expect(of(items, "acme.util")?.scopes).toEqual([{ scope: "user", version: "1.0.0", state: "installed" }])
    expect(of(blueprints.requiredRoles, "pub.docker")).toMatchObject({ state: "installed", installedVersion: "7.4.4" })
  })

  it("shows everybody what is global, and a user's own to nobody else", async () => {
    await lab.installOnly({ localRoles: ["unused"] })
    await lab.install({ selection: { localRoles: ["acme.hello"] }, global: true }, lab.admin)
    expect(of((await lab.catalog(lab.admin)).localRoles, "unused")?.state).toBe("not_installed")
    for (const user of [lab.ada, lab.admin])
      expect(of((await lab.catalog(user)).localRoles, "acme.hello")).toMatchObject({ state: "installed", global: true })
  })

  it("shows what was uninstalled as not installed, and what the source has newer as an upgrade", async () => {
    await lab.installOnly({ blueprints: ["bare"], localRoles: ["unused"] })
    const bare = "id: bare\nname: Nothing needed\nversion: 1.1.0\nconfig: range-config.yml\n"
    lab.ship({ ...labsFiles, "blueprints/bare/blueprint.yml": bare })
    await lab.app.call("syncSource", lab.ada, { path })
    await lab.app.call("uninstallFromSource", lab.ada, { path, body: { selection: { localRoles: ["unused"] } } })
    const { blueprints, localRoles } = await lab.catalog()
    expect(blueprints.items[0]).toMatchObject({ id: "bare", state: "upgrade_available", installedVersion: "1.0.0" })
    expect(of(localRoles, "unused")?.state).toBe("not_installed")
    await lab.upgrade()
    expect((await lab.catalog()).blueprints.items[0]).toMatchObject({ id: "bare", state: "installed" })
  })

  it("a role that a requirement names in full is the source's own, and nothing is fetched for it", async () => {
    const requirements = "roles: [{name: acme.hello}]\n"
    lab.ship({ ...labsFiles, "blueprints/web/requirements.yml": requirements })
    const { blueprintResults } = await lab.installOnly({ blueprints: ["web"] })
    expect(blueprintResults.ansibleResults).toEqual([{ name: "acme.hello", version: "2.0.0", ok: true, type: "role" }])
    expect(lab.installed()).not.toContain("user:Ada/role/hello")
  })

  it("of a deleted source keeps what was installed, but its blueprints", async () => {
    await lab.install()
    await lab.app.call("deleteSource", lab.ada, { path })
    expect(lab.installed()).toContain("user:Ada/role/acme.hello")
    expect(await lab.blueprint("labs/web")).toBeUndefined()
    expect([...lab.app.artifacts.content.pins.values()].flatMap((holders) => [...holders])).toEqual([])
  })
})
