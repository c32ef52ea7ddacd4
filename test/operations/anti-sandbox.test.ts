import type { HandlerRequest } from "@rangewright/application"
import { type Range, readDescription, type User } from "@rangewright/domain"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Outcome {
  readonly success?: readonly string[]
  readonly errors?: readonly { readonly item: string; readonly reason: string }[]
  readonly warnings?: readonly string[]
  readonly runID?: string
}

const config = `ludus:
  - vm_name: "{{ range_id }}-one"
    hostname: one
    template: win11-22h2-x64-enterprise-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 4
    ram_min_gb: 2
    cpus: 2
    windows: {}
  - vm_name: "{{ range_id }}-two"
    hostname: two
    template: win11-22h2-x64-enterprise-template
    vlan: 10
    ip_last_octet: 12
    ram_gb: 4
    cpus: 2
    windows: {}
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 13
    ram_gb: 2
    cpus: 2
    linux: true
`

describe("disguised machines", () => {
  let service: RangeService
  let ada: User
  let range: Range
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const enable = async (body: object) => (await call("antiSandboxEnable", { body })) as Outcome
  const disable = async (vmIDs: string) => (await call("antiSandboxDisable", { body: { vmIDs } })) as Outcome
  const vm = (name: string) => [...service.lab.world.vms.values()].find((one) => one.name === name)!
  const shown = (name: string) => {
    const { hardware, nics, balloonMiB } = vm(name)
    return { hardware, nics, balloonMiB }
  }
  const ran = (name: string) => [...vm(name).stages.keys()].filter((key) => key.startsWith("anti-sandbox"))
  const drift = async () =>
    (await call("getRangeDrift")) as { readonly inSync: boolean; readonly differences: readonly unknown[] }
  const changing = () => service.lab.world.calls.filter(({ mutating }) => mutating).length

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await service.find("LAB"), config)
    range = await service.find("LAB")
    await service.deploy(ada, range)
  })
  afterEach(() => service.close())

  it("show a manufacturer's hardware, keep it through deploys, and show their own again when undisguised", async () => {
    const before = shown("LAB-one")
    const other = shown("LAB-two")
    const told = await enable({ vmIDs: "LAB-one", vendor: "Lenovo", registeredOwner: "José Núñez", persist: true })
    expect(told).toEqual({ success: ["LAB-one"], runID: expect.any(String) })
    expect(vm("LAB-one")).toMatchObject({
      power: "running",
      balloonMiB: 0,
      nics: [{ model: "e1000e", mac: before.nics[0]!.mac }],
      hardware: {
        cpu: "host,hidden=1",
        smbios: { manufacturer: "LENOVO", version: "ThinkCentre M70q" },
        disks: [{ slot: "scsi0", vendor: "ATA" }],
      },
    })
    expect(readDescription(vm("LAB-one").description).mark?.undisguised).toEqual(before.hardware)
    expect(ran("LAB-one")).toHaveLength(1)
    expect(shown("LAB-two")).toEqual(other)

    expect(await drift()).toMatchObject({ inSync: true })
    const disguised = shown("LAB-one")
    service.lab.world.calls.length = 0
    await service.deploy(ada, await service.find("LAB"))
    expect(changing()).toBe(0)
    expect(shown("LAB-one")).toEqual(disguised)

    expect(await disable("LAB-one")).toMatchObject({ success: ["LAB-one"] })
    expect(shown("LAB-one")).toEqual(before)
    expect(readDescription(vm("LAB-one").description).mark?.undisguised).toBeUndefined()
    expect((await service.find("LAB")).disguises).toEqual({})
    expect(await drift()).toMatchObject({ inSync: true })
  })

  it("do not change when the same request is repeated, and do for a different one", async () => {
    await enable({ vmIDs: "LAB-one,LAB-two" })
    service.lab.world.calls.length = 0
    expect(await enable({ vmIDs: ` ${vm("LAB-one").vmid} ,LAB-two,, LAB-two` })).toMatchObject({
      success: [`${vm("LAB-one").vmid}`, "LAB-two"],
    })
    expect(changing()).toBe(0)
    await enable({ vmIDs: "LAB-one", vendor: "HP" })
    expect(vm("LAB-one").hardware?.smbios).toMatchObject({ manufacturer: "HP" })
    expect(vm("LAB-two").hardware?.smbios).toMatchObject({ manufacturer: "Dell Inc." })
    await disable("LAB-one,LAB-two")
    expect(vm("LAB-one").hardware).toEqual(vm("LAB-two").hardware)
    expect(vm("LAB-one").hardware).toEqual({ cpu: undefined, smbios: {}, disks: [{ slot: "scsi0" }] })
  })

  it("keep the disguise when rolled back to an earlier snapshot; the next deploy restores the changes inside", async () => {
    const { vmid } = vm("LAB-one")
    await call("snapshotsTake", { body: { name: "before", vmids: [vmid] } })
    await enable({ vmIDs: "LAB-one" })
    const disguised = shown("LAB-one")
    await call("snapshotsRollback", { body: { name: "before", vmids: [vmid] } })
    expect(shown("LAB-one")).toEqual(disguised)
    expect(ran("LAB-one")).toEqual([])
    expect(await drift()).toMatchObject({ differences: [{ object: "LAB-one", reasons: ["stages: address, anti-sandbox"] }] })
    await service.deploy(ada, await service.find("LAB"))
    expect(ran("LAB-one")).toHaveLength(1)
    expect(await drift()).toMatchObject({ inSync: true })
  })

  it("that were undisguised stay so when rolled back to a disguised snapshot", async () => {
    const { vmid } = vm("LAB-one")
    const before = shown("LAB-one")
    await enable({ vmIDs: "LAB-one" })
    await call("snapshotsTake", { body: { name: "disguised", vmids: [vmid] } })
    await disable("LAB-one")
    await call("snapshotsRollback", { body: { name: "disguised", vmids: [vmid] } })
    expect(shown("LAB-one")).toEqual(before)
    await service.deploy(ada, await service.find("LAB"))
    expect(await drift()).toMatchObject({ inSync: true })
  })

  it.each([
    ["their own", false],
    ["their disguise", true],
  ])("show %s after a rollback that failed before their settings were restored, and a deploy", async (_, isDisguised) => {
    const { vmid } = vm("LAB-one")
    const own = shown("LAB-one")
    if (!isDisguised) await enable({ vmIDs: "LAB-one" })
    await call("snapshotsTake", { body: { name: "other", vmids: [vmid] } })
    await (isDisguised ? enable({ vmIDs: "LAB-one" }) : disable("LAB-one"))
    const wanted = shown("LAB-one")
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "configure" ? { when: "before", reason: "failed" } : undefined
    await call("snapshotsRollback", { body: { name: "other", vmids: [vmid] } })
    service.lab.world.fault = () => undefined
    expect(shown("LAB-one")).not.toEqual(wanted)
    await service.deploy(ada, await service.find("LAB"))
    expect(shown("LAB-one")).toEqual(wanted)
    expect(await drift()).toMatchObject({ inSync: true })
    if (isDisguised) await disable("LAB-one")
    expect(shown("LAB-one")).toEqual(own)
  })

  it("are marked in lists", async () => {
    await enable({ vmIDs: "LAB-one", vendor: "IBM" })
    const text = new TextDecoder().decode((await call("listRange")) as Uint8Array)
    expect(text.match(/"disguise":"\w+"/gu)).toEqual(['"disguise":"IBM"'])
  })

  it("are disguised again when they are recreated", async () => {
    await enable({ vmIDs: "LAB-one" })
    const disguised = shown("LAB-one").hardware
    const { runID } = (await call("destroyVM", { path: { vmID: vm("LAB-one").vmid } })) as { readonly runID: string }
    if (runID !== undefined) await service.end(ada, runID)
    expect(vm("LAB-one")).toBeUndefined()
    await service.deploy(ada, await service.find("LAB"))
    expect(shown("LAB-one").hardware).toMatchObject({ cpu: disguised?.cpu, smbios: { manufacturer: "Dell Inc." } })
    expect(ran("LAB-one")).toHaveLength(1)
    expect(await drift()).toMatchObject({ inSync: true })
    await disable("LAB-one")
    expect(shown("LAB-one").hardware).toEqual(shown("LAB-two").hardware)
  })

  it("must be running Windows machines of the range: others are refused by name, and the rest is disguised", async () => {
    const router = [...service.lab.world.vms.values()].find(({ name }) => name.includes("router"))!
    await call("powerOffRange", { body: { machines: ["LAB-two"] } })
    const told = await enable({ vmIDs: `LAB-one,LAB-two,LAB-web,${router.vmid},9001,nobody,100` })
    expect(told.success).toEqual(["LAB-one"])
    expect(told.errors).toEqual([
      { item: "LAB-two", reason: expect.stringContaining("is not running (it is stopped)") },
      { item: "LAB-web", reason: expect.stringContaining("does not run Windows") },
      { item: `${router.vmid}`, reason: expect.stringContaining("is the router of the range") },
      { item: "9001", reason: "VM 9001 is not a machine of range LAB" },
      { item: "nobody", reason: "nobody is not a machine of range LAB" },
      { item: "100", reason: "VM 100 is not a machine of range LAB" },
    ])
    expect(Object.keys((await service.find("LAB")).disguises ?? {})).toEqual(["LAB-one"])
  })

  it("report a failure of one machine, and a deploy completes it", async () => {
    const { vmid } = vm("LAB-one")
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "configure" && action.machine.vmid === vmid
        ? { when: "before", reason: "failed" }
        : undefined
    const told = await enable({ vmIDs: "LAB-one,LAB-two" })
    service.lab.world.fault = () => undefined
    expect(told).toMatchObject({ success: ["LAB-two"], errors: [{ item: "LAB-one" }] })
    expect(await drift()).toMatchObject({ inSync: false })
    await service.deploy(ada, await service.find("LAB"))
    expect(vm("LAB-one").hardware?.smbios).toMatchObject({ manufacturer: "Dell Inc." })
    expect(await drift()).toMatchObject({ inSync: true })
  })

  it("cannot be changed in testing mode, whose end would roll the changes inside back", async () => {
    await call("startTesting")
    await expect(enable({ vmIDs: "LAB-one" })).rejects.toMatchObject({
      message: expect.stringContaining("testing mode is on"),
      kind: "conflict",
    })
  })

  it.each([
    [{ vmIDs: "" }, "vmIDs"],
    [{ vmIDs: " ,, " }, "vmIDs"],
    [{ vmIDs: Array.from({ length: 1001 }, (_, n) => n + 100).join(",") }, "vmIDs"],
    [{ vmIDs: "LAB-one", product: "a,b=c\nd" }, "product"],
    [{ vmIDs: "LAB-one", product: "x".repeat(64) }, "product"],
    [{ vmIDs: "LAB-one", product: "Größe" }, "product"],
    [{ vmIDs: "LAB-one", registeredOwner: '{{ lookup("pipe", "id") }}' }, "registeredOwner"],
    [{ vmIDs: "LAB-one", registeredOrganization: "a\u0000b" }, "registeredOrganization"],
    [{ vmIDs: "LAB-one", processorSpeed: "3.2 GHz" }, "processorSpeed"],
    [{ vmIDs: "LAB-one", systemBiosVersion: "%00" }, "systemBiosVersion"],
  ])("refuse a request with invalid values before anything is done: %j", async (body, path) => {
    service.lab.world.calls.length = 0
    await expect(enable(body)).rejects.toMatchObject({ kind: "invalid", facts: { issues: [{ path }] } })
    expect(changing()).toBe(0)
  })

  it("treat an empty text as not given", async () => {
    expect(await enable({ vmIDs: "LAB-one", product: "", processorSpeed: "", registeredOwner: "" })).toMatchObject({
      success: ["LAB-one"],
    })
  })
})
