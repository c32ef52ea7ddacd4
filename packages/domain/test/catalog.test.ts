import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import { catalogOf, everythingShipped, expandSelection, type Installed, type InstalledCopy } from "../src/catalog/index.ts"
import { emptyContent, guessCollection } from "../src/source/index.ts"
import { blueprint, config, filesOf, readOf, type Tree } from "./source-tree.ts"

const nothing: Installed = { templates: [], roles: [], collections: [] }
const source = { id: "JD-acme-labs", name: "Acme Labs" }
const contentOf = (tree: Tree) => readOf(filesOf(tree)).content

/** A source with the blueprint `lab` and whatever else. */
const lab = (given: { readonly roles?: ReadonlyArray<string>; readonly requirements?: string; readonly more?: Tree }) =>
  contentOf({
    "blueprints/lab/blueprint.yml": blueprint("lab"),
    "blueprints/lab/range-config.yml": config("debian", given.roles),
    "blueprints/lab/requirements.yml": given.requirements ?? "",
    ...given.more,
  })
const catalog = (
  content: ReturnType<typeof lab>,
  installed: Partial<Installed> = {},
  rows: Parameters<typeof catalogOf>[2] = [],
) => catalogOf({ source, content }, { ...nothing, ...installed }, rows)

const hello: Tree = {
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello, description: Says hello}",
}
const util: Tree = { "ansible/collections/any/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\ndescription: Helpers\n" }

test("a source of which nothing was fetched has an empty catalog", () => {
  expect(catalogOf({ source, content: emptyContent }, nothing, [])).toEqual({
    sourceID: "JD-acme-labs",
    sourceName: "Acme Labs",
    blueprints: { items: [], requiredRoles: [], requiredCollections: [], subscriptionRoles: [] },
    templates: [],
    localRoles: [],
    localCollections: [],
  })
})

