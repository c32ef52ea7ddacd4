import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { RangeId } from "../src/access/ids.ts"
import { checkRangeConfig, configurationError, type RangeFacts } from "../src/range/config/index.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

const facts: RangeFacts = { rangeId: "LAB", rangeNumber: 7 }
const check = (file: object, more: Partial<RangeFacts> = {}): ReadonlyArray<string> =>
  checkRangeConfig(accepted(file), { ...facts, ...more }).map(({ severity, path, code }) => `${severity} ${path} ${code}`)
const windows = { linux: undefined, windows: {} }
const domain = (role: string, fqdn = "corp.example"): object => ({ ...windows, domain: { fqdn, role } })

describe("names", () => {
  test("are valid once the range's ID is filled in", () => {
    const legal = ["{{ range_id }}-a", "{{RANGE_ID}}b", "a.b-c", "x".repeat(63)]
    expect(check({ ludus: legal.map((name, i) => machineKeys(name, { ip_last_octet: i + 1 })) })).toEqual([])
    for (const name of ["", "-a", ".a", "a_b", "a b", "{{ user_id }}-a", "x".repeat(64), "é", "a\n"])
      expect(check({ ludus: [machineKeys(name, { hostname: "h" })] })).toEqual(["error ludus[0].vm_name illegal-name"])
    expect(check({ ludus: [], router: { vm_name: "a_b" } })).toEqual(["error router.vm_name illegal-name"])
  })

  test("are unique, as machines and as hosts", () => {
    const twice = { ludus: [machineKeys("{{ range_id }}-a"), machineKeys("{{range_id}}-a", { ip_last_octet: 6 })] }
    expect(check(twice)).toEqual(["error ludus[1].vm_name repeated-name", "error ludus[1].hostname repeated-hostname"])
    expect(check({ ludus: [machineKeys("r")], router: { vm_name: "r" } })).toEqual(["error ludus[0].vm_name repeated-name"])
  })

  test("that begin with the ID of another range are refused, except those that the range has already", () => {
    const otherRanges = ["LAB-2", "web", "SHOP"].map((id) => ({ id: id as RangeId }))
    const names = ["shop-router-debian11-x64", "LAB-2-a", "WEB-1", "LAB-22", "web", "{{ range_id }}-web-1"]
    const ludus = names.map((name, i) => machineKeys(name, { hostname: `h${i}`, ip_last_octet: i + 1 }))
    const refused = ["error ludus[0].vm_name", "error ludus[1].vm_name", "error ludus[2].vm_name"]
    expect(check({ ludus }, { otherRanges })).toEqual(refused.map((at) => `${at} name-of-another-range`))
    expect(check({ ludus }, { otherRanges, keptNames: new Set(["WEB-1", "LAB-2-a"]) })).toEqual([
      "error ludus[0].vm_name name-of-another-range",
    ])
    expect(check({ ludus: [], router: { vm_name: "SHOP-router" } }, { otherRanges })).toEqual([
      "error router.vm_name name-of-another-range",
    ])
  })

  test("of all machines of a domain differ in their first 15 characters", () => {
    const hosts = ["workstation-one-1", "other", "WORKSTATION-ONE-2"]
    const ludus = hosts.map((name, i) =>
      machineKeys(name, { ip_last_octet: i + 1, ...domain(i === 0 ? "primary-dc" : "member") }),
    )
    expect(check({ ludus }).filter((issue) => issue.startsWith("error"))).toEqual([
      "error ludus[2].hostname repeated-netbios-name",
    ])
    const apart = ludus.map((machine, i) => ({ ...machine, domain: { fqdn: `d${i}.example`, role: "primary-dc" } }))
    expect(check({ ludus: apart }).filter((issue) => issue.startsWith("error"))).toEqual([])
  })

  test("that Windows truncates cause a warning", () => {
    expect(check({ ludus: [machineKeys("x".repeat(16), windows)] })).toEqual(["warning ludus[0].hostname long-hostname"])
    expect(check({ ludus: [machineKeys("x".repeat(16))] })).toEqual([])
  })
})

