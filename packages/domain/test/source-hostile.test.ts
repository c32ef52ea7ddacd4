import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { neededTexts, readSource, sayIssues, type SourceFiles, sourceLimits } from "../src/source/index.ts"
import { hostileFiles } from "./range-config-hostile.ts"
import {
  blueprint,
  brokenIn,
  config,
  filesOf,
  readOf,
  refusalsOf,
  refusedAs,
  toldOf,
  type Tree,
  withBlueprint,
} from "./source-tree.ts"

describe("a path that leads elsewhere, or that no file can have, refuses the source and is never asked for", () => {
  test.each([
    "../x",
    "ansible/roles/../../x",
    "ansible/roles/a/..",
    "/etc/passwd",
    "",
    ".",
    "./source.yml",
    "ansible//roles/a/x",
    "templates/a/",
    "templates/a\0b/x",
    "templates/a\nb/x",
    "templates/\uD800/x",
    `templates/${"a".repeat(2_000)}`,
  ])("%j", (path) => {
    const files = withBlueprint({ [path]: "" })
    expect(refusalsOf(files).map(({ code }) => code)).toEqual(["unsafe-path"])
    expect(neededTexts({ ...files, texts: new Map() })).toEqual([])
  })
})

describe("paths that some file systems take for one refuse the source", () => {
  test.each([
    ["ansible/roles/web/tasks/main.yml", "ansible/roles/Web/tasks/main.yml"],
    ["ansible/roles/web/files/a.txt", "ansible/roles/web/files/A.txt"],
    ["templates/caf\u00E9/x", "templates/cafe\u0301/x"],
    ["templates/stra\u00DFe/x", "templates/STRASSE/x"],
    ["blueprints/Lab/blueprint.yml", "blueprints/lab/blueprint.yml"],
  ])("%s and %s", (one, other) => {
    const issues = refusalsOf(withBlueprint({ [one]: "", [other]: "" }))
    expect(issues.map(({ code }) => code)).toEqual(["twin-path"])
    expect(issues[0]?.message).toContain("differs from")
  })

  test("but only in the folders that are read", () => {
    expect(refusedAs(withBlueprint({ "docs/A": "", "docs/a": "" }))).toEqual([])
  })

  test("and so does one path that is there twice", () => {
    const { entries, texts } = withBlueprint()
    expect(refusalsOf({ entries: [...entries, ...entries.slice(0, 1)], texts }).map(({ code }) => code)).toEqual([
      "repeated-path",
    ])
  })
})

describe("a name that would lead elsewhere when it becomes a folder is never the name of an item that can be installed", () => {
  const template = (name: string): Tree => ({
    "templates/t/t.pkr.hcl": `source "a" "b" {\n vm_name = ${JSON.stringify(name)}\n}\n`,
  })
  test.each(["../../x", "a/b", "..", ".hidden", "-rf", "a b", "a\0b", "a\nb", "ä", "~", "a".repeat(300)])(
    "of a template: %j",
    (name) => {
      const files = withBlueprint(template(name))
      expect([toldOf(files), brokenIn(files)]).toEqual([["templates/t/t.pkr.hcl unsafe-name"], ["template t invalid"]])
      expect(readOf(files).content).toMatchObject({ templates: [], blueprints: [{ id: "lab" }] })
    },
  )

  test.each(["..", "../../x", "a/b", "A", "a-b", "-a", "a.b", "'a\\0b'"])("of a collection: %s", (part) => {
    const files = withBlueprint({ "ansible/collections/c/galaxy.yml": `namespace: ${part}\nname: x\n` })
    expect([toldOf(files)[0], brokenIn(files)]).toEqual([
      "ansible/collections/c/galaxy.yml unsafe-name",
      ["collection c invalid"],
    ])
    expect(readOf(files).content.collections).toEqual([])
  })

  test.each(["-rf", "a b", "ä", "a:b"])("of a role's directory: %s", (name) => {
    const files = withBlueprint({ [`ansible/roles/${name}/tasks/main.yml`]: "" })
    expect([toldOf(files), brokenIn(files)]).toEqual([[`ansible/roles/${name} unsafe-name`], [`role ${name} invalid`]])
    expect(readOf(files).content.roles).toEqual([])
  })

  test("nor is the second of two that would share a folder, whatever their case", () => {
    const role = (author: string): string => `galaxy_info: {author: ${author}, role_name: web}`
    const roles = withBlueprint({
      "ansible/roles/one/meta/main.yml": role("acme"),
      "ansible/roles/two/meta/main.yml": role("Acme"),
    })
    expect([toldOf(roles), brokenIn(roles)]).toEqual([["ansible/roles/two repeated-name"], ["role Acme.web conflict"]])
    expect(readOf(roles).content.roles).toMatchObject([{ name: "acme.web", directory: "ansible/roles/one" }])
    const templates = withBlueprint({ ...template("x"), "templates/x/x.pkr.hcl": "" })
    expect([toldOf(templates), brokenIn(templates)]).toEqual([["templates/x repeated-name"], ["template x conflict"]])
    expect(readOf(templates).content.templates).toEqual([{ name: "x", directory: "templates/t" }])
  })
})

describe("a requirement that a program would take for an option refuses a source that ships nothing else", () => {
  test.each([
    "roles:\n  - name: -rf\n",
    "roles:\n  - src: --upload-pack=x\n    name: a\n",
    "roles:\n  - name: a\n    version: --force\n",
    "collections:\n  - name: -r\n",
    "collections: [--help]\n",
    "subscription_roles: [-x]\n",
    'roles:\n  - name: "a\\nb"\n',
  ])("%j", (text) => {
    expect(refusedAs(withBlueprint({ "blueprints/lab/requirements.yml": text }))).toEqual([
      "blueprints/lab/requirements.yml unsafe-argument",
    ])
  })
})