test("a catalog has these fields and no others, whatever the kind of an item and its state", () => {
  const content = contentOf({
    ...hello,
    ...util,
    "ansible/roles/hello/meta/version.yml": "version: 2.0.0",
    "templates/d/d.pkr.hcl":
      'variable "vm_name" { default = "deb12-template" }\nvariable "description" { default = "Minimal image" }\n',
    "blueprints/web/basic/blueprint.yml": blueprint("web/basic", "description: One\n").replace("1.0.0", "1.1.0"),
    "blueprints/web/basic/range-config.yml": config("deb12-template", ["hello", "pub.docker", "lonely"]),
    "blueprints/web/basic/requirements.yml":
      "roles: [{name: pub.docker, version: 7.4.4}]\ncollections:\n  - name: acme.util\n  - {name: 'https://git.example/x/net.tools.git', type: git, version: main}\nsubscription_roles: [ghosts]\n",
  })
  const installed: Installed = {
    templates: ["deb12-template"],
    roles: [
      { name: "pub.docker", scope: "user", version: "7.4.4" },
      { name: "pub.docker", scope: "global", version: "7.0.1" },
      { name: "hello", scope: "user", version: "9.9.9" },
      { name: "ghosts", scope: "global" },
    ],
    collections: [{ name: "acme.util", scope: "user", version: "1.0.0" }],
  }
  const facts = { ...source, description: "Practice ranges", type: "git", lastSyncedAt: "2026-03-01 10:00:00.000Z" }
  expect(catalogOf({ source: facts, content }, installed, [{ sourceBlueprintID: "web/basic", version: "1.0.0" }])).toEqual({
    sourceID: "JD-acme-labs",
    sourceName: "Acme Labs",
    description: "Practice ranges",
    sourceType: "git",
    lastSyncedAt: "2026-03-01 10:00:00.000Z",
    blueprints: {
      items: [
        {
          id: "web/basic",
          name: "The web/basic",
          description: "One",
          version: "1.1.0",
          state: "upgrade_available",
          installedVersion: "1.0.0",
          requiredTemplates: ["deb12-template"],
          requiredLocalRoles: ["acme.hello"],
          requiredRoles: ["pub.docker"],
          requiredCollections: ["acme.util", "https://git.example/x/net.tools.git"],
        },
      ],
      requiredRoles: [
        {
          name: "pub.docker",
          version: "7.4.4",
          state: "upgrade_available",
          installedVersion: "7.0.1",
          global: true,
          scopes: [
            { scope: "global", version: "7.0.1", state: "upgrade_available" },
            { scope: "user", version: "7.4.4", state: "installed" },
          ],
          requiredBy: ["web/basic"],
          versionByBlueprint: { "web/basic": "7.4.4" },
        },
      ],
      requiredCollections: [
        {
          name: "acme.util",
          state: "installed",
          installedVersion: "1.0.0",
          scopes: [{ scope: "user", version: "1.0.0", state: "installed" }],
          requiredBy: ["web/basic"],
        },
        {
          name: "https://git.example/x/net.tools.git",
          version: "main",
          state: "not_installed",
          type: "git",
          fqcn: "net.tools",
          requiredBy: ["web/basic"],
          versionByBlueprint: { "web/basic": "main" },
        },
      ],
      subscriptionRoles: [
        {
          name: "ghosts",
          state: "installed",
          global: true,
          scopes: [{ scope: "global", state: "installed" }],
          requiredBy: ["web/basic"],
        },
      ],
      undeclaredDependencies: [{ blueprintID: "web/basic", role: "lonely", kind: "missing_role" }],
    },
    templates: [{ name: "deb12-template", description: "Minimal image", state: "installed", requiredBy: ["web/basic"] }],
    localRoles: [
      {
        name: "acme.hello",
        description: "Says hello",
        version: "2.0.0",
        state: "installed",
        installedVersion: "9.9.9",
        scopes: [{ scope: "user", version: "9.9.9", state: "installed" }],
        requiredBy: ["web/basic"],
      },
    ],
    localCollections: [
      {
        name: "acme.util",
        description: "Helpers",
        version: "1.0.0",
        state: "installed",
        installedVersion: "1.0.0",
        scopes: [{ scope: "user", version: "1.0.0", state: "installed" }],
        requiredBy: ["web/basic"],
      },
    ],
  })
})

describe("the state of a blueprint", () => {
  const stateWith = (...versions: ReadonlyArray<string>) =>
    catalog(
      lab({}),
      {},
      versions.map((version) => ({ sourceBlueprintID: "lab", version })),
    ).blueprints.items[0]

  test.each([
    [[], "not_installed", undefined],
    [["1.0.0"], "installed", "1.0.0"],
    [["0.9.0"], "upgrade_available", "0.9.0"],
    [["2.0.0"], "upgrade_available", "2.0.0"],
    [["1.0"], "upgrade_available", "1.0"],
    [[""], "installed", undefined],
  ])("shipped as 1.0.0 and installed as %j: %s", (versions, state, installedVersion) => {
    expect(stateWith(...versions)?.state).toBe(state)
    expect(stateWith(...versions)?.installedVersion).toBe(installedVersion)
  })
})

