import { passwordContext, type Range, type RangeId, type User, type Vmid } from "@rangewright/domain"
import { Machines, Ranges, SecretStore } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { Activity } from "@rangewright/application"
import type { AutoShutdownAnswer, MachineAnswer, RunHead } from "@rangewright/application/wire"
import { makeTestApp, type TestApp } from "./support/app.ts"
import { stepOf } from "./support/scripted-runs.ts"

const hour = 3_600_000

let app: TestApp
let admin: User
let ada: User
let bob: User
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
})

interface VmJson {
  readonly name: string
  readonly ip: string
  readonly poweredOn: boolean
  readonly ram: number
}
interface RangeJson {
  readonly rangeID: string
  readonly numberOfVMs: number
  readonly VMs: readonly VmJson[]
}
const json = (prepared: unknown): unknown => JSON.parse(new TextDecoder().decode(prepared as Uint8Array))
const shown = async (range: Range, query = {}) => json(await app.call("listRange", ada, { range, query })) as RangeJson
const all = async (user: User) => (await app.call("listAllRange", user)) as readonly RangeJson[]

describe("creating a range", () => {
  const body = { name: "Lab one", rangeID: "LAB" }

  it("makes the range, its pool and its owner's rights, and seeds the example configuration", async () => {
    expect(await app.call("createRange", ada, { body })).toEqual({ result: "Range LAB created with number 1" })
    expect([...app.world.pools]).toEqual(["LAB"])
    expect(app.rightsOn()).toEqual(["ada@pve"])
    const { result } = (await app.call("getConfig", ada, { range: await app.range("LAB") })) as { readonly result: string }
    expect(await app.call("getConfigExample", ada)).toEqual({ result })
  })

  it("gives the range to the named users when an administrator asks", async () => {
    await app.call("createRange", admin, { body: { ...body, userID: ["Ada", "Bob"] } })
    expect(await app.call("listRangeUsers", admin, { range: await app.range("LAB") })).toEqual([
      { userID: "Ada", userNumber: ada.number, name: "User Ada", accessType: "Direct" },
      { userID: "Bob", userNumber: bob.number, name: "User Bob", accessType: "Direct" },
    ])
  })

  it("gives it to nobody for an administrator who names nobody, or `none`", async () => {
    await app.call("createRange", admin, { body: { ...body, userID: ["none"] } })
    expect(await app.call("listRangeUsers", admin, { range: await app.range("LAB") })).toEqual([])
  })

  it.each([
    ["another user", { ...body, userID: ["Bob"] }, "forbidden"],
    ["a missing id", { ...body, rangeID: "" }, "invalid"],
    ["a missing name", { ...body, name: " " }, "invalid"],
    ["a name that is too long", { ...body, name: "x".repeat(256) }, "invalid"],
    ["a description that is too long", { ...body, description: "x".repeat(5001) }, "invalid"],
    ["a malformed id", { ...body, rangeID: "../etc" }, "conflict"],
    ["a reserved id", { ...body, rangeID: "shared" }, "conflict"],
    ["a reserved number", { ...body, rangeNumber: 3 }, "conflict"],
    ["a number beyond the addresses", { ...body, rangeNumber: 154 }, "conflict"],
    ["a negative number", { ...body, rangeNumber: -1 }, "conflict"],
    ["a blueprint that does not exist", { ...body, blueprintID: "x" }, "not-found"],
  ])("refuses %s and makes nothing", async (_, wish, kind) => {
    expect(await app.fails("createRange", ada, { body: wish })).toMatchObject({ kind })
    expect([app.store.ranges.size, app.world.pools.size]).toEqual([0, 0])
  })

  it("names the users that do not exist", async () => {
    const fault = await app.fails("createRange", admin, { body: { ...body, userID: ["Ada", "Zoe"] } })
    expect(fault).toMatchObject({ kind: "invalid", issues: [{ path: "userID" }] })
    expect(fault.message).toContain("Zoe")
  })

  it("refuses an id or a number that is taken", async () => {
    await app.call("createRange", ada, { body })
    expect(await app.fails("createRange", ada, { body })).toMatchObject({ kind: "conflict" })
    expect(await app.fails("createRange", ada, { body: { ...body, rangeID: "B", rangeNumber: 1 } })).toMatchObject({
      kind: "conflict",
    })
  })

  it("never takes a pool that was there before", async () => {
    app.world.pools.add("LAB" as RangeId)
    expect(await app.fails("createRange", ada, { body })).toMatchObject({ kind: "conflict" })
    expect([...app.world.pools]).toEqual(["LAB"])
    expect(app.store.ranges.size).toBe(0)
  })

  it("leaves nothing behind when the hypervisor goes away half way", async () => {
    app.world.fault = (call) => (call.method === "grant" ? { when: "before", reason: "away" } : undefined)
    expect(await app.fails("createRange", ada, { body })).toMatchObject({ kind: "unavailable" })
    expect(app.store.ranges.size).toBe(0)
    app.world.fault = () => undefined
    await app.inLine()
    expect(app.world.pools.size).toBe(0)
  })
})

