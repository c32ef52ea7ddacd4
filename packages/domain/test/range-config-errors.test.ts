import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { configurationError } from "../src/range/config/index.ts"
import { rangeFile } from "./range-config-arbitrary.ts"
import { accepted, brief, machineKeys, refused } from "./range-config-text.ts"

const wrongMachine = (keys: object): ReadonlyArray<string> => brief(refused({ ludus: [machineKeys("a", { ...keys })] }))
const wrongRule = (keys: object): ReadonlyArray<string> => {
  const rule = { name: "r", vlan_src: 2, vlan_dst: 3, protocol: "tcp", ports: "all", action: "DROP", ...keys }
  return brief(refused({ ludus: [], network: { rules: [rule] } }))
}

describe("a machine is refused", () => {
  test.each([
    [{ vlan: 1 }, "ludus[0].vlan out-of-range"],
    [{ vlan: 256 }, "ludus[0].vlan out-of-range"],
    [{ vlan: 10.5 }, "ludus[0].vlan not-whole"],
    [{ vlan: "10" }, "ludus[0].vlan wrong-type"],
    [{ ip_last_octet: 0 }, "ludus[0].ip_last_octet out-of-range"],
    [{ ip_last_octet: 254 }, "ludus[0].ip_last_octet out-of-range"],
    [{ ram_gb: 0.5 }, "ludus[0].ram_gb not-whole"],
    [{ ram_gb: 4097 }, "ludus[0].ram_gb out-of-range"],
    [{ ram_min_gb: 0.4 }, "ludus[0].ram_min_gb out-of-range"],
    [{ cpus: 513 }, "ludus[0].cpus out-of-range"],
    [{ vm_name: 5 }, "ludus[0].vm_name wrong-type"],
    [{ vm_name: undefined }, "ludus[0] missing-key"],
    [{ boot_disk: "sata0" }, "ludus[0].boot_disk unknown-key"],
    [{ linux: null }, "ludus[0].linux wrong-type"],
    [{ linux: undefined }, "ludus[0] no-operating-system"],
    [{ macOS: false }, "ludus[0].macOS several-operating-systems"],
    [{ linux: undefined, windows: null }, "ludus[0].windows wrong-type"],
    [{ linux: undefined, windows: { office_version: 2020 } }, "ludus[0].windows.office_version not-allowed"],
    [
      { linux: undefined, windows: { gpos: [] }, domain: { fqdn: "a.b", role: "member" } },
      "ludus[0].windows.gpos policies-need-primary-dc",
    ],
    [{ domain: { fqdn: "no host", role: "member" } }, "ludus[0].domain.fqdn not-allowed"],
    [{ domain: { fqdn: "a.b" } }, "ludus[0].domain missing-key"],
    [{ testing: { snapshot: true } }, "ludus[0].testing missing-key"],
    [{ roles: [{ depends_on: [] }] }, "ludus[0].roles[0] missing-key"],
    [{ roles: [5] }, "ludus[0].roles[0] wrong-type"],
    [{ dns_rewrites: "a" }, "ludus[0].dns_rewrites wrong-type"],
  ])("%j", (keys, issue) => {
    expect(wrongMachine(keys)).toEqual([issue])
  })

  test("group policies are allowed without a domain", () => {
    const windows = { linux: undefined, windows: { gpos: ["disable_defender"] } }
    expect(accepted({ ludus: [machineKeys("a", windows)] }).config.machines).toHaveLength(1)
    expect(accepted({ ludus: [machineKeys("a", { ...windows, domain: { fqdn: "a.b", role: "primary-dc" } })] }).warnings).toEqual(
      [],
    )
  })
})

describe("a rule of the firewall is refused", () => {
  test.each([
    [{ vlan_src: 1 }, "vlan_src out-of-range"],
    [{ vlan_src: "internet" }, "vlan_src not-allowed"],
    [{ protocol: "http" }, "protocol not-allowed"],
    [{ action: "accept" }, "action not-allowed"],
    [{ ports: 65_536 }, "ports out-of-range"],
    [{ ports: "80,," }, "ports not-allowed"],
    [{ ports: "80-90" }, "ports not-allowed"],
    [{ ports: "90:80" }, "ports bad-port-range"],
    [{ ports: "99999" }, "ports bad-port-range"],
    [{ ports: 80, protocol: "icmp" }, "ports ports-without-protocol"],
    [{ ports: 80, protocol: "all" }, "ports ports-without-protocol"],
    [{ ip_last_octet_src: "5:9" }, "ip_last_octet_src not-allowed"],
    [{ ip_last_octet_src: "9-5" }, "ip_last_octet_src bad-octet-range"],
    [{ ip_last_octet_dst: "5-300" }, "ip_last_octet_dst bad-octet-range"],
    [{ vlan_src: "all", ip_last_octet_src: 5 }, "ip_last_octet_src octet-without-vlan"],
    [{ vlan_dst: "public", ip_last_octet_dst: 5 }, "ip_last_octet_dst octet-without-vlan"],
  ])("%j", (keys, issue) => {
    expect(wrongRule(keys)).toEqual([`network.rules[0].${issue}`])
  })

  test("the first blocked network must be a network; further ones only cause a warning", () => {
    expect(brief(refused({ ludus: [], network: { always_blocked_networks: ["lan"] } }))).toEqual([
      "network.always_blocked_networks[0] no-network",
    ])
    const { warnings } = accepted({ ludus: [], network: { always_blocked_networks: ["10.0.0.0/8", "10.0.0.300/8", "10.0.0.1"] } })
    expect(brief(warnings)).toEqual(["network.always_blocked_networks[1] no-network"])
  })
})

