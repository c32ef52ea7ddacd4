import { rangeConfigJsonSchema } from "@rangewright/domain"
import { describe, expect, test } from "vitest"
import { entry, placeAt } from "../src/editor/place.ts"
import { keysOf, type Schema, schemasAt, valuesOf } from "../src/editor/schema.ts"

/** The place of the bar in the text, its path as words. */
const at = (marked: string) => {
  const place = placeAt(marked.replace("|", ""), marked.indexOf("|"))
  return place && { ...place, path: place.path.map((segment) => (segment === entry ? "[]" : segment)).join(".") }
}

describe("a place in a YAML text", () => {
  test.each([
    ["lu|", "key", "", "lu"],
    ["ludus:\n  - |", "key", "ludus.[]", ""],
    ["ludus:\n- vm|", "key", "ludus.[]", "vm"],
    ["ludus:\n  - vm_name: a\n    te|", "key", "ludus.[]", "te"],
    ["ludus:\n  - vm_name: a\n    template: deb|", "value", "ludus.[].template", "deb"],
    ["ludus:\n  - vm_name: a\n    windows:\n      |", "key", "ludus.[].windows", ""],
    ["ludus:\n  - vm_name: a\n    roles:\n      - x\n      - |", "key", "ludus.[].roles.[]", ""],
    ["ludus:\n  - vm_name: a\n    roles:\n    - name: x\n      de|", "key", "ludus.[].roles.[]", "de"],
    ["ludus:\n  - vm_name: a\n\n# two\n  - vm_name: b\n    |", "key", "ludus.[]", ""],
    ["ludus:\n  - vm_name: a\nnetwork:\n  inter_vlan_default: |", "value", "network.inter_vlan_default", ""],
    ["ludus:\n  - vm_name: a\nnet|", "key", "", "net"],
  ])("%j is a %s of “%s”", (text, kind, path, typed) => {
    expect(at(text)).toMatchObject({ kind, path, typed })
  })

  test("knows the keys that are there", () => {
    expect(at("ludus:\n  - vm_name: a\n    |\n    vlan: 10\n  - cpus: 2\n")?.siblings).toEqual(["vm_name", "vlan"])
  })

  test.each(["# lu|", "a: b # c|", "a: { b|", "some words here|"])("is none in %j", (text) => {
    expect(at(text)).toBeUndefined()
  })
})

describe("the schema of configurations", () => {
  const schema = rangeConfigJsonSchema({ id: "x" }) as Schema
  const keysAt = (marked: string): readonly string[] => {
    const place = placeAt(marked.replace("|", ""), marked.indexOf("|"))
    return keysOf(schemasAt(schema, place?.path ?? [])).map(([key]) => key)
  }
  test("has the keys of a machine, of the document and of what is nested", () => {
    expect(keysAt("|")).toContain("ludus")
    expect(keysAt("ludus:\n  - |")).toEqual(expect.arrayContaining(["vm_name", "template", "vlan"]))
    expect(keysAt("ludus:\n  - vm_name: a\n    domain:\n      |")).toEqual(["fqdn", "role"])
    expect(keysAt("ludus:\n  - constructor:\n      |")).toEqual([])
  })
  test("has the values that are allowed", () => {
    expect(valuesOf(schemasAt(schema, ["network", "inter_vlan_default"]))).toEqual(["ACCEPT", "REJECT", "DROP"])
    expect(valuesOf(schemasAt(schema, ["ludus", entry, "full_clone"]))).toEqual(["true", "false"])
  })
})