describe("showing ranges", () => {
  it("has every field that clients read, with their texts for nothing", async () => {
    const range = await app.addRange("LAB", [ada])
    await app.addMachine(range, 141, "LAB-dc01", { address: "10.1.10.11" })
    await app.addMachine(range, 142, "LAB-web", { power: "stopped" })
    expect(await shown(range)).toEqual({
      rangeState: "NEVER DEPLOYED",
      rangeNumber: 1,
      rangeID: "LAB",
      name: "Range LAB",
      lastDeployment: "0001-01-01T00:00:00Z",
      testingEnabled: false,
      testingState: "off",
      numberOfVMs: 2,
      allowedIPs: [],
      allowedDomains: [],
      VMs: [
        { ID: 0, proxmoxID: 141, rangeNumber: 1, name: "LAB-dc01", poweredOn: true, ip: "10.1.10.11", cpu: 2, ram: 4 },
        { ID: 0, proxmoxID: 142, rangeNumber: 1, name: "LAB-web", poweredOn: false, ip: "null", cpu: 2, ram: 4 },
      ],
    })
  })

  it("adds details on request without asking the hypervisor", async () => {
    const range = await app.addRange("LAB", [ada])
    await app.addMachine(range, 141, "LAB-dc01")
    expect((await shown(range, { details: true })).VMs[0]).toMatchObject({ osVersion: "N/A", licenseStatus: "N/A" })
    expect(app.world.calls).toEqual([])
  })

  it("shows the configured address of a machine with force_ip, and a new one at once", async () => {
    const config = (octet: number) =>
      `ludus:\n  - {vm_name: LAB-web, hostname: web, template: t, vlan: 20, ip_last_octet: ${octet}, ram_gb: 1, cpus: 1, linux: true, force_ip: true}\n`
    const range = await app.addRange("LAB", [ada], config(5))
    await app.addMachine(range, 141, "LAB-web")
    expect((await shown(range)).VMs[0]?.ip).toBe("10.1.20.5")
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.setConfig(range.id, config(6))))
    expect((await shown(range)).VMs[0]?.ip).toBe("10.1.20.6")
  })

  it("shows a router by its leg in the first VLAN once it has its outer address", async () => {
    const config =
      "ludus:\n  - {vm_name: LAB-web, hostname: web, template: t, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, linux: true}\n"
    const range = await app.addRange("LAB", [ada], config)
    await app.addMachine(range, 140, "LAB-router-debian11-x64", { address: "192.0.2.57" })
    expect((await shown(range)).VMs).toMatchObject([{ ip: "null", isRouter: true }])
    await app.addMachine(range, 140, "LAB-router-debian11-x64", { address: "192.0.2.101" })
    expect((await shown(range)).VMs).toMatchObject([{ ip: "10.1.20.254", isRouter: true }])
  })

  it("never shows an address outside the range's network", async () => {
    const range = await app.addRange("LAB", [ada])
    await app.addMachine(range, 141, "LAB-x", { address: "192.0.2.101" })
    expect((await shown(range)).VMs[0]?.ip).toBe("null")
  })

  it("shows each change by the next request, in one range and in the list", async () => {
    const range = await app.addRange("LAB", [ada])
    expect((await shown(range)).numberOfVMs).toBe(0)
    expect((await all(admin))[0]?.numberOfVMs).toBe(0)
    await app.addMachine(range, 141, "LAB-a")
    expect((await shown(range)).VMs[0]?.poweredOn).toBe(true)
    expect((await all(admin))[0]?.numberOfVMs).toBe(1)
    await app.addMachine(range, 141, "LAB-a", { power: "stopped" })
    expect((await shown(range)).VMs[0]?.poweredOn).toBe(false)
    expect((await all(admin))[0]?.VMs[0]?.poweredOn).toBe(false)
  })

  it("lists all ranges by number to administrators, and to others those they have", async () => {
    await app.addRange("ONE", [ada])
    await app.addRange("TWO", [bob])
    await app.addRange("FOUR", [ada, bob])
    expect((await all(admin)).map((range) => range.rangeID)).toEqual(["ONE", "TWO", "FOUR"])
    expect((await all(bob)).map((range) => range.rangeID)).toEqual(["TWO", "FOUR"])
    expect(await all(await app.addUser("Eve"))).toEqual([])
    await app.run(Effect.flatMap(Ranges, (ranges) => ranges.revoke("FOUR" as RangeId, bob.id)))
    expect((await all(bob)).map((range) => range.rangeID)).toEqual(["TWO"])
    expect(await app.call("listUserAccessibleRanges", ada)).toEqual([
      { rangeNumber: 1, rangeID: "ONE", accessType: "Direct" },
      { rangeNumber: 4, rangeID: "FOUR", accessType: "Direct" },
    ])
  })

  it("gives many readers at once the same whole list while the store changes", async () => {
    const range = await app.addRange("LAB", [ada])
    const readers = Array.from({ length: 20 }, async (_, i) => {
      await app.addMachine(range, 200 + i, `LAB-${i}`)
      return (await all(admin)).length
    })
    expect(await Promise.all(readers)).toEqual(Array.from({ length: 20 }, () => 1))
  })

  it("says how fresh the machines are, and since when the hypervisor is unreachable", async () => {
    const range = await app.addRange("LAB", [ada])
    await app.observe([], new Date("2026-01-02T03:04:05Z"))
    expect(await shown(range)).toMatchObject({ observedAt: "2026-01-02T03:04:05.000Z" })
    await app.run(Effect.flatMap(Machines, (machines) => machines.away(new Date("2026-01-02T04:00:00Z"), "no route")))
    expect(await shown(range)).toMatchObject({ awaySince: "2026-01-02T04:00:00.000Z" })
    expect(await all(admin)).toMatchObject([{ awaySince: "2026-01-02T04:00:00.000Z" }])
  })

  it("says which machines the hypervisor's list lacks, and why lists are in doubt, and shows them as they were last seen", async () => {
    const range = await app.addRange("LAB", [ada])
    await app.addMachine(range, 200, "LAB-dc01")
    const at = new Date(Date.now() + 60_000)
    await app.observe([], at)
    expect(await shown(range)).toMatchObject({
      numberOfVMs: 1,
      VMs: [{ proxmoxID: 200, name: "LAB-dc01", missingSince: at.toISOString() }],
    })
    await app.run(Effect.flatMap(Machines, (machines) => machines.doubt(at, 'the account lacks "VM.Audit" on /vms')))
    const doubt = { since: at.toISOString(), reason: 'the account lacks "VM.Audit" on /vms' }
    expect(await shown(range)).toMatchObject({ doubt })
    expect(await all(admin)).toMatchObject([{ doubt }])
    await app.run(Effect.flatMap(Machines, (machines) => machines.doubt(at, undefined)))
    expect(await shown(range)).not.toHaveProperty("doubt")
  })
})

