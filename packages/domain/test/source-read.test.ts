import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import { neededTexts, readBlueprintManifest, readSource, sayIssues } from "../src/source/index.ts"
import { blueprint, config, filesOf, readOf, refusalsOf, refusedAs, withBlueprint } from "./source-tree.ts"

describe("a source", () => {
  const tree = {
    "source.yml": "name: Acme Labs\nauthors: [Jo, Al]\nlicense: MIT\nsomething: else\n",
    "blueprints/web/basic/blueprint.yml": blueprint(
      "web/basic",
      "description: One machine\ntags: [web, 1.10]\nmin_ludus_version: 2.0\nthumbnail_path: ./pic.png\n",
    ),
    "blueprints/web/basic/range-config.yml": config("deb12-template", ["hello", "pub.docker"]),
    "blueprints/web/basic/requirements.yml":
      "roles:\n  - name: pub.docker\n    version: 7.10\n  - src: https://h/x.git\ncollections: [acme.util]\nsubscription_roles: [ghosts, {name: other}]\n",
    "blueprints/web/basic/pic.png": "",
    "templates/deb12/deb12.pkr.hcl":
      'variable "vm_name" {\n  default = "deb12-template"\n}\nvariable "description" { default = "Minimal image" }\n',
    "templates/deb12/http/preseed.cfg": "",
    "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello, description: Says hello}\n",
    "ansible/roles/hello/meta/version.yml": "version: 2.10\n",
    "ansible/roles/bare/tasks/main.yml": "[]\n",
    "ansible/collections/util/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\ndescription: Helpers\n",
    "README.md": "# not read",
  }

  test("is read whole: text stays as written, what is unknown is ignored", () => {
    const { content, warnings } = readOf(filesOf(tree))
    expect(warnings.map(({ file, message }) => `${file}: ${message}`)).toEqual([
      "blueprints/web/basic/range-config.yml: names the role hello by its folder: ranges refuse it until it says acme.hello, the name that the role is installed under",
    ])
    expect(content).toEqual({
      manifest: { name: "Acme Labs", license: "MIT", authors: ["Jo", "Al"] },
      blueprints: [
        {
          id: "web/basic",
          name: "The web/basic",
          description: "One machine",
          version: "1.0.0",
          tags: ["web", "1.10"],
          minLudusVersion: "2.0",
          thumbnail: "blueprints/web/basic/pic.png",
          config: { path: "blueprints/web/basic/range-config.yml", text: tree["blueprints/web/basic/range-config.yml"] },
          references: { templates: ["deb12-template"], roles: ["hello", "pub.docker"] },
          requirementsFile: {
            path: "blueprints/web/basic/requirements.yml",
            text: tree["blueprints/web/basic/requirements.yml"],
          },
          requirements: {
            roles: [{ name: "pub.docker", version: "7.10" }, { src: "https://h/x.git" }],
            collections: [{ name: "acme.util" }],
            subscriptionRoles: ["ghosts", "other"],
          },
        },
      ],
      templates: [{ name: "deb12-template", directory: "templates/deb12", description: "Minimal image" }],
      roles: [
        { name: "acme.hello", directory: "ansible/roles/hello", description: "Says hello", version: "2.10" },
        { name: "bare", directory: "ansible/roles/bare" },
      ],
      collections: [{ name: "acme.util", directory: "ansible/collections/util", description: "Helpers", version: "1.0.0" }],
      broken: [],
    })
  })

  test("asks for the texts that it needs: manifests first, then what they name, nothing else", () => {
    const all = filesOf(tree)
    const asked: Array<ReadonlyArray<string>> = []
    const texts = new Map<string, string>()
    for (let needed = neededTexts({ ...all, texts }); needed.length > 0; needed = neededTexts({ ...all, texts })) {
      asked.push(needed)
      for (const path of needed) texts.set(path, all.texts.get(path)!)
    }
    expect(asked).toEqual([
      [
        "source.yml",
        "blueprints/web/basic/blueprint.yml",
        "blueprints/web/basic/requirements.yml",
        "templates/deb12/deb12.pkr.hcl",
        "ansible/roles/hello/meta/main.yml",
        "ansible/roles/hello/meta/version.yml",
        "ansible/collections/util/galaxy.yml",
      ],
      ["blueprints/web/basic/range-config.yml"],
    ])
    expect(readSource({ ...all, texts })).toEqual(readSource(all))
  })

  test("is the same whatever the order of its files", () => {
    const files = filesOf(tree)
    expect(readSource({ ...files, entries: files.entries.toReversed() })).toEqual(readSource(files))
  })

  test("may ship collections alone, but not nothing", () => {
    expect(refusedAs(filesOf({ "ansible/collections/util/galaxy.yml": "namespace: a\nname: b\n" }))).toEqual([])
    expect(refusedAs(filesOf({ "roles/hello/meta/main.yml": "" }))).toEqual([". nothing-shipped"])
  })

  test.each([
    ["manifest_version: 2\n", "manifest-version"],
    ["manifest_version: one\n", "manifest-version"],
    ["name: [a]\n", "wrong-type"],
    ["authors: Jo\n", "wrong-type"],
    ["name: a\nname: b\n", "repeated-key"],
    ["- name\n", "wrong-type"],
    ["name: {{ x }}\n", "bad-key"],
    ["name: [a\n", "yaml-syntax"],
    ["__proto__: {name: x}\n", "forbidden-key"],
  ])("with the manifest %j is refused: %s", (text, code) => {
    expect(refusedAs(withBlueprint({ "source.yml": text }))).toEqual([`source.yml ${code}`])
  })

  test.each(["", "# nothing\n", "manifest_version: 0\n", "manifest_version: 1\n"])(
    "with the manifest %j says nothing of itself",
    (text) => {
      expect(readOf(withBlueprint({ "source.yml": text })).content.manifest).toEqual({ authors: [] })
    },
  )
})

