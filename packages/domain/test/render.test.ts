import {
  type GuestSystem,
  type MachineConfig,
  parseDuration,
  parseRangeConfig,
  type RangeConfig,
  type RangeId,
  rangeHosts,
  readLog,
  machineAccounts,
  renderHostsFile,
  renderInventory,
  renderRemoteDesktopFiles,
  renderSshConfig,
  type SeenMachine,
  type Vmid,
} from "@rangewright/domain"
import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"

const range = { id: "LAB" as RangeId, number: 7 }

const text = `
ludus:
  - vm_name: "{{ range_id }}-dc01"
    hostname: DC01
    template: win2022-server-x64-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 4
    cpus: 2
    windows: { sysprep: false }
    domain: { fqdn: corp.example, role: primary-dc }
  - vm_name: "{{ range_id }}-ws01"
    hostname: WS01
    template: win11-22h2-x64-enterprise-template
    vlan: 10
    ip_last_octet: 21
    ram_gb: 4
    cpus: 2
    windows: { autologon_user: "alice", autologon_password: "hunter2" }
    domain: { fqdn: corp.example, role: member }
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 30
    ip_last_octet: 5
    ram_gb: 2
    cpus: 1
    linux: true
    force_ip: true
    ansible_groups: [webservers]
`
const config = ((): RangeConfig => {
  const parsed = parseRangeConfig(text)
  if (Result.isFailure(parsed)) throw new Error(JSON.stringify(parsed.failure))
  return parsed.success.config
})()

const seen = (vmid: number, name: string | undefined, more: Partial<SeenMachine> = {}): SeenMachine => ({
  vmid: vmid as Vmid,
  node: "nodea",
  name,
  power: "running",
  template: false,
  pool: "LAB",
  cpus: 2,
  memoryMiB: 4096,
  tags: [],
  address: undefined,
  isRouter: false,
  ...more,
})
const router = seen(140, "LAB-router-debian11-x64", { isRouter: true, address: "10.7.10.254" })
const deployed = [
  seen(143, "LAB-web", { address: "10.7.30.5", cpus: 1, memoryMiB: 2048 }),
  seen(142, "LAB-ws01", { address: "10.7.10.21", power: "stopped" }),
  seen(141, "LAB-dc01", { address: "10.7.10.11" }),
  router,
]
const hosts = rangeHosts(range, config, deployed)

describe("hosts of a range", () => {
  it("are sorted by name, without templates and without names that no file can contain", () => {
    const odd = [
      ...deployed,
      seen(150, "LAB-golden", { template: true }),
      seen(151, undefined),
      seen(152, "LAB-x\nHost *"),
      seen(153, "../etc"),
      seen(154, "__proto__"),
    ]
    expect(rangeHosts(range, config, odd).map((host) => host.name)).toEqual([
      "LAB-dc01",
      "LAB-router-debian11-x64",
      "LAB-web",
      "LAB-ws01",
    ])
  })

  it("have the configured address only where the configuration vouches for it", () => {
    const silent = deployed.map((machine) => ({ ...machine, address: undefined }))
    expect(rangeHosts(range, config, silent).map(({ name, address }) => [name, address])).toEqual([
      ["LAB-dc01", undefined],
      ["LAB-router-debian11-x64", undefined],
      ["LAB-web", "10.7.30.5"],
      ["LAB-ws01", undefined],
    ])
  })

  it("are listed without a configuration too, with what was seen of them", () => {
    expect(rangeHosts(range, undefined, deployed).map(({ name, address, groups }) => [name, address, groups[0]])).toEqual([
      ["LAB-dc01", "10.7.10.11", "LAB"],
      ["LAB-router-debian11-x64", "10.7.10.254", "LAB"],
      ["LAB-web", "10.7.30.5", "LAB"],
      ["LAB-ws01", "10.7.10.21", "LAB"],
    ])
  })
})

describe("hosts file", () => {
  it("names each host twice, in full and without the range's prefix", () => {
    expect(renderHostsFile(hosts).split("\n").slice(0, 2)).toEqual(["10.7.10.11     LAB-dc01", "10.7.10.11     dc01"])
    expect(renderHostsFile(hosts).trimEnd().split("\n")).toHaveLength(8)
  })

  it("leaves out hosts without an address, and repeats no name that has no prefix", () => {
    const plain = rangeHosts(range, undefined, [seen(1, "alone", { address: "10.7.1.1" }), seen(2, "LAB-dark")])
    expect(renderHostsFile(plain)).toBe("10.7.1.1     alone\n")
  })
})

