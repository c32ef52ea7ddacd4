import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import type { TreeEntry } from "../src/content/tree.ts"
import { dryRunOf, entriesBelow, planInstall, type Present, sayFailures, unmetDeclarations } from "../src/install/index.ts"
import type { BrokenItem, ShippedBlueprint, SourceContent } from "../src/source/index.ts"

const blueprint = (
  id: string,
  requirements: Partial<ShippedBlueprint["requirements"]> = {},
  roles: ReadonlyArray<string> = [],
) => ({
  id,
  name: id,
  version: "1.0.0",
  tags: [],
  config: { path: `blueprints/${id}/range-config.yml`, text: "" },
  references: { templates: [], roles },
  requirements: { roles: [], collections: [], subscriptionRoles: [], ...requirements },
})
const content = (shipped: Partial<SourceContent>): SourceContent => ({
  manifest: { authors: [] },
  blueprints: [],
  templates: [],
  roles: [],
  collections: [],
  broken: [],
  ...shipped,
})
const nothing: Present = {
  templates: [],
  roles: [],
  collections: [],
  globalRoles: [],
  blueprints: [],
  otherBlueprints: new Set(),
  builtInTemplates: new Set(),
}
const file = (path: string): TreeEntry => ({ kind: "file", path, size: 1, executable: false })
const plan = (shipped: Partial<SourceContent>, present: Partial<Present> = {}, wish = {}, files?: ReadonlyArray<TreeEntry>) =>
  Result.getOrThrow(
    planInstall(
      { id: "s", content: content(shipped), ...(files === undefined ? {} : { files }) },
      { ...nothing, ...present },
      wish,
    ),
  )
const hello = { name: "acme.hello", directory: "ansible/roles/hello", version: "2.0.0" }

describe("an item", () => {
  test("that is there in another version differs without force, and says which version is there", () => {
    const there = { roles: [{ name: "acme.hello", version: "1.0.0" }] }
    expect(plan({ roles: [hello] }, there).artifacts).toEqual([
      { kind: "role", ...hello, change: "differs", because: "version 1.0.0 is installed" },
    ])
    expect(plan({ roles: [hello] }, there, { force: true }).artifacts[0]?.change).toBe("replace")
  })

  test("that is there and is the same stays, also with force", () => {
    const there = { roles: [{ name: "acme.hello", same: true }] }
    expect(plan({ roles: [hello] }, there, { force: true }).artifacts[0]?.change).toBe("keep")
  })

  test("that cannot be installed is refused with the reason, and the others are planned", () => {
    const shipped = {
      templates: [
        { name: "debian", directory: "templates/debian" },
        { name: "two", directory: "templates/two" },
      ],
      roles: [hello, { name: "none", directory: "ansible/roles/none" }, { name: "sub", directory: "ansible/roles/sub" }],
    }
    const files = [
      file("ansible/roles/hello/tasks/main.yml"),
      file("ansible/roles/none/README.md"),
      file("templates/debian/x.pkr.hcl"),
      file("templates/two/a.pkr.hcl"),
      file("templates/two/b.pkr.json"),
    ]
    const made = plan(shipped, { builtInTemplates: new Set(["debian"]) }, { force: true }, files).artifacts
    expect(made.map(({ name, change, because = "" }) => `${name} ${change} ${because}`.trim())).toEqual([
      "debian refuse a built-in template has the name debian",
      "two refuse it has 2 builder files (*.pkr.hcl or *.pkr.json); a template has one",
      "acme.hello place",
      "none refuse it has none of the folders that make a role: tasks, meta, defaults, handlers, vars, files, templates, library",
      "sub refuse ansible/roles/sub is empty, like a submodule that was not fetched",
    ])
  })
})