describe("a blueprint", () => {
  const idsOf = (...directories: ReadonlyArray<string>): ReadonlyArray<string> =>
    readOf(
      filesOf(
        Object.fromEntries(
          directories.flatMap((directory) => [
            [`blueprints/${directory}/blueprint.yml`, blueprint(directory)],
            [`blueprints/${directory}/range-config.yml`, config("t")],
          ]),
        ),
      ),
    ).content.blueprints.map(({ id }) => id)

  test("is a directory with a manifest, one to three levels down, not inside another and not hidden", () => {
    expect(idsOf("a")).toEqual(["a"])
    expect(idsOf("a/b/c")).toEqual(["a/b/c"])
    expect(idsOf("a", "a/x")).toEqual(["a"])
    expect(idsOf("a", "b/c", ".hidden", "b/c/d/e", "b/.git/x")).toEqual(["a", "b/c"])
  })

  test("that lies where none is read is named in a warning", () => {
    const { warnings } = readOf(withBlueprint({ "blueprints/a/b/c/d/blueprint.yml": "", "blueprints/lab/x/blueprint.yml": "" }))
    expect(warnings.map(({ file, message }) => [file, message])).toEqual([
      ["blueprints/a/b/c/d/blueprint.yml", "is not read: it is more than 3 levels down"],
      ["blueprints/lab/x/blueprint.yml", "is not read: it is inside another blueprint"],
    ])
  })

  test.each([
    ["id: other", "id-is-not-path"],
    ["id: ../lab", "bad-id"],
    ["id: 9lab", "bad-id"],
    ["id: [lab]", "wrong-type"],
    ["name: ''", "missing-key"],
    ["version: latest", "bad-version"],
    ["version: 1.0.0.0", "bad-version"],
    ["config: ../other.yml", "unsafe-path"],
    ["config: /etc/passwd", "unsafe-path"],
    ["config: .", "unsafe-path"],
    ["config: a/../../x.yml", "unsafe-path"],
    ["config: absent.yml", "config-not-found"],
    ["manifest_version: 2", "manifest-version"],
    ["thumbnail_path: ../../secret.png", "unsafe-path"],
    ["tags: {a: b}", "wrong-type"],
  ])("with %s is refused: %s", (line, code) => {
    const key = line.slice(0, line.indexOf(":"))
    const manifest = blueprint("lab")
      .split("\n")
      .filter((other) => !other.startsWith(`${key}:`))
      .concat(line)
      .join("\n")
    expect(refusedAs(withBlueprint({ "blueprints/lab/blueprint.yml": manifest }))).toEqual([
      `blueprints/lab/blueprint.yml ${code}`,
    ])
  })

  test.each(["1", "1.2", "v1.2.3", "1.2.3-rc.1+b"])("may be of version %s, which stays as written", (version) => {
    const manifest = blueprint("lab").replace("1.0.0", version)
    expect(readOf(withBlueprint({ "blueprints/lab/blueprint.yml": manifest })).content.blueprints[0]?.version).toBe(version)
  })

  test("that is wrong in several ways, and others that are wrong too, are all told at once with their places", () => {
    const issues = refusalsOf(
      withBlueprint({
        "blueprints/bad/blueprint.yml": "id: bad\nversion: x\n",
        "blueprints/lab/blueprint.yml": "id: lab\nname: a\nversion: 1\nconfig: [x]\n",
      }),
    )
    expect(issues.map(({ file, path, line, column }) => `${file} ${path} ${line}:${column}`)).toEqual([
      "blueprints/bad/blueprint.yml (root) 1:1",
      "blueprints/bad/blueprint.yml (root) 1:1",
      "blueprints/bad/blueprint.yml version 2:10",
      "blueprints/lab/blueprint.yml config 4:9",
    ])
    expect(sayIssues(issues)).toContain("blueprints/lab/blueprint.yml: config: is a list (allowed: text) at line 4, column 9")
  })

  test("whose picture is missing has none", () => {
    const manifest = blueprint("lab", "thumbnail_path: pic.png\n")
    expect(readOf(withBlueprint({ "blueprints/lab/blueprint.yml": manifest })).content.blueprints[0]).not.toHaveProperty(
      "thumbnail",
    )
  })

  test("whose configuration cannot be read names nothing, and a warning says why", () => {
    const { content, warnings } = readOf(withBlueprint({ "blueprints/lab/range-config.yml": "ludus: [\n" }))
    expect(content.blueprints[0]?.references).toEqual({ templates: [], roles: [] })
    expect(warnings.map(({ file }) => file)).toEqual(["blueprints/lab/range-config.yml"])
  })

  test("names what its machines and its router name, each once", () => {
    const text =
      "ludus:\n  - {template: b, roles: [y, {name: x, depends_on: []}, {other: 1}, [z]]}\n  - {template: a, roles: [x]}\n  - 7\nrouter: {template: c, roles: [r]}\n"
    const { content } = readOf(withBlueprint({ "blueprints/lab/range-config.yml": text }))
    expect(content.blueprints[0]?.references).toEqual({ templates: ["a", "b", "c"], roles: ["r", "x", "y"] })
  })

  test.each([
    ["- src: x\n", "(root)"],
    ["roles: x\n", "roles"],
    ["roles: [[x]]\n", "roles[0]"],
    ["roles:\n  - name: [x]\n", "roles[0].name"],
    ["roles: [\n", "(root)"],
  ])("with the requirements %j requires nothing, and a warning says where they are wrong", (text, path) => {
    const { content, warnings } = readOf(withBlueprint({ "blueprints/lab/requirements.yml": text }))
    expect(content.blueprints[0]?.requirements).toEqual({ roles: [], collections: [], subscriptionRoles: [] })
    expect(content.blueprints[0]?.requirementsFile?.text).toBe(text)
    expect(warnings[0]?.path).toBe(path)
  })

  test("that stands alone may have any id and names its files from its own folder", () => {
    expect(readBlueprintManifest(blueprint("a/b/c", "thumbnail_path: x/../p.png\n"))).toEqual(
      Result.succeed({
        id: "a/b/c",
        name: "The a/b/c",
        version: "1.0.0",
        tags: [],
        config: "range-config.yml",
        thumbnail: "p.png",
      }),
    )
    const refused = readBlueprintManifest("id: a\nname: b\nversion: 1\nconfig: ../c\n")
    expect(Result.isFailure(refused) && refused.failure.map(({ code, line }) => [code, line])).toEqual([["unsafe-path", 4]])
  })
})