describe("the login of a template", () => {
  it("is in the inventory, and its password is replaced when the machine was given its own", () => {
    const templateLogins = new Map([["debian-12-x64-server-template", { user: "ops", password: "of the template" }]])
    const of = (passwords: ReadonlyMap<Vmid, string>) =>
      renderInventory([{ rangeId: range.id, hosts: rangeHosts(range, config, deployed, { templateLogins, passwords }) }])
    expect(of(new Map()).match(/ansible_\w*password: of the template|ansible_user: ops/gu)).toHaveLength(3)
    expect(of(new Map([[143 as Vmid, "Rw1-own"]])).match(/ansible_\w*password: Rw1-own|ansible_user: ops/gu)).toHaveLength(3)
    expect(of(new Map([[143 as Vmid, "Rw1-own"]]))).not.toContain("of the template")
  })
})

describe("what machines report about their systems", () => {
  const inventoryOf = (system: GuestSystem, from = config) =>
    parse(
      renderInventory([
        { rangeId: range.id, hosts: rangeHosts(range, from, deployed, { systems: new Map([[143 as Vmid, system]]) }) },
      ]),
    ) as { readonly all: { readonly children: Record<string, { readonly hosts?: Record<string, Record<string, unknown>> }> } }
  const variables = (inventory: ReturnType<typeof inventoryOf>) =>
    Object.assign({}, ...Object.values(inventory.all.children).map(({ hosts: all }) => all?.["LAB-web"] ?? {})) as object

  it("is in the inventory, as group and variables, with the login of that system", () => {
    const inventory = inventoryOf({ id: "rocky", name: "Rocky Linux", versionId: "9.4", kernel: "5.14.0", machine: "x86_64" })
    expect(inventory.all.children["rocky"]?.hosts).toHaveProperty("LAB-web")
    expect(variables(inventory)).toMatchObject({
      ansible_user: "root",
      proxmox_os_id: "rocky",
      proxmox_os_kernel: "5.14.0",
      proxmox_os_machine: "x86_64",
      proxmox_os_name: "Rocky Linux",
      proxmox_os_version_id: "9.4",
    })
  })

  it("joins no group that the configuration or a range's ID created", () => {
    const machines = config.machines.map((machine) =>
      machine.name.includes("web") ? machine : { ...machine, ansibleGroups: ["rocky"] },
    )
    const inventory = inventoryOf({ id: "rocky" }, { ...config, machines })
    expect(inventory.all.children["rocky"]?.hosts).not.toHaveProperty("LAB-web")
    expect(Object.keys(inventoryOf({ id: "LAB_test_range_dc" }).all.children)).toEqual(Object.keys(inventoryOf({}).all.children))
  })
})

describe("passwords that the service gave to machines", () => {
  it("are in the inventory instead of the template's", () => {
    const own = rangeHosts(range, config, deployed, {
      passwords: new Map([
        [143 as Vmid, "Rw1-of-its-own"],
        [142 as Vmid, "Rw1-of-windows"],
      ]),
    })
    const inventory = renderInventory([{ rangeId: range.id, hosts: own }])
    expect(inventory.match(/ansible_password: .*|ansible_become_password: .*/gu)?.toSorted()).toEqual([
      "ansible_become_password: Rw1-of-its-own",
      "ansible_become_password: debian",
      "ansible_password: Rw1-of-its-own",
      "ansible_password: Rw1-of-windows",
      "ansible_password: debian",
      "ansible_password: password",
    ])
  })
})

describe("SSH client file", () => {
  it("has a block with the template's login for every host but Windows ones", () => {
    const file = renderSshConfig(hosts)
    expect(file.match(/^Host .*$/gmu)).toEqual(["Host LAB-router-debian11-x64 router-debian11-x64", "Host LAB-web web"])
    expect(file).toContain("  HostName 10.7.30.5\n  User debian\n")
  })
})