describe("what nobody can install of a source", () => {
  const broken = (kind: BrokenItem["kind"], name: string, directory: string, state: BrokenItem["state"] = "invalid") => ({
    kind,
    name,
    directory,
    state,
    problem: `${directory} is wrong`,
  })
  const files = ["acme.util/README.md", "bare/README.md", "util/galaxy.yml"].map((path) => file(`ansible/collections/${path}`))
  const shipped = {
    collections: [{ name: "acme.util", directory: "ansible/collections/util" }],
    broken: [
      broken("collection", "acme.util", "ansible/collections/acme.util", "conflict"),
      broken("collection", "bare", "ansible/collections/bare"),
      broken("blueprint", "lab", "blueprints/lab"),
      broken("role", "-rf", "ansible/roles/-rf"),
    ],
  }
  const told = (wish: object) => plan(shipped, {}, wish, files).artifacts.map(({ name, change }) => `${name} ${change}`)

  test("is reported if everything is selected; the first item of a name is installed", () => {
    expect(told({})).toEqual(["acme.util place", "-rf refuse", "ansible/collections/acme.util refuse", "bare refuse"])
    expect(told({ selection: { localCollections: ["acme.util"] } })).toEqual(["acme.util place"])
  })

  test("fails with its reason if selected by name, and does not affect other items", () => {
    const wish = { selection: { localRoles: ["-rf"], blueprints: ["lab"], localCollections: ["acme.util"] } }
    const { artifacts, blueprints, selection } = plan(shipped, {}, wish)
    expect(artifacts.map(({ name, change, because }) => [name, change, because])).toEqual([
      ["acme.util", "place", undefined],
      ["-rf", "refuse", "ansible/roles/-rf is wrong"],
    ])
    expect(blueprints).toEqual([
      { publicId: "s/lab", blueprint: { id: "lab", version: "" }, change: "refuse", because: "blueprints/lab is wrong" },
    ])
    expect(selection).toEqual({ blueprints: [], templates: [], localRoles: [], localCollections: ["acme.util"] })
    expect(planInstall({ id: "s", content: content(shipped) }, nothing, { selection: { localRoles: ["-rf", "away"] } })).toEqual(
      Result.fail([{ kind: "role", name: "away" }]),
    )
  })

  test("is not treated as removed: an installed blueprint stays", () => {
    const rows = ["lab", "gone"].map((sourceBlueprintID) => ({ sourceBlueprintID, same: false }))
    expect(plan(shipped, { blueprints: rows }, { selection: {} }).pruned).toEqual(["gone"])
  })
})

describe("a blueprint", () => {
  test("is refused where another one has its ID, which a row of this source never is", () => {
    const shipped = { blueprints: [blueprint("a"), blueprint("b"), blueprint("c"), blueprint("d")] }
    const present = {
      otherBlueprints: new Set(["s/a"]),
      blueprints: [
        { sourceBlueprintID: "c", same: false },
        { sourceBlueprintID: "d", same: true },
        { sourceBlueprintID: "gone", same: true },
      ],
    }
    const made = plan(shipped, present, { selection: {} })
    expect(made.blueprints).toEqual([])
    expect(made.pruned).toEqual(["gone"])
    expect(plan(shipped, present).blueprints.map(({ publicId, change }) => `${publicId} ${change}`)).toEqual([
      "s/a refuse",
      "s/b create",
      "s/c refresh",
      "s/d keep",
    ])
  })

  test("brings the roles that its requirements name by directory or full name, and fetches neither", () => {
    const shipped = {
      roles: [hello],
      blueprints: [
        blueprint("short", { roles: [{ name: "hello" }] }),
        blueprint("full", { roles: [{ name: "acme.hello", version: "9" }, { name: "pub.docker" }] }),
      ],
    }
    const short = plan(shipped, {}, { selection: { blueprints: ["short"] } })
    expect(short.selection.localRoles).toEqual(["acme.hello"])
    expect([short.roles, short.vendoredRoles]).toEqual([[], []])
    const full = plan(shipped, {}, { selection: { blueprints: ["full"] } })
    expect(full.roles.map(({ requirement }) => requirement.name)).toEqual(["pub.docker"])
    expect(full.vendoredRoles).toEqual([{ name: "acme.hello", version: "2.0.0" }])
  })

  test("installs what the source ships without dependencies, if they are not requested", () => {
    const shipped = {
      roles: [hello],
      blueprints: [blueprint("a", { roles: [{ name: "hello" }, { name: "pub.docker" }], subscriptionRoles: ["sub"] })],
    }
    const made = plan(shipped, {}, { noDeps: true })
    expect(made.artifacts.map(({ name }) => name)).toEqual(["acme.hello"])
    expect([made.roles, made.collections, made.vendoredRoles, made.subscriptionRoles]).toEqual([[], [], [], []])
  })
})