describe("the network of a range", () => {
  it("shows what is configured with what is there, also while the hypervisor is unreachable", async () => {
    const range = await app.addRange(
      "LAB",
      [ada],
      "ludus:\n  - {vm_name: LAB-w, hostname: w, template: t, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, windows: {}}\n  - {vm_name: LAB-x, hostname: x, template: t, vlan: 30, ip_last_octet: 6, ram_gb: 1, cpus: 1, linux: true}\n",
    )
    await app.addMachine(range, 141, "LAB-w", { address: "10.1.20.5", power: "running" })
    await app.addMachine(range, 142, "by-hand")
    app.world.fault = () => ({ when: "before", reason: "away" })
    expect(await app.call("getTopology", ada, { range })).toMatchObject({
      rangeID: "LAB",
      router: { power: "absent", configured: "192.0.2.101" },
      lanes: [
        {
          vlan: 20,
          network: "10.1.20.0/24",
          gateway: "10.1.20.254",
          machines: [{ vmid: 141, name: "LAB-w", address: "10.1.20.5", configured: "10.1.20.5", os: "windows" }],
        },
        { vlan: 30, machines: [{ name: "LAB-x", power: "absent", configured: "10.1.30.6", template: "t" }] },
        { machines: [{ vmid: 142, name: "by-hand" }] },
      ],
      rules: [],
      defaults: { betweenVlans: "ACCEPT", outside: "ACCEPT" },
    })
    expect(app.world.calls).toEqual([])
  })
})