describe("addresses and sizes", () => {
  test("an address is used once", () => {
    expect(check({ ludus: [machineKeys("a"), machineKeys("b"), machineKeys("c", { vlan: 11 })] })).toEqual([
      "error ludus[1].ip_last_octet repeated-address",
    ])
  })

  test("an address that DHCP also assigns causes a warning", () => {
    const ludus = [99, 100, 253].map((octet) => machineKeys(`m${octet}`, { ip_last_octet: octet }))
    expect(check({ ludus })).toEqual([
      "warning ludus[1].ip_last_octet address-in-dhcp-pool",
      "warning ludus[2].ip_last_octet address-in-dhcp-pool",
    ])
  })

  test("a ballooning minimum above the memory, and machines too large for every node, cause warnings", () => {
    const ludus = [machineKeys("a", { ram_min_gb: 3 }), machineKeys("b", { ip_last_octet: 6, ram_gb: 65, cpus: 9 })]
    const nodes = [
      { name: "n1", cpus: 4, ramGb: 64 },
      { name: "n2", cpus: 8, ramGb: 32 },
    ]
    expect(check({ ludus }, { nodes })).toEqual([
      "warning ludus[0].ram_min_gb ram-minimum-above-ram",
      "warning ludus[1].ram_gb larger-than-node",
      "warning ludus[1].cpus larger-than-node",
    ])
    expect(check({ ludus: ludus.slice(1) }, { nodes: [{ name: "n1" }] })).toEqual([])
  })
})

describe("what the server has", () => {
  test("every template that is not built is an error; the router's is only a warning", () => {
    const ludus = [
      machineKeys("a"),
      machineKeys("b", { ip_last_octet: 6, template: "kali" }),
      machineKeys("c", { ip_last_octet: 7, template: "win" }),
    ]
    expect(check({ ludus }, { templates: new Set(["debian"]) })).toEqual([
      "error ludus[1].template template-not-built",
      "error ludus[2].template template-not-built",
      "warning router.template router-template-not-built",
    ])
    expect(check({ ludus })).toEqual([])
  })

  test("every node that is named exists", () => {
    const file = {
      ludus: [machineKeys("a", { target_node: "n2" })],
      router: { target_node: "n1" },
      defaults: { target_node: "n3" },
    }
    expect(check(file, { nodes: [{ name: "n1" }] })).toEqual([
      "error ludus[0].target_node unknown-node",
      "error defaults.target_node unknown-node",
    ])
  })

  test("role names are valid, whatever is installed", () => {
    const roles = ["docker", "ns.role", "ns.coll.role", "dots..x", "dot.", "../x", "-x", "a b"]
    const found = [3, 4, 5, 6, 7].map((at) => `error ludus[0].roles[${at}] role-name`)
    expect(check({ ludus: [machineKeys("a", { roles })] })).toEqual(found)
    const installed = { names: new Set(["docker", "ns.role"]), collections: new Set(["ns.coll"]) }
    expect(check({ ludus: [machineKeys("a", { roles })] }, { roles: installed })).toEqual(found)
  })

  test("names of role variables are valid for Ansible, wherever they are set", () => {
    const vars = { fine_1: 1, _x: 1, "a-b": 1, "1a": 1, class: 1, ä: 1, "": 1 }
    const wrong = ["a-b", "1a", "class", "ä", ""]
    const [at, more] = [{ role_vars: vars }, { role_vars: { "x.y": 1 } }]
    expect(check({ ludus: [machineKeys("a", at)], router: more, global_role_vars: { "g g": 1 } })).toHaveLength(wrong.length + 2)
    expect(check({ ludus: [machineKeys("a", { role_vars: { "a-b": 1 } })] })).toEqual([
      "error ludus[0].role_vars.a-b variable-name",
    ])
  })

  test("every role is installed, by its name or by its collection", () => {
    const roles = [
      "local",
      "ns.coll.role",
      "ns.coll",
      "ns.coll.role.more",
      "ns.other.role",
      { name: "gone", depends_on: [{ vm_name: "a", role: "local" }] },
    ]
    const installed = { names: new Set(["local"]), collections: new Set(["ns.coll"]) }
    expect(check({ ludus: [machineKeys("a", { roles })] }, { roles: installed })).toEqual([
      "error ludus[0].roles[2] role-not-installed",
      "error ludus[0].roles[3] role-not-installed",
      "error ludus[0].roles[4] role-not-installed",
      "error ludus[0].roles[5] role-not-installed",
    ])
  })

  test("a role that is not installed under this name gets a suggestion", () => {
    const names = new Set(["acme.web_shop", "docker", "acme.mail"])
    const file = accepted({ ludus: [machineKeys("a", { roles: ["web_shop", "dokcer", "mail.acme"] })] })
    const messages = checkRangeConfig(file, { ...facts, roles: { names, collections: new Set() } }).map(({ message }) => message)
    expect(messages).toEqual([
      'the role "web_shop" does not exist on the Ludus server; did you mean "acme.web_shop"?',
      'the role "dokcer" does not exist on the Ludus server; did you mean "docker"?',
      'the role "mail.acme" does not exist on the Ludus server',
    ])
  })
})

