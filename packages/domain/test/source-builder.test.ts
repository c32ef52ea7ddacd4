import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readBuilderFile } from "../src/source/index.ts"

const nameIn = (text: string): string | undefined => readBuilderFile("t.pkr.hcl", text).name

describe("the name of a template", () => {
  test.each([
    ["a literal", 'source "proxmox-iso" "x" {\n  vm_name = "deb12"\n}\n', "deb12"],
    ["a variable", 'variable "n" { default = "deb12" }\nsource "a" "b" {\n  vm_name = var.n\n}', "deb12"],
    [
      "a variable in a text",
      'variable "n" {\n type = string\n default = "12"\n}\nsource "a" "b" {\n vm_name = "deb${var.n}-x"\n}',
      "deb12-x",
    ],
    ["a number in a text", 'variable "n" {\n default = 12\n}\nsource "a" "b" {\n vm_name = "deb${ var.n }"\n}', "deb12"],
    [
      "a local",
      'variable "n" { default = "12" }\nlocals {\n  name = "deb${var.n}"\n}\nsource "a" "b" {\n vm_name = local.name\n}',
      "deb12",
    ],
    ["blanks around it", 'source "a" "b" {\n vm_name = "  deb12 "\n}', "deb12"],
    ["the first source that has one", 'source "a" "b" {\n vm_name = ""\n}\nsource "a" "c" {\n vm_name = "second"\n}', "second"],
    ["the variable, where no source says it", 'variable "vm_name" { default = "fallback" }\nsource "a" "b" {\n}', "fallback"],
    [
      "the variable, where a function says it",
      'variable "vm_name" { default = "fallback" }\nsource "a" "b" {\n vm_name = lower("X")\n}',
      "fallback",
    ],
    [
      "unknown, where a local needs another",
      'locals {\n a = "x"\n b = "${local.a}y"\n}\nsource "a" "b" {\n vm_name = local.b\n}',
      undefined,
    ],
    ["unknown, where a variable has no default", 'variable "n" {}\nsource "a" "b" {\n vm_name = "${var.n}"\n}', undefined],
    [
      "not what a nested block says",
      'source "a" "b" {\n disks {\n  vm_name = "no"\n }\n boot = [\n "vm_name = 1"\n ]\n vm_name = "yes"\n}',
      "yes",
    ],
    [
      "not what a comment says",
      '/* source "a" "b" { vm_name = "no" } */\n# vm_name = "no"\nsource "a" "b" { // {\n vm_name = "yes" # "\n}',
      "yes",
    ],
    [
      "not what a text says",
      'variable "d" { default = "source {" }\nsource "a" "b" {\n x = "${f("}")} \\" {"\n vm_name = "yes"\n}',
      "yes",
    ],
    [
      "not what a heredoc says",
      'locals {\n d = <<-EOT\n  source "a" "b" {\n  EOT\n}\nsource "a" "b" {\n vm_name = "yes"\n}',
      "yes",
    ],
    ["with escapes", 'source "a" "b" {\n vm_name = "a\\tb$${c}"\n}', "a\tb${c}"],
    ["with characters by number", 'source "a" "b" {\n vm_name = "a\\u0062\\U00000063"\n}', "abc"],
    ["none in an empty file", "", undefined],
    ["none in a file that ends early", 'source "a" "b" {\n vm_name = "x', undefined],
  ])("%s", (_, text, name) => {
    expect(nameIn(text)).toBe(name)
  })

  test("is found in JSON by the same rules", () => {
    const text = JSON.stringify({
      variable: { n: { default: "12" }, description: [{ default: "Small" }] },
      locals: [{ name: "deb${var.n}" }],
      source: { "proxmox-iso": { deb: [{ vm_name: "${local.name}" }] } },
    })
    expect(readBuilderFile("t.pkr.json", text)).toEqual({
      name: "deb12",
      description: "Small",
      os: undefined,
      icon: undefined,
      declares: new Set(["n", "description"]),
    })
  })
})

test("further details of a template come from the defaults of its variables", () => {
  const text =
    'variable "description" { default = "Small" }\nvariable "os" { default = "linux" }\nvariable "icon_path" { default = "icon.png" }\n'
  expect(readBuilderFile("t.pkr.hcl", text)).toEqual({
    name: undefined,
    description: "Small",
    os: "linux",
    icon: "icon.png",
    declares: new Set(["description", "os", "icon_path"]),
  })
})

test("a variable's value says nothing of itself: code in a name is never run, and long names do not add up", () => {
  const long = `variable "a" { default = "${"x".repeat(9_000)}" }\nsource "s" "t" {\n vm_name = "${"${var.a}".repeat(10_000)}"\n}`
  expect(nameIn(long)).toBeUndefined()
})

test("no text makes the reader throw, nor what lies around a name hide it", () => {
  const piece = fc.constantFrom(
    '"',
    "${",
    "%{",
    "}",
    "{",
    "[",
    "]",
    "<<E\n",
    "E\n",
    "\n",
    "=",
    "\\",
    "#",
    "/*",
    "*/",
    "var.a",
    "source",
    "locals",
    "x",
    " ",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 50 }), (pieces) => {
      readBuilderFile("t.pkr.hcl", pieces.join(""))
      readBuilderFile("t.pkr.json", pieces.join(""))
    }),
    { numRuns: 500 },
  )
  const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/u)
  fc.assert(
    fc.property(fc.array(fc.tuple(word, fc.string())), word, (attributes, name) => {
      const lines = attributes.map(
        ([key, value]) =>
          ` ${key}-x = ${JSON.stringify(value)
            .replaceAll("${", () => "$${")
            .replaceAll("%{", () => "%%{")}\n`,
      )
      expect(nameIn(`source "a" "b" {\n${lines.join("")} vm_name = "${name}"\n}\n`)).toBe(name)
    }),
  )
})
