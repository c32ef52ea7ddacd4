import {
  bestVersion,
  fitsPin,
  installedVersion,
  isArtifactName,
  prepareArtifact,
  readNeeds,
  roleOfArchive,
  satisfiesPin,
  wantedCollection,
  wantedRole,
} from "@rangewright/domain"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"

describe("what a requirement means", () => {
  test.each([
    [{ name: "acme.web" }, "acme.web", "name", undefined],
    [{ name: "acme.web,1.0,site" }, "site", "name", "1.0"],
    [{ src: "acme.web", name: "site", version: "1.0" }, "site", "name", "1.0"],
    [{ src: "https://git.example/acme/web.git" }, "web", "git", undefined],
    [{ src: "git@git.example:acme/web.git", version: "main" }, "web", "git", "main"],
    [{ src: "git+https://git.example/acme/web" }, "web", "git", undefined],
    [{ src: "https://files.example/web-1.0.tar.gz", name: "web" }, "web", "url", undefined],
    [{ src: "https://files.example/web.tar.gz" }, "web", "url", undefined],
    [{ src: "somewhere", scm: "git", name: "web" }, "web", "git", undefined],
    [{ name: "" }, "", "name", undefined],
  ])("role %j", (requirement, name, from, pin) => {
    expect(wantedRole(requirement)).toMatchObject({ name, pin, origin: { from } })
  })

  test.each([
    [{ name: "acme.util", version: ">=1.0" }, "acme.util", "name"],
    [{ name: "https://git.example/acme.util.git", type: "git" }, "acme.util", "git"],
    [{ name: "https://git.example/tools.git", type: "git" }, undefined, "git"],
    [{ name: "git+https://git.example/acme.util" }, "acme.util", "git"],
    [{ name: "https://files.example/acme-util-1.0.tar.gz" }, undefined, "url"],
    [{ name: "not one" }, undefined, "name"],
  ])("collection %j", (requirement, name, from) => {
    expect(wantedCollection(requirement)).toMatchObject({ name, origin: { from } })
  })

  test.each([
    ["git+https://git.example/acme.util.git#/collections/util/,main", undefined, "collections/util", "main"],
    ["https://git.example/acme.util.git#collections/util", "v1", "collections/util", "v1"],
    ["https://git.example/acme.util.git,main", undefined, undefined, "main"],
    ["https://git.example/acme.util.git,main", "v1", undefined, "v1"],
    ["https://git.example/acme.util.git#/,main", undefined, undefined, "main"],
  ])("collection of a repository's folder and ref: %s", (name, version, folder, pin) => {
    const wanted = wantedCollection({ name, type: "git", ...(version === undefined ? {} : { version }) })
    const origin = { from: "git", url: "https://git.example/acme.util.git", ...(folder === undefined ? {} : { folder }) }
    expect(wanted).toEqual({ type: "collection", asked: name, name: "acme.util", origin, pin })
  })
})

test("a role is called the same way wherever it is installed, configured or played", () => {
  for (const name of ["web", "acme.web", "acme.util.web", "_x", "a-b.c_d", "0x"]) expect(isArtifactName("role", name)).toBe(true)
  for (const name of ["dots..x", "dot.", ".dot", "-x", "", "a/b", "a b", "x".repeat(256)])
    expect(isArtifactName("role", name)).toBe(false)
})

describe("versions and pins", () => {
  test.each([
    ["1.5.0", ">=1.0.0,<2.0.0", true],
    ["2.0.0", ">=1.0.0, <2.0.0", false],
    ["2.0.0", "*", true],
    ["main", "main", true],
    ["main", "v1", false],
    [undefined, "v1", true],
    ["1.0", undefined, true],
  ])("%s and %s fit: %s", (version, pin, fits) => expect(fitsPin(version, pin)).toBe(fits))

  test("a release comes before a later pre-release, which comes before what is no version", () => {
    expect(bestVersion(["main", "2.0.0-rc.1", "1.9.0", "1.10.0"], undefined)).toBe("1.10.0")
    expect(bestVersion(["main", "2.0.0-rc.1"], undefined)).toBe("2.0.0-rc.1")
    expect(bestVersion(["main", "1.0.0"], "main")).toBe("main")
    expect(bestVersion(["1.0.0"], ">1.0.0")).toBeUndefined()
  })

  test("the best version fits, and no release that fits is above it", () => {
    const version = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((numbers) => numbers.join("."))
    fc.assert(
      fc.property(fc.array(version), fc.constantFrom(">=", "<=", "==", "<", ">"), version, (versions, operator, than) => {
        const best = bestVersion(versions, `${operator}${than}`)
        const fitting = versions.filter((candidate) => satisfiesPin(candidate, `${operator}${than}`))
        if (best === undefined) expect(fitting).toEqual([])
        else expect(fitting).toContain(best)
        for (const other of fitting) expect(satisfiesPin(other, `<=${best}`)).toBe(true)
      }),
    )
  })
})