describe("a machine", () => {
  const config =
    "ludus:\n  - {vm_name: LAB-w, hostname: w, template: t, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, windows: {}}\n"

  it("is shown with its node, place, guest, snapshots and last change, also while the hypervisor is unreachable", async () => {
    const range = await app.addRange("LAB", [ada], config)
    await app.addMachine(range, 141, "LAB-w", { address: "10.1.20.5", tags: ["rangewright"], foreignAddresses: ["10.9.9.9"] })
    await app.addMachine(range, 142, "by-hand", { power: "stopped" })
    const readAt = new Date("2026-01-02T03:04:05Z")
    const snapshot = { name: "clean", description: "", takenAt: 1, memory: false, incomplete: false }
    await app.run(
      Effect.gen(function* () {
        const machines = yield* Machines
        yield* machines.keepSystem(range.id, 141 as Vmid, { id: "windows", versionId: "2022" })
        yield* machines.keepSnapshots(range.id, 141 as Vmid, { snapshots: [snapshot], current: "clean", readAt })
      }),
    )
    const { plan } = app.runs
    const changes = async (machine: string) => {
      const step = { ...stepOf(`${machine}/work`, { kind: "work", work: "scripted", input: null }), machine }
      app.runs.plan = (request) => ({ ...plan(request), steps: [step] })
      await app.call("powerOnRange", ada, { range, body: { machines: [machine] } })
    }
    await changes("LAB-w")
    await changes("by-hand")
    const [second, first] = (await app.call("listRuns", ada, { range })) as readonly RunHead[]
    app.world.calls.length = 0
    app.world.fault = () => ({ when: "before", reason: "away" })
    expect(await app.call("getMachine", ada, { path: { vmID: 141 } })).toMatchObject({
      vmid: 141,
      name: "LAB-w",
      rangeID: "LAB",
      node: "node1",
      power: "running",
      isRouter: false,
      tags: ["rangewright"],
      address: "10.1.20.5",
      foreignAddresses: ["10.9.9.9"],
      configured: "10.1.20.5",
      vlan: 20,
      network: "10.1.20.0/24",
      gateway: "10.1.20.254",
      os: "windows",
      template: "t",
      agent: { id: "windows", versionId: "2022" },
      snapshots: { count: 1, current: "clean", readAt: readAt.toISOString() },
      lastChange: { id: first?.id, kind: "power", by: "Ada", status: "success" },
    })
    const byHand = (await app.call("getMachine", ada, { path: { vmID: 142 } })) as MachineAnswer
    expect(byHand).toMatchObject({ name: "by-hand", power: "stopped", lastChange: { id: second?.id } })
    for (const member of ["vlan", "agent", "snapshots", "configured", "template"]) expect(byHand).not.toHaveProperty(member)
    expect(app.world.calls).toEqual([])
  })

  it("is for those who may use its range, and others do not learn whose it is", async () => {
    await app.addMachine(await app.addRange("LAB", [ada], config), 141, "LAB-w")
    const refused = await app.fails("getMachine", bob, { path: { vmID: 141 } })
    expect([refused.kind, refused.message]).toEqual(["forbidden", "Bob may not use VM 141"])
    for (const vmID of [7, 999_999_999])
      expect(await app.fails("getMachine", ada, { path: { vmID } })).toMatchObject({ kind: "not-found" })
  })
})

