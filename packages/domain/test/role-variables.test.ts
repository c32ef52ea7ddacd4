import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readRoleVariables } from "../src/index.ts"

const read = (files: Readonly<Record<string, string>>) => readRoleVariables((path) => files[path])
const defaultsOf = (text: string) => read({ "defaults/main.yml": text }).defaults

describe("defaults of a role", () => {
  test("that are invalid do not affect the others", () => {
    const text =
      "a: 1\ninf: .inf\nnan: .nan\n__proto__: {polluted: 1}\n? [x, y]\n: z\n~: 1\n1: one\nconstructor: 3\nloop: &l [*l]\nz: end\n"
    expect(defaultsOf(text)).toEqual({ a: 1, inf: ".inf", nan: ".nan", "1": "one", constructor: 3, z: "end" })
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  })

  test("mean what they mean to Ansible, whose YAML is 1.1", () => {
    const text =
      "yes: yes\non: 'on'\noct: 0644\nlater: 0o17\nthousand: 1_000\nclock: 1:30\nmin: -1:30\nexp: 1e3\nexps: 1.5e+3\ndate: 2020-01-01\n"
    expect(defaultsOf(text)).toEqual({
      yes: true,
      on: "on",
      oct: 420,
      later: "0o17",
      thousand: 1000,
      clock: 90,
      min: -90,
      exp: "1e3",
      exps: 1500,
      date: "2020-01-01",
    })
  })

  test("lose no digit of large numbers, which are whole all the same", () => {
    const { defaults, variables } = read({ "defaults/main.yml": "big: 12345678901234567890\n" })
    expect(defaults).toEqual({ big: "12345678901234567890" })
    expect(variables).toEqual([{ name: "big", type: "int", default: "12345678901234567890" }])
  })

  test("that would expand to gigabytes are not expanded", () => {
    const bomb = [..."bcdefghi"].map((c, at) => `${c}: &${c} [${Array(9).fill(`*${"abcdefgh"[at]}`).join(",")}]`).join("\n")
    expect(defaultsOf(`a: &a [x,x,x,x,x,x,x,x,x]\n${bomb}\n`)).toEqual({})
  })

  test("of any text are read without a fault", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab: -[]{}&*!|>'\"\n?,.0_") }), (text) => {
        expect(JSON.parse(JSON.stringify(defaultsOf(text)))).toEqual(defaultsOf(text))
      }),
    )
  })
})

describe("argument specifications of a role", () => {
  const spec = `
argument_specs:
  main:
    options:
      users:
        type: list
        elements: dict
        required: "yes"
        options:
          name: {type: str, required: true}
          keys: {type: list, elements: str, default: []}
      port: {type: int}
  install:
    options:
      version: {type: str, description: [Which, one]}
`
  test("tell of the keys of dictionaries, and of every entry point", () => {
    expect(read({ "meta/argument_specs.yml": spec, "defaults/main.yml": "port: 80\n" }).variables).toEqual([
      { name: "port", type: "int", default: 80 },
      {
        name: "users",
        type: "list",
        elements: "dict",
        required: true,
        options: [
          { name: "keys", type: "list", elements: "str", default: [] },
          { name: "name", type: "str", required: true },
        ],
      },
      { name: "version", type: "str", description: "Which\none", entryPoint: "install" },
    ])
  })

  test("that are no mappings say nothing", () => {
    for (const text of [
      "argument_specs: []\n",
      "argument_specs: {main: [1]}\n",
      "- a\n",
      "argument_specs: {main: {options: {x: [1]}}}\n",
    ])
      expect(read({ "meta/argument_specs.yml": text }).variables.map(({ type }) => type)).not.toContain("list")
  })
})