describe("a requirement of several blueprints", () => {
  const docker = (version?: string) => ({ name: "pub.docker", ...(version === undefined ? {} : { version }) })
  const shipped = {
    blueprints: [
      blueprint("a", { roles: [docker()] }),
      blueprint("b", { roles: [docker("1.0.0")] }),
      blueprint("c", { roles: [docker(">=2")] }),
    ],
  }

  test("is fetched once, in the first version that a blueprint names", () => {
    const { roles } = plan(shipped)
    expect(roles.map(({ requirement, change }) => ({ ...requirement, change }))).toEqual([
      { name: "pub.docker", version: "1.0.0", change: "place" },
    ])
  })

  test("leaves declarations unmet that the installed version does not satisfy", () => {
    const [requirement] = plan(shipped).roles
    if (requirement === undefined) throw new Error("nothing was planned")
    const unmet = (version: string | undefined) => unmetDeclarations(requirement, version).map(({ blueprint: id }) => id)
    expect(unmet("1.0.0")).toEqual(["c"])
    expect(unmet("2.1.0")).toEqual([])
    expect(unmet(undefined)).toEqual([])
  })

  test("that is installed is kept if its version fits, and reported if not", () => {
    const there = (version: string) => plan(shipped, { roles: [{ name: "pub.docker", version }] }).roles[0]?.change
    expect([there("1.0.0"), there("1.1.0")]).toEqual(["keep", "differs"])
  })
})

test("all selected items that are not shipped are reported", () => {
  const made = planInstall({ id: "s", content: content({}) }, nothing, { selection: { blueprints: ["a"], localRoles: ["b"] } })
  expect(Result.isFailure(made) && made.failure).toEqual([
    { kind: "blueprint", name: "a" },
    { kind: "role", name: "b" },
  ])
})

test("a dry run says what happens to each item, and which subscription roles are there", () => {
  const shipped = { roles: [hello], blueprints: [blueprint("a", { subscriptionRoles: ["here", "there"] }, ["hello"])] }
  const made = plan(shipped, { globalRoles: ["there"], blueprints: [{ sourceBlueprintID: "old", same: true }] })
  expect(dryRunOf({ id: "s", name: "Labs" }, made)).toEqual({
    sourceName: "Labs",
    blueprintIDs: ["s/a"],
    templates: [],
    localRoles: ["acme.hello"],
    localCollections: [],
    galaxyRoles: [],
    galaxyCollections: [],
    subscriptionRoles: ["here"],
    prunedBlueprintIDs: ["s/old"],
    items: [
      { kind: "blueprint", name: "s/a", version: "1.0.0", change: "create" },
      { kind: "blueprint", name: "s/old", change: "remove" },
      { kind: "local_role", name: "acme.hello", version: "2.0.0", change: "place" },
      { kind: "subscription_role", name: "here", change: "place" },
      { kind: "subscription_role", name: "there", change: "keep" },
    ],
  })
})

test("the files of a folder are those below it, not those of a folder that begins with its name", () => {
  const files = [file("a/b/1"), file("a/b-c/2"), file("a/b/x/3"), file("a/c/4")].toSorted((x, y) => (x.path < y.path ? -1 : 1))
  expect(entriesBelow(files, "a/b").map(({ path }) => path)).toEqual(["1", "x/3"])
  expect(entriesBelow(files, "a/z")).toEqual([])
})

test("failures are said on one line, and no more than fits a status", () => {
  expect(
    sayFailures([
      { kind: "template", name: "deb", because: "no builder file" },
      { kind: "subscription_role", name: "", because: "no licence" },
    ]),
  ).toBe("template deb: no builder file; subscription_role: no licence")
  expect(sayFailures([{ kind: "role", name: "r", because: "x".repeat(5000) }])).toHaveLength(4000)
})