describe("files of a range", () => {
  it("are served from kept state, also while the hypervisor is unreachable", async () => {
    const range = await app.addRange(
      "LAB",
      [ada],
      "ludus:\n  - {vm_name: LAB-w, hostname: w, template: t, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, windows: {}}\n",
    )
    await app.addMachine(range, 141, "LAB-w", { address: "10.1.20.5" })
    app.world.fault = () => ({ when: "before", reason: "away" })
    const deployed = { ...range, lastDeploymentAt: new Date(0) }
    expect(await app.call("getEtcHosts", ada, { range: deployed })).toEqual({ result: "10.1.20.5     LAB-w\n10.1.20.5     w\n" })
    expect(await app.call("getRDP", ada, { range })).toMatchObject([{ name: "LAB-w-localuser.rdp" }])
    expect(await app.call("getAnsibleInventory", ada, { range })).toMatchObject({ result: expect.stringContaining("LAB-w:") })
    expect(await app.call("getSSHConfig", ada, { range })).toEqual({ result: "" })
    for (const machine of ["LAB-w", "141"])
      expect(await app.call("getRDP", ada, { range, query: { machine } })).toMatchObject([{ name: "LAB-w-localuser.rdp" }])
    for (const machine of ["", "w", "LAB-other", "99999999999999999999", "../LAB-w"])
      for (const id of ["getRDP", "getSSHConfig"])
        expect(await app.fails(id, ada, { range, query: { machine } })).toMatchObject({ kind: "not-found" })
    expect(app.world.calls).toEqual([])
  })

  it("name every login of its machines, with the passwords that the service gave", async () => {
    const range = await app.addRange(
      "LAB",
      [ada],
      "ludus:\n  - {vm_name: LAB-w, hostname: w, template: debian-12-x64-server-template, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, linux: true}\n",
    )
    await app.addMachine(range, 141, "LAB-w", { address: "10.1.20.5" })
    await app.addMachine(range, 142, "LAB-stray")
    await app.run(
      Effect.gen(function* () {
        const vmid = 141 as Vmid
        const current = (yield* SecretStore).seal("of its own", passwordContext(range.id, vmid))
        yield* (yield* Machines).keepLogin(range.id, vmid, { current })
      }),
    )
    const deployed = { ...range, lastDeploymentAt: new Date(0) }
    expect(await app.call("getRangeCredentials", ada, { range: deployed })).toEqual({
      rangeID: "LAB",
      machines: [
        { name: "LAB-stray", proxmoxID: 142, accounts: [] },
        {
          name: "LAB-w",
          proxmoxID: 141,
          ip: "10.1.20.5",
          accounts: [{ username: "debian", password: "of its own", protocols: ["ssh"] }],
        },
      ],
    })
    expect(app.world.calls).toEqual([])
  })

  it("are told apart from what was never made", async () => {
    const range = await app.addRange("LAB", [ada])
    expect(await app.fails("getEtcHosts", ada, { range })).toMatchObject({ kind: "failed" })
    expect(await app.fails("getRDP", ada, { range })).toMatchObject({ kind: "failed" })
    expect(await app.fails("getLogs", ada, { range })).toMatchObject({ kind: "failed" })
  })

  it("cover all ranges of the caller and no other in a wide inventory", async () => {
    const range = await app.addRange("LAB", [ada])
    await app.addRange("MINE", [ada])
    await app.addRange("OTHER", [bob])
    const { result } = (await app.call("getAnsibleInventory", ada, { range, query: { allranges: true } })) as { result: string }
    expect(result).toContain("LAB:")
    expect(result).toContain("MINE:")
    expect(result).not.toContain("OTHER")
  })

  it("tell the passwords that the service gave to machines, those of the caller's ranges alone", async () => {
    const machine = (name: string) =>
      `ludus:\n  - {vm_name: ${name}, hostname: w, template: debian-12, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, linux: true}\n`
    const range = await app.addRange("LAB", [ada], machine("LAB-w"))
    const other = await app.addRange("OTHER", [bob], machine("OTHER-w"))
    await app.addMachine(range, 141, "LAB-w")
    await app.addMachine(other, 142, "OTHER-w")
    app.store.logins.set(range.id, new Map([[141 as Vmid, { current: "of-lab", pending: "to-come" }]]))
    app.store.logins.set(other.id, new Map([[142 as Vmid, { current: "of-other" }]]))
    for (const query of [{}, { allranges: true }]) {
      const { result } = (await app.call("getAnsibleInventory", ada, { range, query })) as { result: string }
      expect(result).toContain("ansible_password: of-lab\n")
      expect(result).not.toContain("to-come")
      expect(result).not.toContain("of-other")
    }
  })
})