describe("the state of an item", () => {
  test("what ships in the source is installed or not, whatever the versions, under either of a role's names", () => {
    const content = lab({ more: { ...hello, ...util, "ansible/roles/hello/meta/version.yml": "version: 2.0.0" } })
    const state = (copies: ReadonlyArray<InstalledCopy>) => catalog(content, { roles: copies }).localRoles[0]
    expect(state([])?.state).toBe("not_installed")
    expect(state([{ name: "hello", scope: "user", version: "0.1" }])?.state).toBe("installed")
    expect(
      state([
        { name: "hello", scope: "user", version: "1" },
        { name: "acme.hello", scope: "user" },
        { name: "hello", scope: "global", version: "3" },
      ]),
    ).toMatchObject({
      installedVersion: "3",
      global: true,
      scopes: [
        { scope: "global", version: "3", state: "installed" },
        { scope: "user", state: "installed" },
        { scope: "user", version: "1", state: "installed" },
      ],
    })
  })

  test("a required role is found only by its exact name, and a subscription role only globally", () => {
    const content = lab({ requirements: "roles: [pub.docker]\nsubscription_roles: [ghosts]\n", more: hello })
    const roles: ReadonlyArray<InstalledCopy> = [
      { name: "docker", scope: "user" },
      { name: "ghosts", scope: "user" },
    ]
    const { requiredRoles, subscriptionRoles } = catalog(content, { roles }).blueprints
    expect([requiredRoles[0]?.state, subscriptionRoles[0]?.state]).toEqual(["not_installed", "not_installed"])
  })

  test("of two copies of one name in one scope the first counts", () => {
    const copies: ReadonlyArray<InstalledCopy> = [
      { name: "acme.util", scope: "user", version: "1" },
      { name: "acme.util", scope: "user", version: "2" },
    ]
    expect(catalog(lab({ more: util }), { collections: copies }).localCollections[0]?.scopes).toEqual([
      { scope: "user", version: "1", state: "installed" },
    ])
  })

  test("a git collection that is pinned to no version is installed; each of its copies still says that it differs", () => {
    const git = (pin: string) =>
      catalog(lab({ requirements: `collections: [{name: 'https://h/acme.util', type: git, version: '${pin}'}]` }), {
        collections: [{ name: "acme.util", scope: "user", version: "1.0.0" }],
      }).blueprints.requiredCollections[0]
    expect(git("main")).toMatchObject({ state: "installed", scopes: [{ state: "upgrade_available" }] })
    expect(git("1.0.1")).toMatchObject({ state: "upgrade_available", scopes: [{ state: "upgrade_available" }] })
    expect(git("v1.0.0")).toMatchObject({ state: "installed", scopes: [{ state: "installed" }] })
  })

  test("a git collection whose URL does not name it is never installed and has no full name", () => {
    const [item] = catalog(lab({ requirements: "collections: [{name: 'https://h/acme/ansible-util', type: git}]" })).blueprints
      .requiredCollections
    expect(item).toEqual({ name: "https://h/acme/ansible-util", state: "not_installed", type: "git", requiredBy: ["lab"] })
  })
})

test.each([
  ["https://h/acme/acme.util.git", "acme.util"],
  ["git+https://h/x/acme.util.git#/sub,main", "acme.util"],
  ["git@h:acme.util.git", "acme.util"],
  ["https://h/x/acme.util///", "acme.util"],
  ["https://h/x/acme.util?ref=1", "acme.util"],
  ["acme.util", "acme.util"],
  ["https://h/acme/ansible-util", undefined],
  ["https://h/Acme.Util", undefined],
  ["", undefined],
])("the collection at %s is %s", (url, name) => {
  expect(guessCollection(url)).toBe(name)
})

describe("pins", () => {
  test("the pin of the first blueprint that has one counts; of several in a file, the last", () => {
    const two = (id: string, requirements: string): Tree => ({
      [`blueprints/${id}/blueprint.yml`]: blueprint(id),
      [`blueprints/${id}/range-config.yml`]: config("t"),
      [`blueprints/${id}/requirements.yml`]: requirements,
    })
    const content = contentOf({
      ...two("c", "roles: [{name: r, version: '3'}]"),
      ...two("b", "roles: [{name: r, version: '1'}, {name: r, version: '2'}, r]"),
      ...two("a", "roles: [r]"),
    })
    const { items, requiredRoles } = catalog(content).blueprints
    expect(requiredRoles).toEqual([
      { name: "r", version: "2", state: "not_installed", requiredBy: ["a", "b", "c"], versionByBlueprint: { b: "2", c: "3" } },
    ])
    expect(items[1]?.requiredRoles).toEqual(["r", "r", "r"])
  })
})

