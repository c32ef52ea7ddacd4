import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { SourceContent } from "../src/source/index.ts"
import { filesOf, readOf, type Tree } from "./source-tree.ts"

const folder = join(import.meta.dirname, "../../../../shared/corpus/sources")
const present = existsSync(folder)

/** Files lie flat, called `<owner>-<repository>__<path with - for />`: the directories that their paths can begin with. */
const directories = [
  ["blueprints-", "blueprints/"],
  ["ansible-roles-", "ansible/roles/"],
  ["ansible-collections-", "ansible/collections/"],
] as const

const pathOf = (flat: string): string => {
  const [prefix, directory] = directories.find(([start]) => flat.startsWith(start)) ?? ["", ""]
  // Below an item, only `meta` is a directory.
  return (
    directory +
    flat
      .slice(prefix.length)
      .replace("-meta-", "/meta/")
      .replace(/-(blueprint|requirements|galaxy|range-config|config)\.yml$/u, "/$1.yml")
  )
}

const sources = (): ReadonlyMap<string, Tree> => {
  const trees = new Map<string, Record<string, string>>()
  for (const file of readdirSync(folder)) {
    const [source = "", flat = ""] = file.split("__")
    const tree = trees.get(source) ?? {}
    trees.set(source, tree)
    tree[pathOf(flat)] = readFileSync(join(folder, file), "utf8")
  }
  return trees
}

describe.skipIf(!present)(`manifests in use${present ? "" : " (skipped: the folder of collected files is not here)"}`, () => {
  /** Of the one source of which only the manifest was collected: alone it would be refused for shipping nothing. */
  const templatesOnly: Tree = { "templates/collected-elsewhere/collected.pkr.hcl": "" }
  const read = (source: string): SourceContent => {
    const tree = sources().get(source) ?? {}
    return readOf(filesOf(Object.keys(tree).length > 1 ? tree : { ...tree, ...templatesOnly })).content
  }

  test("are of three sources, and each is read without a refusal", () => {
    expect([...sources().keys()].map((source) => [source.split("-")[0], read(source).manifest.name])).toEqual([
      ["Croko", "Croko-fr ludus-templates fr"],
      ["SuibhneOFoighil", "My Blueprint Source"],
      ["badsectorlabs", "My Ludus Source"],
    ])
  })

  test("keys that the format does not have are passed over", () => {
    const { manifest, blueprints } = read("SuibhneOFoighil-blueprint-source")
    expect(manifest.authors).toEqual([])
    expect(blueprints.map(({ id, version, references }) => [id, version, references])).toEqual([
      ["example", "0.1.0", { templates: ["debian-12-x64-server-template"], roles: ["geerlingguy.docker"] }],
    ])
  })

  test("roles and collections have the names that blueprints call them by", () => {
    const { blueprints, roles, collections } = read("badsectorlabs-ludus")
    expect(blueprints.map(({ id, references: { roles: used } }) => [id, ...used])).toEqual([
      ["example", "geerlingguy.docker"],
      ["secondary", "ludus.say_hello"],
      ["vendored_role", "acme.vendored_demo"],
    ])
    expect(roles.map(({ name, version }) => [name, version])).toEqual([
      ["acme.vendored_demo", "2.0.0"],
      ["ludus.say_hello", undefined],
    ])
    expect(collections.map(({ name, version }) => [name, version])).toEqual([["ludusci.ci_utils", "1.0.0"]])
    expect(blueprints[0]?.requirements).toEqual({
      roles: [{ name: "geerlingguy.docker", version: "7.4.4" }],
      collections: [{ name: "ludusci.ci_utils" }],
      subscriptionRoles: [],
    })
  })
})