describe("remote desktop files", () => {
  const files = renderRemoteDesktopFiles(range, config, hosts)
  const user = (name: string) => /username:s:(.*)\r\n/u.exec(files.find((file) => file.name === name)?.content ?? "")?.[1]

  it("exist for each account of each Windows host, flat", () => {
    expect(files.map((file) => file.name)).toEqual([
      "LAB-dc01-domainuser.rdp",
      "LAB-dc01-domainadmin.rdp",
      "LAB-dc01-localuser.rdp",
      "LAB-ws01-domainuser.rdp",
      "LAB-ws01-domainadmin.rdp",
      "LAB-ws01-alice.rdp",
      "LAB-ws01-localuser.rdp",
    ])
  })

  it("name the domain by its first label, and the machine for local accounts", () => {
    expect(user("LAB-dc01-domainadmin.rdp")).toBe("corp\\domainadmin")
    expect(user("LAB-ws01-alice.rdp")).toBe("corp\\alice")
    expect(user("LAB-ws01-localuser.rdp")).toBe("LAB-ws01\\localuser")
  })

  it("point at the configured address while the guest has told none", () => {
    const silent = rangeHosts(range, config, [seen(142, "LAB-ws01")])
    expect(renderRemoteDesktopFiles(range, config, silent)[0]?.content).toContain("full address:s:10.7.10.21\r\n")
  })

  it("have flat names and one setting per line, whatever an account is called", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (account) => {
        const [, ws01] = config.machines
        if (ws01?.os.kind !== "windows") throw new Error("no Windows machine")
        const hostile: MachineConfig = { ...ws01, os: { ...ws01.os, autologon: { user: account } } }
        const made = renderRemoteDesktopFiles(
          range,
          config,
          rangeHosts(range, { ...config, machines: [hostile] }, [seen(142, "LAB-ws01")]),
        )
        for (const { name, content } of made) {
          expect(name).toMatch(/^LAB-ws01-[^\p{Cc}\\/:*?"<>|]*\.rdp$/u)
          expect(content.split(/\r\n|[\r\n]/u)).toHaveLength(8)
        }
        expect(new Set(made.map((file) => file.name)).size).toBe(made.length)
      }),
    )
  })
})

describe("the accounts of a machine", () => {
  const facts = { passwords: new Map([[142 as Vmid, "own"]]) }
  const of = (name: string) => {
    const host = rangeHosts(range, config, [seen(141, "LAB-dc01"), seen(142, "LAB-ws01"), seen(143, "LAB-web")], facts).find(
      (one) => one.name === name,
    )
    return host === undefined ? [] : machineAccounts(range, config, host)
  }
  const ofDomain = [
    { label: "domainuser", user: "domainuser", domain: "corp", password: "password", protocols: ["rdp"] },
    { label: "domainadmin", user: "domainadmin", domain: "corp", password: "password", protocols: ["winrm", "rdp"] },
  ]

  it("are those of its domain, the autologon user, and its template's with the password that it was given", () => {
    expect(of("LAB-ws01")).toEqual([
      ...ofDomain,
      { label: "alice", user: "alice", domain: "corp", password: "hunter2", protocols: ["rdp"] },
      { label: "localuser", user: "localuser", password: "own", protocols: ["winrm", "rdp"] },
    ])
    expect(of("LAB-dc01")).toEqual([
      ...ofDomain,
      { label: "localuser", user: "localuser", password: "password", protocols: ["winrm", "rdp"] },
    ])
    expect(of("LAB-web")).toEqual([{ label: "debian", user: "debian", password: "debian", protocols: ["ssh"] }])
  })

  it("are none when its system is unknown", () => {
    const [unknown] = rangeHosts(range, config, [seen(199, "LAB-other")])
    expect(unknown === undefined ? undefined : machineAccounts(range, config, unknown)).toEqual([])
  })
})