describe("domains", () => {
  test("have one primary controller", () => {
    const ludus = [domain("member"), domain("alt-dc"), domain("primary-dc", "b.example"), domain("primary-dc", "B.example")].map(
      (keys, i) => machineKeys(`m${i}`, { ip_last_octet: i + 1, ...keys }),
    )
    expect(check({ ludus })).toEqual([
      "warning ludus[0].domain.fqdn domain-without-primary-dc",
      "warning ludus[1].domain.fqdn domain-without-primary-dc",
      "warning ludus[3].domain.role second-primary-dc",
    ])
  })

  test("are for Windows", () => {
    const ludus = [machineKeys("a", { domain: { fqdn: "a.example", role: "primary-dc" } })]
    expect(check({ ludus })).toEqual(["warning ludus[0].domain domain-without-windows"])
  })
})

test("keys that are well-formed but have no effect cause warnings", () => {
  const file = {
    ludus: [machineKeys("a", { linux: undefined, windows: { office_arch: "64bit", autologon_user: "u" }, role_vars: ["x"] })],
    global_role_vars: "x",
    router: { hostname: "gate", role_vars: 1, outbound_wireguard_config: "secret", iptables_commands: ["iptables -L", 5] },
    network: { always_blocked_networks: ["10.0.0.0/8"] },
    notify: {
      urls: [
        "https://hooks.example/deploy",
        "slack://[bot@]a/b/c",
        "pager://secret",
        ...Array.from({ length: 8 }, () => "ntfy:///lab"),
      ],
    },
  }
  expect(check(file)).toEqual([
    "warning ludus[0].windows.office_arch no-effect",
    "warning ludus[0].windows.autologon_user autologon-without-password",
    "warning ludus[0].role_vars variables-are-no-object",
    "warning global_role_vars variables-are-no-object",
    "warning router.hostname no-effect",
    "warning router.role_vars variables-are-no-object",
    "warning router.outbound_wireguard_config no-effect",
    "warning router.iptables_commands[1] no-effect",
    "warning network.always_blocked_networks[0] blocks-the-range",
    "warning notify.urls[1] no-effect",
    "warning notify.urls[2] no-effect",
    "warning notify.urls[10] no-effect",
  ])
  expect(check({ ludus: [], router: { hostname: "{{ range_id }}-router", role_vars: null }, notify: { urls: [] } })).toEqual([])
})

test("a rule that lets traffic out during testing, and a name that does not fit, cause warnings", () => {
  const rule = { name: "é".repeat(200), vlan_src: 10, vlan_dst: "public", protocol: "all", ports: "all", action: "ACCEPT" }
  expect(check({ ludus: [], network: { rules: [rule, { ...rule, name: "a", action: "DROP" }] } })).toEqual([
    "warning network.rules[0].name rule-name-cut",
    "warning network.rules[0].action rule-holds-while-testing",
  ])
})

test("issues point into the file", () => {
  const text =
    "ludus:\n  - vm_name: a_b\n    hostname: h\n    template: t\n    vlan: 2\n    ip_last_octet: 1\n    ram_gb: 1\n    cpus: 1\n    linux: yes\n"
  expect(checkRangeConfig(accepted(text), facts)).toMatchObject([{ line: 2, column: 14 }])
})

test("role dependencies are reported in the words that clients match", () => {
  const roles = [{ name: "r", depends_on: [{ vm_name: "{{ range_id }}-b", role: "x" }] }]
  const issues = checkRangeConfig(accepted({ ludus: [machineKeys("a", { roles })] }), facts)
  expect(configurationError(issues)).toMatch(
    /^Configuration error: ERROR: Dependency not found LAB-b:x \(line \d+, column \d+\)$/u,
  )
})

test("the lab that the tests start from has no issues", () => {
  const parsed = accepted(readFileSync(join(import.meta.dirname, "../../../examples/ad-lab.yml"), "utf8"))
  expect([...parsed.warnings, ...checkRangeConfig(parsed, facts)]).toEqual([])
  expect(parsed.config.machines.map(({ name, os, domain: member }) => [name, os.kind, member?.role])).toEqual([
    ["{{ range_id }}-dc01", "windows", "primary-dc"],
    ["{{ range_id }}-files01", "windows", "member"],
    ["{{ range_id }}-ws01", "windows", "member"],
    ["{{ range_id }}-web01", "linux", undefined],
    ["{{ range_id }}-kali", "linux", undefined],
  ])
  expect(new Set(parsed.config.machines.map(({ vlan }) => vlan)).size).toBe(3)
})