describe("auto-shutdown", () => {
  it("shows the server's default until the range has its own, keeps that as it was given, and forgets it on an empty text", async () => {
    await app.addRange("LAB", [ada])
    const set = async (autoShutdownTimeout: string) =>
      app.call("updateAutoShutdown", ada, { range: await app.range("LAB"), body: { autoShutdownTimeout } })
    const get = async () => app.call("getAutoShutdown", ada, { range: await app.range("LAB") })
    const times = (rangeOverride: string, effective: string) => ({
      autoShutdownTimeout: { serverDefault: "4h", rangeOverride, effective },
      keptAliveBy: [],
    })
    expect(await get()).toEqual(times("", "4h"))
    expect(await set("1h30m")).toEqual(times("1h30m", "1h30m"))
    expect(await set("0")).toEqual(times("0", "0"))
    expect(await get()).toEqual(times("0", "0"))
    expect(await set("")).toEqual(times("", "4h"))
  })

  it("tells since when a range with machines that are on is idle, when that ends, and what keeps it on", async () => {
    const lab = await app.addRange("LAB", [ada])
    await app.addMachine(lab, 200, "LAB-a")
    const now = Date.now()
    const used = async (at: number) => app.run(Ranges.use((ranges) => ranges.touch(new Map([[lab.id, new Date(at)]]))))
    const get = async () => (await app.call("getAutoShutdown", ada, { range: await app.range("LAB") })) as AutoShutdownAnswer
    await used(now - hour)
    expect(await get()).toMatchObject({
      idleSince: new Date(now - hour).toISOString(),
      stopsAt: new Date(now + 3 * hour).toISOString(),
      keptAliveBy: [],
    })
    const extend = async (duration: string) =>
      (await app.call("extendAutoShutdown", ada, { range: await app.range("LAB"), body: { duration } })) as AutoShutdownAnswer
    const until = (await extend("6h")).stopsAt ?? ""
    expect(new Date(until).getTime()).toBeGreaterThanOrEqual(now + 6 * hour)
    const asked = { kind: "request", text: `somebody requested it until ${until}` }
    // asking for less never shortens the time that is left
    expect(await extend("5h")).toMatchObject({ stopsAt: until, keptAliveBy: [asked] })
    expect((await extend("0.01s")).stopsAt).toBe(until)
    // what the last check found keeps it on only once its time is over
    const found = (because: string | undefined) =>
      app.run(Activity.use((activity) => Effect.sync(() => activity.keptOn(lab.id, because))))
    await found("somebody is logged in on LAB-a")
    expect((await get()).keptAliveBy).toEqual([asked])
    await app.run(Ranges.use((ranges) => ranges.change(lab.id, { autoShutdown: "0" })))
    expect(await get()).toEqual({
      autoShutdownTimeout: { serverDefault: "4h", rangeOverride: "0", effective: "0" },
      idleSince: new Date(now - hour).toISOString(),
      keptAliveBy: [asked],
    })
    const other = await app.addRange("TWO", [ada])
    await app.addMachine(other, 300, "TWO-a")
    await app.run(Ranges.use((ranges) => ranges.change(other.id, { autoShutdown: "0.001s" })))
    await app.run(Activity.use((activity) => Effect.sync(() => activity.keptOn(other.id, "somebody is logged in on TWO-a"))))
    expect(await app.call("getAutoShutdown", ada, { range: await app.range("TWO") })).toMatchObject({
      keptAliveBy: [{ kind: "session", text: "somebody is logged in on TWO-a" }],
    })
  })

  it.each(["", "soon", "0", "-1h", "169h", "9".repeat(5000)])("is not put off by %j", async (duration) => {
    const range = await app.addRange("LAB", [ada])
    expect(await app.fails("extendAutoShutdown", ada, { range, body: { duration } })).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^Cannot keep range LAB on: .{1,200}$/u) as string,
    })
    expect((await app.range("LAB")).stayOnUntil).toBeUndefined()
  })

  it("refuses what is no duration and keeps what was set", async () => {
    const range = await app.addRange("LAB", [ada])
    expect(await app.fails("updateAutoShutdown", ada, { range, body: { autoShutdownTimeout: "soon" } })).toMatchObject({
      kind: "invalid",
    })
    expect((await app.range("LAB")).autoShutdown).toBeUndefined()
  })
})