describe("text that would steer a terminal", () => {
  const steering = String.raw`"\e]0;owned\a"`

  test("in a manifest refuses the source, or the blueprint that it is of", () => {
    expect(refusedAs(withBlueprint({ "source.yml": `name: ${steering}\nauthors: [${steering}]\n` }))).toEqual([
      "source.yml control-character",
      "source.yml control-character",
    ])
    const tree = {
      "blueprints/a/blueprint.yml": blueprint("a", `description: ${steering}\n`),
      "blueprints/a/range-config.yml": "",
    }
    expect(toldOf(withBlueprint(tree))).toEqual(["blueprints/a/blueprint.yml control-character"])
    expect(brokenIn(withBlueprint(tree))).toEqual(["blueprint a invalid"])
  })

  test("and what roles, collections and templates say of themselves is left out", () => {
    const { content } = readOf(
      withBlueprint({
        "ansible/roles/r/meta/main.yml": `galaxy_info: {description: ${steering}}\n`,
        "ansible/roles/r/meta/version.yml": String.raw`version: "1.0\nnew: line"`,
        "ansible/collections/c/galaxy.yml": `namespace: a\nname: c\nversion: ${steering}\ndescription: ${steering}\n`,
        "templates/t/t.pkr.json": String.raw`{"variable": {"description": {"default": "\u001b[31m"}}}`,
      }),
    )
    expect(content.roles).toEqual([{ name: "r", directory: "ansible/roles/r" }])
    expect(content.collections).toEqual([{ name: "a.c", directory: "ansible/collections/c" }])
    expect(content.templates).toEqual([{ name: "t", directory: "templates/t" }])
  })
})

describe("a link is never read", () => {
  const linked = (path: string): SourceFiles => {
    const files = withBlueprint({ [path]: "" })
    return { ...files, entries: files.entries.map((entry) => (entry.path === path ? { path, kind: "link" as const } : entry)) }
  }

  test.each([
    "source.yml",
    "blueprints/lab/requirements.yml",
    "blueprints/other/blueprint.yml",
    "templates/t/t.pkr.hcl",
    "ansible/roles/r/meta/main.yml",
    "ansible/collections/c/galaxy.yml",
  ])("%s", (path) => {
    const files = linked(path)
    expect(neededTexts({ ...files, texts: new Map() })).not.toContain(path)
    expect(readOf(files).warnings.map(({ file, code }) => `${file} ${code}`)).toContain(`${path} ignored`)
  })

  test("and a configuration that is one refuses the source", () => {
    expect(refusedAs(linked("blueprints/lab/range-config.yml"))).toEqual(["blueprints/lab/blueprint.yml config-not-found"])
  })

  test("while one inside a role is ignored here", () => {
    const files = linked("ansible/roles/r/files/current")
    expect(readOf(files).content.roles.map(({ name }) => name)).toEqual(["r"])
    expect(readOf(files).warnings).toEqual([])
  })
})

test("what is no text, or was not given, refuses the source where it is needed", () => {
  const { entries } = withBlueprint()
  expect(refusedAs({ entries, texts: new Map() })).toEqual(["blueprints/lab/blueprint.yml unreadable"])
})

test("a source with too many files is refused at once", () => {
  const entries = Array.from({ length: sourceLimits.entries + 1 }, (_, at) => ({ path: `x/${at}`, kind: "file" as const }))
  expect(refusalsOf({ entries, texts: new Map() }).map(({ code }) => code)).toEqual(["too-large"])
})

test("a source that is wrong everywhere names a hundred places, and says how many more there are", () => {
  const tree = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`ansible/roles/-${at}/x`, ""]))
  const issues = refusalsOf(filesOf(tree))
  expect(issues).toHaveLength(101)
  expect(issues.at(-1)?.message).toBe("and 400 more")
  expect(sayIssues(issues).length).toBeLessThan(5_000)
})

describe("hostile text in a manifest ends in an issue of that file, or means nothing", () => {
  const places = [
    "source.yml",
    "blueprints/lab/blueprint.yml",
    "blueprints/lab/requirements.yml",
    "ansible/roles/r/meta/main.yml",
  ]
  test.each(hostileFiles)("%s", (_, __, text) => {
    for (const place of places) {
      const read = readSource(withBlueprint({ [place]: text }))
      const issues = Result.isFailure(read) ? read.failure : read.success.warnings
      expect(issues.every(({ file }) => file === place)).toBe(true)
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  test("of any kind", () => {
    const path = fc.oneof(
      fc.constantFrom(...places, "blueprints/lab/range-config.yml", "templates/t/t.pkr.hcl", "ansible/collections/c/galaxy.yml"),
      fc.string(),
      fc
        .array(fc.constantFrom("blueprints", "templates", "ansible", "roles", "..", ".", "a", "A", ""), { maxLength: 5 })
        .map((parts) => parts.join("/")),
    )
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(blueprint("lab"), config("t"), "roles: [a]", "[", "{a: *b}", "name: {a: b}"),
    )
    fc.assert(
      fc.property(fc.dictionary(path, text), (tree) => {
        const files = withBlueprint(tree)
        const read = readSource(files)
        for (const needed of neededTexts({ ...files, texts: new Map() })) expect(files.texts.has(needed)).toBe(true)
        if (Result.isFailure(read)) expect(sayIssues(read.failure)).not.toBe("")
      }),
      { numRuns: 300 },
    )
  })
})