describe("an item that is wrong", () => {
  const sound = {
    "templates/a/a.pkr.hcl": 'source "x" "y" {\n vm_name = "debian"\n}\n',
    "ansible/roles/hello/tasks/main.yml": "[]\n",
    "ansible/collections/util/galaxy.yml": "namespace: acme\nname: util\n",
  }
  const wrong = {
    "templates/b/b.pkr.hcl": 'source "x" "y" {\n vm_name = "debian"\n}\n',
    "templates/c/c.pkr.hcl": 'source "x" "y" {\n vm_name = "../c"\n}\n',
    "templates/two/a.pkr.hcl": "",
    "templates/two/more/b.pkr.json": "{}",
    "templates/zero/README.md": "",
    "blueprints/bad/blueprint.yml": "id: other\nversion: [",
    "blueprints/deep/er/blueprint.yml": "id: elsewhere\nname: n\nversion: 1\nconfig: gone.yml\n",
    "ansible/roles/-x/tasks/main.yml": "[]\n",
    "ansible/collections/none/README.md": "",
    "ansible/collections/half/galaxy.yml": "namespace: acme\n",
  }

  test("is listed with what is wrong, and hides no other", () => {
    const { content } = readOf(withBlueprint({ ...sound, ...wrong }))
    const alone = readOf(withBlueprint(sound)).content
    expect({ ...content, broken: [] }).toEqual(alone)
    expect(content.broken.map(({ kind, name, state, problem }) => [kind, name, state, problem])).toEqual([
      ["role", "-x", "invalid", expect.stringContaining("a role cannot be named")],
      ["blueprint", "bad", "invalid", expect.stringContaining("blueprints/bad/blueprint.yml")],
      ["template", "c", "invalid", expect.stringContaining("the template cannot be named")],
      ["template", "debian", "conflict", expect.stringContaining("the one in templates/a keeps the name")],
      ["blueprint", "deep/er", "invalid", expect.stringContaining("differs from the directory")],
      ["collection", "half", "invalid", expect.stringContaining("name")],
      ["collection", "none", "invalid", expect.stringContaining("galaxy.yml")],
      ["template", "two", "invalid", expect.stringContaining("has 2 builder files")],
      ["template", "zero", "invalid", expect.stringContaining("has 0 builder files")],
    ])
  })

  test("refuses a source in which nothing else is", () => {
    expect(refusedAs(filesOf(wrong)).length).toBe(0)
    const { "templates/b/b.pkr.hcl": _, ...unsound } = wrong
    expect(refusedAs(filesOf(unsound)).map((text) => text.split(" ")[0])).toEqual([
      "ansible/collections/half/galaxy.yml",
      "ansible/collections/none",
      "ansible/roles/-x",
      "blueprints/bad/blueprint.yml",
      "blueprints/deep/er/blueprint.yml",
      "templates/c/c.pkr.hcl",
      "templates/two",
      "templates/zero",
    ])
  })
})

