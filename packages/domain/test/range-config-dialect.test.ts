import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { accepted, brief, refused } from "./range-config-text.ts"

const variable = (scalar: string): unknown =>
  accepted(`ludus: []\nglobal_role_vars:\n  v: ${scalar}\n`).config.globalRoleVars["v"]

describe("what a scalar means", () => {
  test.each([
    ["yes", true],
    ["On", true],
    ["y", true],
    ["NO", false],
    ["off", false],
    ["n", false],
    ["tRue", "tRue"],
    ["~", null],
    ["", null],
    ["Null", null],
    ["12", 12],
    ["-7", -7],
    ["1_000", 1000],
    ["0x1F", 31],
    ["0b101", 5],
    ["0644", 420],
    ["0o17", 15],
    ["1.50", 1.5],
    ["1e3", 1000],
    [".5", 0.5],
    ["10.7.0.1", "10.7.0.1"],
    ["1.2.3", "1.2.3"],
    ["2024-01-02", "2024-01-02"],
    ["20:25", "20:25"],
    ["12345678901234567890", "12345678901234567890"],
    ["[-1, +1]", [-1, 1]],
  ])("unquoted %s", (source, value) => {
    expect(variable(source)).toEqual(value)
  })

  test.each(["yes", "12", "null", "20:25", "0644"])("quoted %s is text", (source) => {
    expect(variable(`"${source}"`)).toBe(source)
    expect(variable(`'${source}'`)).toBe(source)
    expect(variable(`!!str ${source}`)).toBe(source)
  })

  test("booleans of YAML 1.1 are not text", () => {
    expect(brief(refused("ludus: []\ndefaults: {timezone: on, snapshot_with_RAM: yes}\n"))).toEqual([
      "defaults.timezone wrong-type",
    ])
  })

  test("an unquoted port range is text, with a warning", () => {
    const rule = "    - {name: a, vlan_src: 2, vlan_dst: 3, protocol: tcp, ports: 20:25, action: DROP}"
    const { config, warnings } = accepted(`ludus: []\nnetwork:\n  rules:\n${rule}\n`)
    expect(config.network.rules[0]?.ports).toEqual([{ first: 20, last: 25 }])
    expect(brief(warnings)).toEqual(["network.rules[0].ports base-60"])
    expect(warnings[0]).toMatchObject({ line: 4, column: rule.indexOf("20:25") + 1, severity: "warning" })
  })

  test("a number with a leading zero is octal, with a warning that says what it is read as; file modes of roles are meant so", () => {
    const machine = "  - {vm_name: a, hostname: a, template: t, ram_gb: 1, cpus: 1, vlan: 010, ip_last_octet: 011, linux: true"
    const { config, warnings } = accepted(`ludus:\n${machine}, role_vars: {mode: 0644}}\nglobal_role_vars: {umask: 022}\n`)
    expect(config.machines[0]).toMatchObject({ vlan: 8, octet: 9 })
    expect(brief(warnings)).toEqual(["ludus[0].vlan octal", "ludus[0].ip_last_octet octal"])
    expect(warnings[1]).toMatchObject({
      message: "011 begins with a zero, so it is read as octal, as 9",
      column: machine.indexOf("011") + 1,
      severity: "warning",
    })
    expect(accepted(`ludus:\n${machine.replace("010", "007").replace("011", "0o11")}}\n`).warnings).toEqual([])
  })

  test("infinity and not-a-number are refused", () => {
    expect(brief(refused("ludus: []\nglobal_role_vars: {a: .inf, b: .nan}\n"))).toEqual([
      "global_role_vars.a not-a-number",
      "global_role_vars.b not-a-number",
    ])
  })
})

describe("anchors, merges and repeated keys", () => {
  test("a machine's own keys override merged ones, wherever the merge is", () => {
    const text = `ludus_extensions:
  base: &base {template: debian, ram_gb: 2, cpus: 2, vlan: 10, linux: true, hostname: h, vm_name: merged}
ludus:
  - {vm_name: first, ip_last_octet: 1, <<: *base}
  - {<<: [*base, {cpus: 4}], vm_name: second, ip_last_octet: 2}
`
    expect(accepted(text).config.machines.map(({ name, cpus }) => [name, cpus])).toEqual([
      ["first", 2],
      ["second", 2],
    ])
  })

  test("a repeated key counts the last time, with a warning", () => {
    const { config, warnings } = accepted("ludus: []\nnetwork: {external_default: DROP}\nnetwork: {external_default: REJECT}\n")
    expect(config.network.externalDefault).toBe("REJECT")
    expect(warnings).toMatchObject([{ path: "network", line: 3, column: 1, code: "repeated-key", severity: "warning" }])
  })

  test("an anchor may be used many times", () => {
    const text = "ludus: []\nglobal_role_vars: {a: &x [1, 2], b: *x, c: [*x, *x]}\n"
    expect(accepted(text).config.globalRoleVars).toEqual({
      a: [1, 2],
      b: [1, 2],
      c: [
        [1, 2],
        [1, 2],
      ],
    })
  })
})

test("JSON is read as JSON", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (value) => {
      const text = JSON.stringify({ ludus: [], ludus_extensions: value })
      fc.pre(!text.includes("__proto__") && !/\\u(00|fff|d[89a-f])/iu.test(text) && !/[\u007f-\u009f\ufeff]/u.test(text))
      expect(accepted(text).config.extensions).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test("a byte order mark, carriage returns and a document marker change nothing", () => {
  const plain = "ludus: []\ndefaults:\n  timezone: UTC\n"
  const { config } = accepted(plain)
  for (const text of [`\uFEFF${plain}`, plain.replaceAll("\n", "\r\n"), `---\n${plain}...\n`])
    expect(accepted(text).config).toEqual(config)
})