describe("issues", () => {
  const text = `router:
  cpu: 2
ludus:
  - vm_name: a
    hostname: a
    template: t
    vlan: 300
    ip_last_octet: 1
    ram_gb: 1
    cpus: many
    linux: true
`
  test("come all at once, in document order, and point at the offending token", () => {
    expect(refused(text)).toMatchObject([
      {
        path: "router.cpu",
        line: 2,
        column: 3,
        code: "unknown-key",
        message: expect.stringContaining('did you mean "cpus"?') as string,
      },
      { path: "ludus[0].vlan", line: 7, column: 11, code: "out-of-range", allowed: "a whole number from 2 to 255" },
      { path: "ludus[0].cpus", line: 10, column: 11, code: "wrong-type", message: 'is text ("many")' },
    ])
  })

  test("are reported to clients in one line", () => {
    expect(configurationError(refused(text))).toBe(
      'Configuration error: invalid YAML: router.cpu: the key "cpu" is not known here; did you mean "cpus"? ' +
        "(allowed: vm_name, hostname, template, ram_gb, ram_min_gb, cpus, roles, role_vars, outbound_wireguard_config, " +
        "outbound_wireguard_vlans, inbound_wireguard, …) at line 2, column 3; " +
        "ludus.0.vlan: 300 is out of range (allowed: a whole number from 2 to 255) at line 7, column 11; " +
        'ludus.0.cpus: is text ("many") (allowed: a whole number from 1 to 512) at line 10, column 11',
    )
  })

  test("are capped, and the last says how many more there are", () => {
    const issues = refused({ ludus: Array.from({ length: 150 }, (_, index) => machineKeys(`m${index}`, { vlan: 0 })) })
    expect(issues).toHaveLength(101)
    expect(issues[99]?.path).toBe("ludus[99].vlan")
    expect(issues[100]).toMatchObject({ code: "more-issues", message: "and 50 more", severity: "error" })
  })

  test("name the whole file when it is of the wrong type", () => {
    expect(refused("- a\n")).toMatchObject([{ path: "(root)", line: 1, column: 1, message: "is a list", allowed: "an object" }])
    expect(refused("{}")).toMatchObject([{ path: "(root)", code: "missing-key", message: 'the key "ludus" is missing' }])
  })

  test("do not reveal a secret's value", () => {
    const issues = refused("ludus: []\ndefaults: {ad_domain_admin_password: 8675309}\nnotify: {urls: [12345678]}\n")
    expect(issues).toHaveLength(2)
    expect(configurationError(issues)).not.toMatch(/8675309|12345678/u)
  })

  test("advise quotes where the reader converted text to something else", () => {
    expect(refused("ludus: []\ndefaults: {timezone: 12}\n")[0]?.allowed).toBe("text; quote it if text is meant")
  })

  test("of broken YAML say where it broke, once", () => {
    expect(refused("ludus:\n  - vm_name: {{ range_id }}-a\n    hostname: b\n")[0]).toMatchObject({ code: "yaml-syntax", line: 2 })
    expect(refused("ludus:\n\t- a\n")).toMatchObject([{ code: "yaml-syntax", line: 2, column: 1 }])
  })
})

test("an issue points at exactly the bad token, wherever it is", () => {
  const places = (value: unknown, path: ReadonlyArray<string | number> = []): ReadonlyArray<ReadonlyArray<string | number>> =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, child]) => places(child, [...path, Array.isArray(value) ? Number(key) : key]))
      : [path]
  const put = (value: unknown, [step, ...rest]: ReadonlyArray<string | number>): unknown => {
    if (step === undefined) return "@MARK@"
    const copy: Record<string, unknown> = Array.isArray(value)
      ? ([...(value as Array<unknown>)] as unknown as Record<string, unknown>)
      : { ...(value as object) }
    copy[step] = put(copy[step], rest)
    return copy
  }
  fc.assert(
    fc.property(rangeFile, fc.nat(), (file, choice) => {
      const numeric = places({ ludus: file["ludus"] }).filter((path) =>
        ["vlan", "cpus", "ip_last_octet"].includes(String(path.at(-1))),
      )
      const path = numeric[choice % Math.max(1, numeric.length)]
      fc.pre(path !== undefined)
      const text = JSON.stringify(put(file, path), null, 2)
      const before = text.slice(0, text.indexOf('"@MARK@"')).split("\n")
      expect(refused(text)).toMatchObject([{ line: before.length, column: (before.at(-1) ?? "").length + 1 }])
    }),
  )
})