describe("tags", () => {
  it("are those that clients know, in alphabetical order", async () => {
    const { tags } = (await app.call("listRangeTags", ada)) as { readonly tags: readonly string[] }
    expect(tags).toHaveLength(22)
    expect(tags).toEqual([...tags].toSorted())
    expect(tags).toEqual(expect.arrayContaining(["vm-deploy", "generate-rdp", "user-management"]))
  })
})

describe("the picture of a range", () => {
  const signs = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
  const png = (width = 1, height = 1) => {
    const bytes = new Uint8Array(33)
    bytes.set(signs("\u0089PNG\r\n\u001a\n\0\0\0\rIHDR"))
    new DataView(bytes.buffer).setUint32(16, width)
    new DataView(bytes.buffer).setUint32(20, height)
    return bytes
  }
  const file = (bytes: Uint8Array, filename = "p.png", contentType = "image/png") => ({ filename, contentType, bytes })
  const update = async (bytes: Uint8Array | undefined, body: Record<string, unknown> = {}, as = ada, filename?: string) =>
    (await app.call("recordUpdateRange", as, {
      path: { id: (await app.range("LAB")).recordId },
      body,
      ...(bytes === undefined ? {} : { file: file(bytes, filename) }),
    })) as { readonly thumbnail: string }
  const get = async (filename: string, collection = "ranges", recordID?: string) => ({
    path: { collection, recordID: recordID ?? (await app.range("LAB")).recordId, filename },
  })
  beforeEach(() => app.addRange("LAB", [ada]))

  it("is served under the address that lists show, by its name alone", async () => {
    expect(await shown(await app.range("LAB"))).not.toHaveProperty("thumbnailUrl")
    const { thumbnail } = await update(png(), { purpose: "training" })
    expect(thumbnail).toMatch(/^p_\w{10}\.png$/u)
    const range = await app.range("LAB")
    expect(range.purpose).toBe("training")
    const thumbnailUrl = `/api/files/ranges/${range.recordId}/${thumbnail}`
    expect([await shown(range), ...(await all(admin))]).toMatchObject([{ thumbnailUrl }, { thumbnailUrl }])
    expect(await app.call("recordListRanges", ada, { query: {} })).toMatchObject({ items: [{ thumbnail }] })
    expect(await app.call("recordFile", bob, await get(thumbnail))).toEqual({ contentType: "image/png", bytes: png() })
    for (const wrong of [
      await get("x.png"),
      await get(""),
      await get(thumbnail, "blueprints"),
      await get(thumbnail, "users"),
      await get(thumbnail, "ranges", "other0000000000"),
    ])
      expect(await app.fails("recordFile", admin, wrong)).toMatchObject({ kind: "not-found" })
  })

  it("is replaced, removed by an empty text, and stays otherwise", async () => {
    const { thumbnail: first } = await update(png())
    const { thumbnail: second } = await update(signs("GIF89a\u0001\0\u0001\0"))
    expect(second).toMatch(/\.gif$/u)
    expect(await app.fails("recordFile", ada, await get(first))).toMatchObject({ kind: "not-found" })
    expect((await update(undefined, { name: "New", thumbnail: second })).thumbnail).toBe(second)
    expect((await update(undefined, { name: "Newer" })).thumbnail).toBe(second)
    expect((await update(undefined, { thumbnail: "" })).thumbnail).toBe("")
    expect(await app.fails("recordFile", ada, await get(second))).toMatchObject({ kind: "not-found" })
    expect(await shown(await app.range("LAB"))).not.toHaveProperty("thumbnailUrl")
  })

  it("is refused if it is of another kind, too large, or states a size that fills a browser; nothing is changed then", async () => {
    const large = new Uint8Array(10 * 1024 * 1024 + 1)
    large.set(png())
    const refused: readonly (readonly [Uint8Array, string])[] = [
      [signs("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"), "PNG, JPEG, GIF or WebP"],
      [signs("<!doctype html><script>alert(1)</script>"), "PNG, JPEG, GIF or WebP"],
      [new Uint8Array(), "PNG, JPEG, GIF or WebP"],
      [large, "at most 10485760 bytes"],
      [png(60_000, 60_000), "8192 pixels wide and high; it is 60000 x 60000"],
      [png(1, 8193), "8192 pixels"],
    ]
    const path = { id: (await app.range("LAB")).recordId }
    for (const [bytes, message] of refused)
      expect(await app.fails("recordUpdateRange", ada, { path, body: { name: "New" }, file: file(bytes) })).toMatchObject({
        kind: "invalid",
        issues: [{ path: "thumbnail", message: expect.stringContaining(message) as string }],
      })
    expect((await app.range("LAB")).name).toBe("Range LAB")
    expect((await update(png(8192, 8192))).thumbnail).not.toBe("")
  })

  it("has the type of what is in it and no part of a path in its name, whatever its sender says", async () => {
    for (const [sent, kept] of [
      ["../../etc/passwd.svg", /^_etc_passwd_\w{10}\.png$/u],
      ["..\\..\\a b%2f<script>.html", /^_a_b_2f_script__\w{10}\.png$/u],
      ["\u202egnp.js", /^_gnp_\w{10}\.png$/u],
      ["", /^picture_\w{10}\.png$/u],
      ["x".repeat(5000), /^x{80}_\w{10}\.png$/u],
    ] as const)
      expect((await update(png(), {}, ada, sent)).thumbnail).toMatch(kept)
  })

  it("is changed by those who may change the range; nobody else learns that it exists", async () => {
    const path = { id: (await app.range("LAB")).recordId }
    expect(await app.fails("recordUpdateRange", bob, { path, body: {}, file: file(png()) })).toMatchObject({ kind: "not-found" })
    expect((await app.range("LAB")).thumbnail).toBeUndefined()
    expect((await update(png(), {}, admin)).thumbnail).not.toBe("")
  })

  it("goes with the range", async () => {
    await update(png())
    await app.run(Ranges.use((ranges) => ranges.remove("LAB" as RangeId)))
    expect(app.store.pictures.size).toBe(0)
  })
})

