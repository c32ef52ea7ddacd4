import { beforeEach, describe, expect, it } from "vitest"
import { communityLicense, type MemoryFiles, offerRole } from "@rangewright/adapter-memory"
import { ArtifactLibrary } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Labs, labsFiles, labsSource, makeLabs, path } from "./support/labs.ts"

let lab: Labs
beforeEach(async () => {
  lab = await makeLabs()
})

describe("an installation", () => {
  it("installs everything that the source ships, and what its blueprints require, when nothing is selected", async () => {
    expect(await lab.install()).toEqual({
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
    expect(lab.installed()).toEqual([
      "user:Ada/collection/acme.util",
      "user:Ada/collection/pub.tools",
      "user:Ada/role/acme.hello",
      "user:Ada/role/pub.docker",
      "user:Ada/role/unused",
      "user:Ada/template/debian-lab",
    ])
    expect(await lab.source()).toMatchObject({ lastSyncStatus: "ok", lastSyncError: "", name: "Acme Labs" })
  })

  const gifOf = (width: number, height: number): Uint8Array =>
    Uint8Array.from([...new TextEncoder().encode("GIF89a"), width & 255, width >> 8, height & 255, height >> 8, 0, 0])
  it.each<[string, Uint8Array, RegExp | undefined]>([
    ["that is usable", gifOf(8192, 1), undefined],
    ["with more pixels than browsers can show", gifOf(8193, 1), /without the picture p\.gif: .*8192 pixels.* 8193 x 1$/u],
    ["without pixels", gifOf(9, 0), /without the picture p\.gif: .* 9 x 0$/u],
    ["whose size cannot be read", new TextEncoder().encode("GIF89a"), /its size cannot be read: it is damaged/u],
    ["of another kind", new TextEncoder().encode("<svg/>"), /a PNG, JPEG, GIF or WebP picture is needed$/u],
  ])("keeps or leaves out a picture %s, and says so", async (_, picture, note) => {
    const manifest = `${String(labsFiles["blueprints/bare/blueprint.yml"] as string)}thumbnail_path: p.gif\n`
    lab.ship({ ...labsFiles, "blueprints/bare/blueprint.yml": manifest, "blueprints/bare/p.gif": picture })
    await lab.app.call("syncSource", lab.ada, { path })
    const { blueprintResults } = await lab.install({ selection: { blueprints: ["bare"] } })
    expect(blueprintResults.results).toEqual([
      { name: "labs/bare", ok: true, ...(note && { message: expect.stringMatching(note) as string }) },
    ])
    expect((await lab.blueprint("labs/bare"))?.thumbnail === undefined).toBe(note !== undefined)
  })

  it("installs nothing for an empty selection", async () => {
    const result = await lab.install({ selection: {} })
    expect(result.templateResults).toEqual([])
    expect([lab.installed(), await lab.listed("listSourceBlueprints")]).toEqual([[], []])
  })

  it("brings with a blueprint what the source ships of its needs, and nothing else", async () => {
    await lab.installOnly({ blueprints: ["web"] }, { noDeps: true })
    expect(lab.installed()).toEqual(["user:Ada/collection/acme.util", "user:Ada/role/acme.hello", "user:Ada/template/debian-lab"])
  })

  it("adds to what was installed before and takes nothing away", async () => {
    await lab.installOnly({ localRoles: ["unused"] })
    await lab.installOnly({ templates: ["debian-lab"] })
    await lab.installOnly({ blueprints: ["bare"] })
    expect(lab.installed()).toEqual(["user:Ada/role/unused", "user:Ada/template/debian-lab"])
    expect(await lab.listed("listSourceBlueprints")).toEqual([expect.objectContaining({ name: "Nothing needed" })])
  })

  it("names everything that was selected and is not shipped, and installs nothing", async () => {
    const fault = await lab.app.fails("installSource", lab.ada, {
      path,
      body: { selection: { blueprints: ["web", "gone"], localRoles: ["away"] } },
    })
    expect([fault.kind, fault.message]).toEqual([
      "invalid",
      "Cannot install from source labs: it does not ship blueprint gone, role away",
    ])
    expect(lab.installed()).toEqual([])
  })

  it("names the first of very many that are not shipped, and the number of the others", async () => {
    const blueprints = Array.from({ length: 5000 }, (_, i) => `gone${i}`)
    const fault = await lab.app.fails("installSource", lab.ada, { path, body: { selection: { blueprints } } })
    expect(fault.message).toMatch(/^Cannot install from source labs: it does not ship blueprint gone0, .* and 4990 more$/u)
    expect(fault.issues.length).toBeLessThanOrEqual(100)
  })

  it("keeps a blueprint that the source ships broken now, and installs the others", async () => {
    await lab.installOnly({ blueprints: ["web", "bare"] })
    lab.ship({
      ...labsFiles,
      "blueprints/web/blueprint.yml": "id: elsewhere\nname: Web\nversion: 2.0.0\nconfig: range-config.yml\n",
    })
    await lab.app.call("syncSource", lab.ada, { path })
    await lab.installOnly({ blueprints: ["bare"] })
    expect(await lab.listed("listSourceBlueprints")).toHaveLength(2)
    const { results } = (await lab.installOnly({ blueprints: ["web"] })).blueprintResults
    expect(results).toEqual([
      { name: "labs/web", ok: false, message: expect.stringContaining("blueprints/web/blueprint.yml") as string },
    ])
    expect(await lab.source()).toMatchObject({ lastSyncStatus: "partial" })
  })

  it("is global only for administrators, and templates always go to the caller", async () => {
    expect((await lab.app.fails("installSource", lab.ada, { path, body: { global: true } })).kind).toBe("forbidden")
    await lab.install({ global: true }, lab.admin)
    expect(lab.installed()).toEqual([
      "global/collection/acme.util",
      "global/collection/pub.tools",
      "global/role/acme.hello",
      "global/role/pub.docker",
      "global/role/unused",
      "user:Root1/template/debian-lab",
    ])
  })

  it("is refused to users if it contains roles or collections and those are left to administrators", async () => {
    lab = await makeLabs({ settings: { onlyAdminsChangeArtifacts: true } })
    expect((await lab.app.fails("installSource", lab.ada, { path })).kind).toBe("forbidden")
    expect((await lab.app.fails("installSource", lab.ada, { path, query: { dryRun: true } })).kind).toBe("forbidden")
    await lab.installOnly({ blueprints: ["bare"], templates: ["debian-lab"] })
    expect(lab.installed()).toEqual(["user:Ada/template/debian-lab"])
  })

  it("from a source that the caller may not see is not found", async () => {
    const other = await lab.app.addUser("Bob")
    expect((await lab.app.fails("installSource", other, { path })).kind).toBe("not-found")
  })

  it("gives blueprints the owner of the source, whoever installs", async () => {
    await lab.install({}, lab.admin)
    expect((await lab.blueprint("labs/web"))?.owner).toBe("Ada")
  })

  it("queues behind other work on the source: nobody is refused, and all of it is done", async () => {
    const calls = [
      lab.installOnly({ localRoles: ["acme.hello"] }),
      lab.installOnly({ localRoles: ["unused"] }, { force: true }),
      lab.app.call("syncSource", lab.ada, { path }),
      lab.app.call("upgradeFromSource", lab.ada, { path }),
      lab.installOnly({ templates: ["debian-lab"] }),
      lab.app.call("uninstallFromSource", lab.ada, { path, body: { selection: {} } }),
    ]
    await Promise.all(calls)
    expect(lab.installed()).toEqual(["user:Ada/role/acme.hello", "user:Ada/role/unused", "user:Ada/template/debian-lab"])
    expect((await lab.source()).lastSyncStatus).toBe("ok")
    await Promise.all(Array.from({ length: 30 }, () => lab.installOnly({ templates: ["debian-lab"] })))
    const holders = [...lab.app.artifacts.content.pins.values()].flatMap((names) => [...names])
    expect(holders).toEqual([`source:${labsSource.recordId}`])
  })

  it("that cannot fetch the source installs nothing, and the record says why", async () => {
    lab.app.artifacts.content.repositories.clear()
    const fault = await lab.app.fails("installSource", lab.ada, { path })
    expect([fault.kind, lab.installed()]).toEqual(["failed", []])
    expect(await lab.source()).toMatchObject({ lastSyncStatus: "error", lastSyncError: fault.message })
  })
})

describe("an item that is installed already", () => {
  const changed: MemoryFiles = { ...labsFiles, "ansible/roles/hello/tasks/main.yml": "- debug: {msg: changed}\n" }
  const tasks = () => {
    const entry = lab.app.artifacts.library.artifacts.get("user:Ada/role/acme.hello")?.get("tasks/main.yml")
    return entry?.kind === "file" ? new TextDecoder().decode(entry.bytes) : undefined
  }

  it("and differs stays without force, is reported, and is replaced with force", async () => {
    await lab.installOnly({ localRoles: ["acme.hello"] })
    lab.ship(changed)
    const [kept] = (await lab.installOnly({ localRoles: ["acme.hello"] })).localAnsibleResults.roleResults
    expect([kept?.ok, kept?.message, tasks()]).toEqual([
      true,
      "something else with this name exists and stays; use force to replace it",
      "- debug: {msg: hello}\n",
    ])
    const [forced] = (await lab.installOnly({ localRoles: ["acme.hello"] }, { force: true })).localAnsibleResults.roleResults
    expect([forced, tasks()]).toEqual([{ name: "acme.hello", ok: true }, "- debug: {msg: changed}\n"])
  })

  it("and came from elsewhere is skipped and reported", async () => {
    await lab.install()
    const { ansibleResults } = (await lab.install()).blueprintResults
    expect(ansibleResults.map(({ name, ok, error }) => [name, ok, error])).toEqual([
      ["pub.docker", true, "pub.docker is already installed, skipping"],
      ["pub.tools", true, "pub.tools is already installed, skipping"],
    ])
  })
})

describe("an item that fails", () => {
  it("leaves the others, and the record of the source says which it was", async () => {
    lab.app.artifacts.galaxy.roles.clear()
    lab.ship({ ...labsFiles, "ansible/roles/broken/README.md": "no role\n" })
    const result = await lab.install()
    expect(result.localAnsibleResults.roleResults.find(({ name }) => name === "broken")?.ok).toBe(false)
    expect(result.blueprintResults.ansibleResults.map(({ name, ok }) => [name, ok])).toEqual([
      ["pub.docker", false],
      ["pub.tools", true],
    ])
    expect(lab.installed()).toContain("user:Ada/role/acme.hello")
    const { lastSyncStatus, lastSyncError } = await lab.source()
    expect(lastSyncStatus).toBe("partial")
    expect(lastSyncError).toMatch(/^local_role broken: it has none of the folders.*; role pub\.docker: /u)
  })

  it("may be a blueprint whose ID is in use; the other one stays as it is", async () => {
    await lab.app.call("createBlueprint", lab.admin, { body: { blueprintID: "labs/web", name: "Mine", config: "ludus: []\n" } })
    const { results } = (await lab.install()).blueprintResults
    expect(results).toEqual([
      { name: "labs/bare", ok: true },
      { name: "labs/web", ok: false, message: "another blueprint has the ID labs/web" },
    ])
    expect((await lab.blueprint("labs/web"))?.name).toBe("Mine")
  })

  it("is recorded on the blueprint that requires it", async () => {
    lab.app.artifacts.galaxy.roles.clear()
    await lab.install()
    expect((await lab.blueprint("labs/web"))?.installation).toMatchObject({ status: "error" })
    expect((await lab.blueprint("labs/bare"))?.installation).toMatchObject({ status: "ok", error: "" })
  })
})

describe("a dry run", () => {
  it("says what would be installed and changes nothing, also not the source", async () => {
    await lab.installOnly({ localRoles: ["acme.hello"] })
    const before = await lab.source()
    lab.ship({ ...labsFiles, "templates/other/x.pkr.hcl": "" })
    const told = await lab.app.call("installSource", lab.ada, {
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
    expect([await lab.source(), lab.installed()]).toEqual([before, ["user:Ada/role/acme.hello"]])
  })

  it("compares what is there with what is shipped, whatever the versions say", async () => {
    await lab.installOnly({ localRoles: ["acme.hello", "unused"], templates: ["debian-lab"], localCollections: ["acme.util"] })
    lab.ship({ ...labsFiles, "ansible/roles/hello/tasks/main.yml": "- debug: {msg: world}\n" })
    await lab.app.call("syncSource", lab.ada, { path })
    const changes = async (force: boolean) => {
      const told = (await lab.app.call("installSource", lab.ada, { path, body: { force, noDeps: true, dryRun: true } })) as {
        readonly items: readonly { readonly kind: string; readonly name: string; readonly change: string }[]
      }
      return told.items.filter(({ kind }) => kind !== "blueprint").map(({ name, change }) => `${name} ${change}`)
    }
    expect(await changes(false)).toEqual(["debian-lab keep", "acme.hello differs", "unused keep", "acme.util keep"])
    expect(await changes(true)).toEqual(["debian-lab keep", "acme.hello replace", "unused keep", "acme.util keep"])
  })
})

describe("subscription roles of blueprints", () => {
  const wanting = { ...labsFiles, "blueprints/bare/requirements.yml": "subscription_roles: [acme.paid]\n" }
  const offer = () =>
    offerRole(
      lab.app.artifacts.registry,
      { role: "acme.paid", version: "1.2.3", description: "Paid", entitlements: ["PRO_ROLES"] },
      { "meta/main.yml": "galaxy_info: {author: acme}\n", "tasks/main.yml": "[]\n" },
    )
  const results = async () => (await lab.installOnly({ blueprints: ["bare"] })).blueprintResults.ansibleResults
  const paid = { name: "acme.paid", version: "1.2.3", ok: true, type: "subscription_role" }

  it("are for everybody, and listed with the source", async () => {
    lab.ship(wanting)
    offer()
    expect(await results()).toEqual([paid])
    expect(lab.installed()).toEqual(["global/role/acme.paid"])
    expect(await results()).toEqual([{ ...paid, error: "acme.paid is already installed, skipping" }])
  })

  it("need a licence unless they are installed; without one nothing else fails", async () => {
    lab = await makeLabs({ license: communityLicense })
    lab.ship(wanting)
    offer()
    expect(await results()).toEqual([expect.objectContaining({ name: "acme.paid", ok: false, type: "subscription_role" })])
    expect([(await lab.blueprint("labs/bare"))?.installation.status, (await lab.source()).lastSyncStatus]).toEqual([
      "error",
      "partial",
    ])
    await lab.app.run(
      Effect.flatMap(ArtifactLibrary, (library) => {
        const bytes = new TextEncoder().encode("[]\n")
        const file = { kind: "file", path: "tasks/main.yml", size: 3, executable: false, read: Effect.succeed(bytes) } as const
        return library.place({ scope: { type: "global" }, kind: "role", name: "acme.paid" }, [file], {
          version: "1.2.3",
          replace: false,
        })
      }),
    )
    expect(await results()).toEqual([{ ...paid, error: "acme.paid is already installed, skipping" }])
  })
})
