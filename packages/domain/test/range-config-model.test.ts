import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { stringify } from "yaml"
import { builtinDefaults, checkRangeConfig, exampleRangeConfig, routerDefaults } from "../src/range/config/index.ts"
import { rangeFile } from "./range-config-arbitrary.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

test("a valid file is accepted, and means the same when printed as YAML", () => {
  fc.assert(
    fc.property(rangeFile, (file) => {
      const { config } = accepted(file)
      expect(accepted(stringify(file, { version: "1.1" })).config).toEqual(config)
      expect(config.machines).toHaveLength((file["ludus"] as ReadonlyArray<unknown>).length)
    }),
  )
})

describe("what a file does not say", () => {
  test("of a machine", () => {
    const { machines } = accepted({ ludus: [machineKeys("a")] }).config
    expect(machines).toEqual([
      {
        name: "a",
        hostname: "a",
        template: "debian",
        os: { kind: "linux", packages: [] },
        vlan: 10,
        octet: 5,
        ramGb: 2,
        cpus: 2,
        clone: "linked",
        forceIp: false,
        unmanaged: false,
        testing: { snapshot: true, blockInternet: true },
        roles: [],
        roleVars: {},
        ansibleGroups: [],
        dnsRewrites: [],
        dnsServers: {},
      },
    ])
  })

  test("of everything else", () => {
    const { router, network, defaults, notify } = accepted("ludus: []").config
    expect(router).toMatchObject({ ...routerDefaults, roles: [], iptablesCommands: [] })
    expect(network).toEqual({
      interVlanDefault: "ACCEPT",
      externalDefault: "ACCEPT",
      wireguardDefault: "REJECT",
      alwaysBlocked: [],
      rules: [],
    })
    expect(defaults).toEqual(builtinDefaults)
    expect(notify).toBeUndefined()
  })

  test("a router whose memory is chosen does not balloon", () => {
    expect(accepted({ ludus: [], router: { ram_gb: 4 } }).config.router.ramMinGb).toBeUndefined()
    expect(accepted({ ludus: [], router: { cpus: 4 } }).config.router.ramMinGb).toBe(0.5)
    expect(accepted({ ludus: [], router: { ram_gb: 4, ram_min_gb: 1 } }).config.router.ramMinGb).toBe(1)
  })

  test("a range's defaults override the server's key by key", () => {
    const server = { timezone: "UTC", staleHours: 5, targetNode: "n1" }
    expect(accepted({ ludus: [], defaults: { stale_hours: 2 } }, { defaults: server }).config.defaults).toEqual({
      ...builtinDefaults,
      timezone: "UTC",
      staleHours: 2,
      targetNode: "n1",
    })
  })

  test("an absent port list means all ports", () => {
    const rule = { name: "r", vlan_src: 2, vlan_dst: "all", protocol: "tcp", action: "DROP" }
    expect(accepted({ ludus: [], network: { rules: [rule] } }).config.network.rules[0]?.ports).toBe("all")
  })
})

describe("what a file says", () => {
  test("the operating system is the key that is present, whatever its value", () => {
    const kinds = [{ linux: false }, { linux: undefined, macOS: false }, { linux: undefined, windows: {} }].map(
      (keys) => accepted({ ludus: [machineKeys("a", keys)] }).config.machines[0]?.os.kind,
    )
    expect(kinds).toEqual(["linux", "macos", "windows"])
  })

  test("options of Windows", () => {
    const windows = {
      sysprep: true,
      office_version: 2021,
      autologon_user: "u",
      autologon_password: "p",
      gpos: ["disable_defender"],
    }
    expect(accepted({ ludus: [machineKeys("a", { linux: undefined, windows })] }).config.machines[0]?.os).toEqual({
      kind: "windows",
      sysprep: true,
      additionalTools: false,
      ignorePackageChecksums: false,
      packages: [],
      office: { version: 2021, arch: "64bit" },
      autologon: { user: "u", password: "p" },
      gpos: ["disable_defender"],
    })
  })

  test("rules of the firewall", () => {
    const rule = {
      name: "r",
      vlan_src: 20,
      ip_last_octet_src: "5-9",
      vlan_dst: "wireguard",
      ip_last_octet_dst: 3,
      protocol: "tcp",
      ports: "80 , 443,8000:8010",
      action: "ACCEPT",
    }
    expect(accepted({ ludus: [], network: { rules: [rule] } }).config.network.rules).toEqual([
      {
        name: "r",
        source: { zone: 20, octets: { first: 5, last: 9 } },
        destination: { zone: "wireguard", octets: { first: 3, last: 3 } },
        protocol: "tcp",
        ports: [
          { first: 80, last: 80 },
          { first: 443, last: 443 },
          { first: 8000, last: 8010 },
        ],
        action: "ACCEPT",
      },
    ])
  })

  test("roles with dependencies, and variables as they are", () => {
    const roles = ["plain", { name: "late", depends_on: [{ vm_name: "{{ range_id }}-db", role: "early", note: 1 }], more: true }]
    const { machines, globalRoleVars } = accepted({
      ludus: [machineKeys("a", { roles, role_vars: { a: [1, { b: null }] } })],
      global_role_vars: { c: "{{ x }}" },
    }).config
    expect(machines[0]?.roles).toEqual([
      { name: "plain", dependsOn: [] },
      { name: "late", dependsOn: [{ machine: "{{ range_id }}-db", role: "early" }] },
    ])
    expect(machines[0]?.roleVars).toEqual({ a: [1, { b: null }] })
    expect(globalRoleVars).toEqual({ c: "{{ x }}" })
  })

  test("a whole number may be written with a fraction of zero", () => {
    expect(accepted("ludus: []\nrouter: {cpus: 2.0}").config.router.cpus).toBe(2)
  })
})

test("the example has no issues, and contains what it promises", () => {
  const parsed = accepted(exampleRangeConfig)
  expect([...parsed.warnings, ...checkRangeConfig(parsed, { rangeId: "LAB", rangeNumber: 7 })]).toEqual([])
  const { machines, network } = parsed.config
  expect(machines.map(({ os, vlan }) => [os.kind, vlan])).toEqual([
    ["windows", 10],
    ["windows", 10],
    ["linux", 99],
  ])
  expect(machines[2]?.testing).toEqual({ snapshot: false, blockInternet: false })
  expect(network.interVlanDefault).toBe("REJECT")
  expect(network.rules).toHaveLength(4)
})