describe("range records", () => {
  it("are found by a filter, and changed by their owners in name, description and purpose alone", async () => {
    await app.addRange("LAB", [ada])
    await app.addRange("OTHER", [bob])
    const page = (await app.call("recordListRanges", ada, { query: { filter: 'rangeID = "LAB"', perPage: "1" } })) as {
      readonly items: readonly { readonly id: string; readonly rangeID: string }[]
    }
    expect(page).toMatchObject({ totalItems: 1, items: [{ rangeID: "LAB", lastDeployment: "" }] })
    const path = { id: page.items[0]?.id }
    expect(await app.call("recordUpdateRange", ada, { path, body: { purpose: "training" } })).toMatchObject({
      purpose: "training",
      name: "Range LAB",
    })
    expect(await app.fails("recordUpdateRange", ada, { path, body: { name: "" } })).toMatchObject({ kind: "invalid" })
  })

  it("are hidden from those who may not use or change them", async () => {
    const range = await app.addRange("LAB", [ada])
    expect(await app.call("recordListRanges", bob, { query: { filter: 'rangeID = "LAB"' } })).toMatchObject({ items: [] })
    const path = { id: range.recordId }
    expect(await app.fails("recordUpdateRange", bob, { path, body: { name: "mine" } })).toMatchObject({ kind: "not-found" })
    expect((await app.range("LAB")).name).toBe("Range LAB")
  })
})