describe("undeclared dependencies", () => {
  const undeclared = (...given: Parameters<typeof lab>) => catalog(lab(...given)).blueprints.undeclaredDependencies
  const roles = ["local_a", "acme.web", "ns.col.role", "ns.col.sub.role", "sub_role"]
  const local: Tree = { "ansible/roles/local_a/tasks/main.yml": "" }

  test("are the roles that nothing provides, with the collection that those with three parts are of", () => {
    expect(undeclared({ roles, requirements: "roles: [acme.web]", more: local })).toEqual([
      { blueprintID: "lab", role: "ns.col.role", kind: "missing_collection", parentCollection: "ns.col" },
      { blueprintID: "lab", role: "ns.col.sub.role", kind: "missing_collection", parentCollection: "ns.col" },
      { blueprintID: "lab", role: "sub_role", kind: "missing_role" },
    ])
  })

  test.each([
    ["declared by name", "collections: [ns.col]", {}],
    ["declared by the URL of its repository", "collections: [{name: 'https://h/x/ns.col.git', type: git}]", {}],
    ["shipped", "", { "ansible/collections/c/galaxy.yml": "namespace: ns\nname: col\n" }],
  ])("a role of a collection that is %s is provided", (_, requirements, more) => {
    expect(undeclared({ roles: ["ns.col.role"], requirements, more })).toBeUndefined()
  })

  test("a subscription role, a declared role and a role of the source, by either name, are provided", () => {
    const requirements = "roles: [a.b.c]\nsubscription_roles: [sub_role]"
    expect(undeclared({ roles: ["sub_role", "a.b.c", "hello", "acme.hello"], requirements, more: hello })).toBeUndefined()
  })

  test("all roles are undeclared where the requirements cannot be understood", () => {
    expect(undeclared({ roles: ["a"], requirements: "- name: a\n" })).toHaveLength(1)
  })
})

test("a collection that is wanted from its git repository is not wanted from the source", () => {
  const requirements = "collections: [{name: 'https://h/x/acme.util.git', type: git}]"
  const [item] = catalog(lab({ requirements, more: util })).localCollections
  expect(item).not.toHaveProperty("requiredBy")
})

describe("a selection", () => {
  const content = lab({
    roles: ["hello", "acme.util.role", "pub.docker"],
    requirements: "roles: [other]\ncollections: [acme.more, pub.x]\n",
    more: {
      ...hello,
      ...util,
      "ansible/collections/more/galaxy.yml": "namespace: acme\nname: more\n",
      "ansible/roles/other/tasks/main.yml": "",
      "ansible/roles/unused/tasks/main.yml": "",
      "templates/debian/x.pkr.hcl": "",
      "templates/unused/x.pkr.hcl": "",
      "blueprints/second/blueprint.yml": blueprint("second"),
      "blueprints/second/range-config.yml": config("unused"),
    },
  })

  test("of a blueprint brings what it needs of the same source, and no other blueprint", () => {
    expect(expandSelection(content, { blueprints: ["lab"] })).toEqual(
      Result.succeed({
        blueprints: ["lab"],
        templates: ["debian"],
        localRoles: ["acme.hello", "other"],
        localCollections: ["acme.more", "acme.util"],
      }),
    )
  })

  test("of nothing is nothing; of everything is everything", () => {
    expect(expandSelection(content, {})).toEqual(
      Result.succeed({ blueprints: [], templates: [], localRoles: [], localCollections: [] }),
    )
    expect(expandSelection(content, everythingShipped(content))).toEqual(Result.succeed(everythingShipped(content)))
  })

  test("of what is not shipped names all of it", () => {
    const wanted = {
      blueprints: ["lab", "nolab"],
      templates: ["x"],
      localRoles: ["hello"],
      localCollections: ["acme.util", "a.b"],
    }
    expect(expandSelection(content, wanted)).toEqual(
      Result.fail([
        { kind: "blueprint", name: "nolab" },
        { kind: "template", name: "x" },
        { kind: "role", name: "hello" },
        { kind: "collection", name: "a.b" },
      ]),
    )
  })
})