interface Group {
  readonly hosts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
const inventory = (yaml: string): Readonly<Record<string, Group>> =>
  (parse(yaml, { version: "1.1" }) as { readonly all: { readonly children: Readonly<Record<string, Group>> } }).all.children

describe("inventory", () => {
  const groups = inventory(renderInventory([{ rangeId: range.id, hosts }]))

  it("has the groups of the range, of the systems, of what runs and of the configuration", () => {
    const members = Object.fromEntries(Object.entries(groups).map(([name, { hosts = {} }]) => [name, Object.keys(hosts)]))
    expect(members).toEqual({
      LAB: ["LAB-dc01", "LAB-router-debian11-x64", "LAB-web", "LAB-ws01"],
      LAB_linux_endpoints: ["LAB-web"],
      LAB_router: ["LAB-router-debian11-x64"],
      LAB_test_range_dc: ["LAB-dc01"],
      LAB_test_range_network: ["LAB-dc01"],
      LAB_windows_endpoints: ["LAB-ws01"],
      debian: ["LAB-router-debian11-x64", "LAB-web"],
      running: ["LAB-dc01", "LAB-router-debian11-x64", "LAB-web"],
      webservers: ["LAB-web"],
      windows: ["LAB-dc01", "LAB-ws01"],
    })
  })

  it("describes each host once, where it first occurs", () => {
    expect(groups["LAB"]?.hosts?.["LAB-web"]).toMatchObject({
      ansible_host: "10.7.30.5",
      ansible_user: "debian",
      proxmox_vmid: 143,
      proxmox_node: "nodea",
      proxmox_status: "running",
      proxmox_os_id: "debian",
      groups: ["LAB", "LAB_linux_endpoints", "webservers"],
    })
    expect(groups["LAB"]?.hosts?.["LAB-dc01"]).toMatchObject({ ansible_connection: "winrm", ansible_user: "localuser" })
    expect(groups["webservers"]?.hosts?.["LAB-web"]).toEqual({})
  })

  it("holds no password of the configuration", () => {
    expect(renderInventory([{ rangeId: range.id, hosts }])).not.toContain("hunter2")
  })

  it("shows an empty range as an empty group", () => {
    expect(inventory(renderInventory([{ rangeId: range.id, hosts: [] }]))).toEqual({ LAB: {} })
  })

  it("reads back the same for an Ansible that knows YAML 1.1, whatever groups are called", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.constantFrom("yes", "on", "1:20", "~", "null", "0x1f"), fc.string()), { maxLength: 5 }),
        (names) => {
          const [, , web] = config.machines
          if (web === undefined) throw new Error("no such machine")
          const named = { ...config, machines: [{ ...web, ansibleGroups: names }] }
          const read = inventory(
            renderInventory([{ rangeId: range.id, hosts: rangeHosts(range, named, [seen(143, "LAB-web")]) }]),
          )
          for (const name of names.filter((name) => name !== "all" && name !== "__proto__"))
            expect(Object.keys(read[name]?.hosts ?? {})).toEqual(["LAB-web"])
        },
      ),
    )
  })
})

describe("log window", () => {
  const log = "a\nb\nc\n"

  it("gives the whole text, and the number of its newlines as cursor", () => {
    expect(readLog(log, {})).toEqual({ result: log, cursor: 3 })
  })

  it("gives what comes after a cursor, and the whole text to a cursor past the end", () => {
    expect(readLog(log, { cursor: 1 }).result).toBe("b\nc\n")
    expect(readLog(log, { cursor: 3 }).result).toBe("")
    expect(readLog(log, { cursor: 4 }).result).toBe(log)
  })

  it("counts a newline at the end as one more line of a tail, and prefers the tail", () => {
    expect(readLog(log, { tail: 2, cursor: 0 }).result).toBe("c\n")
    expect(readLog(log, { tail: 0 }).result).toBe("")
    expect(readLog(log, { tail: 99 }).result).toBe(log)
  })

  it("gives a follower every line once", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.stringMatching(/^[a-z]{0,4}$/u), { maxLength: 4 })), (batches) => {
        let whole = ""
        let cursor = 0
        let followed = ""
        for (const lines of batches) {
          whole += lines.map((line) => `${line}\n`).join("")
          const page = readLog(whole, { cursor })
          followed += page.result
          cursor = page.cursor
        }
        expect(followed).toBe(whole)
      }),
    )
  })
})

describe("durations", () => {
  it.each([
    ["0", 0],
    ["4h", 14_400_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["+90s", 90_000],
    ["100ms", 100],
  ])("reads %s as Go does", (written, millis) => {
    expect(parseDuration(written)).toBe(millis)
  })

  it.each([
    "",
    "4",
    "h",
    "-1h",
    "1h 30m",
    "4 hours",
    "1d",
    "++1h",
    "1e3s",
    "300000h300000h300000000h",
    "1h\u0000",
    "9".repeat(200),
  ])("refuses %j", (written) => {
    expect(parseDuration(written)).toBeUndefined()
  })
})