describe("a role", () => {
  const nameWith = (metadata: string): string | undefined =>
    readOf(filesOf({ "ansible/roles/dir/meta/main.yml": metadata })).content.roles[0]?.name

  test.each([
    ["galaxy_info: {namespace: ns, author: au, role_name: ro}", "ns.ro"],
    ["galaxy_info: {author: au, role_name: ro}", "au.ro"],
    ["galaxy_info: {author: au}", "au.dir"],
    ["galaxy_info: {role_name: ro}", "dir"],
    ["galaxy_info: {author: Jo Doe <jo@x>, role_name: ro}", "dir"],
    ["galaxy_info: {author: ., role_name: ..}", "dir"],
    ["galaxy_info: {author: -rf, role_name: x}", "dir"],
    ["galaxy_info: {author: [a], role_name: ro}", "dir"],
    ["galaxy_info: none", "dir"],
    ["dependencies: []", "dir"],
    ["", "dir"],
    ["galaxy_info: [", "dir"],
  ])("with %j is called %s", (metadata, name) => {
    expect(nameWith(metadata)).toBe(name)
  })

  test("has the version of its file, else the tag of its submodule", () => {
    const files = filesOf({ "ansible/roles/a/meta/version.yml": "version: 1.20\n", "ansible/roles/b/tasks/main.yml": "" })
    const tags = new Map([
      ["ansible/roles/a", "v9"],
      ["ansible/roles/b", "v3.1"],
    ])
    expect(readOf({ ...files, tags }).content.roles.map(({ version }) => version)).toEqual(["1.20", "3.1"])
  })

  test("may be an empty directory; files, links and hidden directories are none", () => {
    const { content, warnings } = readOf({
      entries: [
        { path: "ansible/roles/empty", kind: "directory" },
        { path: "ansible/roles/README.md", kind: "file" },
        { path: "ansible/roles/linked", kind: "link" },
        { path: "ansible/roles/.github/x.yml", kind: "file" },
      ],
      texts: new Map(),
    })
    expect(content.roles.map(({ name }) => name)).toEqual(["empty"])
    expect(warnings.map(({ file }) => file)).toEqual(["ansible/roles/.github", "ansible/roles/linked"])
  })
})

test("templates and collections may be in folders whose names begin with a dot; other such folders are named in a warning", () => {
  const { content, warnings } = readOf(
    filesOf({
      "templates/.deb/deb.pkr.hcl": 'variable "vm_name" {\n  default = "deb-template"\n}\n',
      "templates/.common/http/preseed.cfg": "",
      "ansible/collections/.util/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\n",
      "ansible/collections/.github/ci.yml": "",
    }),
  )
  expect(content.templates).toMatchObject([{ name: "deb-template", directory: "templates/.deb" }])
  expect(content.collections).toMatchObject([{ name: "acme.util", directory: "ansible/collections/.util" }])
  expect(warnings.map(({ file, code }) => `${file} ${code}`)).toEqual([
    "ansible/collections/.github ignored",
    "templates/.common ignored",
  ])
})

describe("a collection", () => {
  test("without a usable galaxy.yml is left out, and a warning says so", () => {
    const { content, warnings } = readOf(
      withBlueprint({
        "ansible/collections/none/README.md": "",
        "ansible/collections/half/galaxy.yml": "namespace: a\n",
        "ansible/collections/broken/galaxy.yml": "namespace: [",
      }),
    )
    expect(content.collections).toEqual([])
    expect(warnings.map(({ file }) => file)).toEqual([
      "ansible/collections/broken/galaxy.yml",
      "ansible/collections/half/galaxy.yml",
      "ansible/collections/none",
    ])
  })
})