describe("receipts", () => {
  const prepared = (kind: "role" | "collection", name: string, files: Readonly<Record<string, string>>, version?: string) =>
    prepareArtifact({
      kind,
      name,
      paths: new Set(Object.keys(files)),
      textOf: (path) => files[path],
      installedOn: "2026-01-01",
      ...(version === undefined ? {} : { version }),
    })

  test("return the version that was written, whatever it is", () => {
    const odd = fc.constantFrom("1.10", "v1.0.0", "main", "0x10", "1e3", "yes", "2026-01-01", "null", '"', "'x'", "a\\b", "# x")
    const version = fc
      .oneof(odd, fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 80 }))
      .filter((text) => text !== "*")
    fc.assert(
      fc.property(version, (plain) => {
        const role = Result.getOrThrow(prepared("role", "web", { "tasks/main.yml": "" }, plain))
        expect(installedVersion("meta/.galaxy_install_info", role.added.get("meta/.galaxy_install_info") ?? "")).toBe(plain)
        const source = { "galaxy.yml": "namespace: acme\nname: util\n" }
        const collection = Result.getOrThrow(prepared("collection", "acme.util", source, plain))
        expect(installedVersion("MANIFEST.json", collection.added.get("MANIFEST.json") ?? "")).toBe(plain)
      }),
    )
  })

  test.each([
    ["install_date: x\nversion: 1.2.3\n", "1.2.3"],
    ["{install_date: x, version: 1}", undefined],
    ["version: 'v1'\r\n", "v1"],
    ["version: null\n", undefined],
    ["version:\n", undefined],
    ["", undefined],
  ])("of other tools are read: %j", (text, version) => {
    expect(installedVersion("meta/.galaxy_install_info", text)).toBe(version)
  })

  test("hostile text stays text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const file of ["meta/.galaxy_install_info", "MANIFEST.json", "galaxy.yml"]) installedVersion(file, text)
        for (const kind of ["role", "collection", "template"] as const) readNeeds(kind, () => text)
        expect(typeof roleOfArchive(text)).toBe("string")
      }),
    )
  })
})

describe("what something needs", () => {
  test("is in a role's metadata and requirements, in every form that its authors use", () => {
    const files: Readonly<Record<string, string>> = {
      "meta/main.yml":
        "dependencies:\n  - acme.a\n  - {role: acme.b, version: '1.10'}\n  - {src: 'https://git.example/c.git', scm: git, name: c}\n  - {when: true}\n  - []\n",
      "meta/requirements.yml": "roles: [acme.d]\ncollections: [acme.util]\n",
    }
    expect(readNeeds("role", (path) => files[path])).toEqual({
      roles: [
        { name: "acme.a" },
        { name: "acme.b", version: "1.10" },
        { name: "c", src: "https://git.example/c.git", scm: "git" },
        { name: "acme.d" },
      ],
      collections: [{ name: "acme.util" }],
    })
  })

  test("is in a role's list of requirements, the only form that Ansible's tool takes there", () => {
    const list =
      "- src: acme.a\n  version: 1.10\n- acme.b,2.0\n- {src: 'https://git.example/c.git', scm: git, name: c}\n- [acme.d]\n"
    expect(readNeeds("role", (path) => (path === "meta/requirements.yml" ? list : undefined))).toEqual({
      roles: [
        { src: "acme.a", version: "1.10" },
        { name: "acme.b,2.0" },
        { name: "c", src: "https://git.example/c.git", scm: "git" },
      ],
      collections: [],
    })
  })

  test("is in a collection's manifest, else in its galaxy.yml", () => {
    const manifest = JSON.stringify({
      collection_info: { namespace: "acme", name: "x", dependencies: { "acme.a": "*", "acme.b": ">=1.0" } },
    })
    const source = "namespace: acme\nname: x\ndependencies: {acme.c: '1.0'}\n"
    const needs = (files: Readonly<Record<string, string>>) => readNeeds("collection", (path) => files[path]).collections
    expect(needs({ "MANIFEST.json": manifest, "galaxy.yml": source })).toEqual([
      { name: "acme.a" },
      { name: "acme.b", version: ">=1.0" },
    ])
    expect(needs({ "galaxy.yml": source })).toEqual([{ name: "acme.c", version: "1.0" }])
    expect(needs({})).toEqual([])
  })
})

test("an archive is of the role that its file is named after", () => {
  const names = {
    "acme.web.tar.gz": "acme.web",
    "web.TGZ": "web",
    "web.tar.tar": "web",
    web: "web",
    "acme.tar.web": "acme.tar.web",
    ".tar": "",
  }
  for (const [file, role] of Object.entries(names)) expect(roleOfArchive(file)).toBe(role)
})
