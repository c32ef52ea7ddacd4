import type { RunRequest } from "@rangewright/application"
import type { Disguise, Range, Vmid } from "@rangewright/domain"
import { qemuObstacle } from "@rangewright/pve-simulator"
import { afterEach, describe, expect, it } from "vitest"
import { boot, createRange, type Process, startAndWait } from "./support/lab.ts"
import { seenByGuest } from "./support/seen-by-guest.ts"
import { addZone, makeSimCompany, type SimLab } from "./support/sim-lab.ts"

const config = `ludus:
  - vm_name: "{{ range_id }}-one"
    hostname: one
    template: win11-22h2-x64-enterprise-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 4
    cpus: 2
    windows: {}
`
const dell: Disguise = { vendor: "Dell", product: "OptiPlex 7090", dropFiles: true, browserData: true, persist: true }

type Api = (method: string, path: string, form?: Readonly<Record<string, string>>) => Promise<{ status: number; data: unknown }>

let running: Process | undefined
afterEach(async () => {
  await running?.dispose()
  running = undefined
})

const apiOf =
  (lab: SimLab, token = lab.sim.rootToken): Api =>
  async (method, path, form) => {
    const answer = await lab.sim.handle({
      method,
      path: `/api2/json${path}`,
      headers: { authorization: `PVEAPIToken=${token}`, "content-type": "application/x-www-form-urlencoded" },
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
    })
    return { status: answer.status, data: (JSON.parse(answer.body) as { data: unknown }).data }
  }

const deployed = async (lab: SimLab) => {
  const range = await createRange(lab)
  const process = boot(lab)
  running = process
  expect((await startAndWait(process, range)).state.message).toBe("")
  const guest = () => [...lab.sim.state.guests.values()].find(({ config: own }) => own["name"] === "LAB-one")!
  const change = async (disguise: Disguise | undefined) => {
    const vmids = [guest().vmid as Vmid]
    const request: RunRequest =
      disguise === undefined ? { kind: "anti-sandbox-disable", vmids } : { kind: "anti-sandbox-enable", vmids, disguise }
    return startAndWait(process, await now(), request)
  }
  const now = async (): Promise<Range> => lab.store.ranges.get(range.id)!
  return { process, guest, change, now }
}

/** The VM options that concern a disguise, without those unique to each VM. */
const shown = (options: Readonly<Record<string, string | number>>) =>
  Object.fromEntries(
    Object.entries(options).filter(
      // the tablet is on unless it is mentioned
      ([key, value]) => /^(?:cpu|smbios1|balloon|tablet|net\d+|virtio\d+)$/u.test(key) && `${key}=${value}` !== "tablet=1",
    ),
  )
const text = (value: string) => Buffer.from(value).toString("base64")

describe.each([1, 3])("on a Proxmox simulator of %d node(s)", (nodes) => {
  it(
    "a disguise is in the VM's configuration, stays through deploys, and is removed without a trace",
    { timeout: 60_000 },
    async () => {
      const lab = { ...makeSimCompany(nodes), config }
      if (nodes > 1) await addZone(lab)
      const { process, guest, change, now } = await deployed(lab)
      const before = shown(guest().config)
      const uuid = /uuid=[0-9a-f-]+/u.exec(String(guest().config["smbios1"]))![0]

      expect((await change(dell)).state).toMatchObject({ status: "success", message: "" })
      const { config: options, status, pending } = guest()
      expect([status, pending]).toEqual(["running", {}])
      expect(options["cpu"]).toBe("custom-rangewright-bare")
      expect(lab.sim.state.cpuModels.get("rangewright-bare")).toEqual({
        "reported-model": "host",
        flags: "-hypervisor",
        hidden: 1,
        "hv-vendor-id": "GenuineIntel",
      })
      expect(String(options["smbios1"])).toContain(uuid)
      for (const part of [`manufacturer=${text("Dell Inc.")}`, `product=${text("OptiPlex 7090")}`, "base64=1"])
        expect(String(options["smbios1"])).toContain(part)
      expect(String(options["smbios1"]).length).toBeLessThanOrEqual(512)
      expect(options["net0"]).toMatch(/^e1000e=02:/u)
      expect(options["virtio0"]).toMatch(/,serial=Z9/u)
      expect(options).toMatchObject({ balloon: 0, tablet: 0 })
      expect(guest().os?.stages["anti-sandbox"]).toMatchObject({ disguised: true, manufacturer: "Dell Inc.", persist: true })

      const disguised = shown(options)
      lab.sim.calls.clear()
      expect((await startAndWait(process, await now())).state.plan?.steps).toEqual([])
      expect(lab.sim.calls.counts().mutating).toBe(0)
      const again = await change(dell)
      expect(again.state.plan?.steps.map(({ action }) => action.kind)).toEqual(["record-disguises"])
      expect(lab.sim.calls.counts().mutating).toBe(0)
      expect(shown(guest().config)).toEqual(disguised)

      expect((await change(undefined)).state).toMatchObject({ status: "success", message: "" })
      expect(shown(guest().config)).toEqual(before)
      expect(guest().config["description"]).not.toContain("undisguised")
      expect(guest().os?.stages["anti-sandbox"]).toMatchObject({ disguised: false })
      expect((await startAndWait(process, await now())).state.plan?.steps).toEqual([])
    },
  )
})

const noQemu = qemuObstacle()

it.skipIf(noQemu !== undefined)(
  `a QEMU guest with that configuration sees the configured hardware, and no hidden signs (skipped when ${noQemu ?? "there is no QEMU"})`,
  { timeout: 120_000 },
  async () => {
    const lab = { ...makeSimCompany(1), config }
    const { guest, change } = await deployed(lab)
    const api = apiOf(lab)
    const at = `/nodes/${guest().node}/qemu/${guest().vmid}`
    const storage = String(guest().config["virtio0"]).split(":")[0] ?? ""
    await api("PUT", `${at}/config`, { ide0: `${storage}:1` })
    const cpuModels = lab.sim.state.cpuModels
    await change({ ...dell, product: "OptiPlex, 7090" })
    await change(undefined)
    const plain = await seenByGuest(guest().config, cpuModels)
    // without hiding, the signs are visible
    expect(plain).toMatchObject({ hypervisorBit: true, hypervisor: "TCGTCGTCGTCG", disk: { model: "QEMU HARDDISK" } })
    expect(plain.system[0]).toBe("QEMU")
    expect(plain.devices).toEqual(expect.arrayContaining(["1af4:1000", "1af4:1002"]))

    expect((await change({ ...dell, product: "OptiPlex, 7090" })).state.message).toBe("")
    const seen = await seenByGuest(guest().config, cpuModels)
    const { serial } = seen.disk
    expect(seen).toEqual({
      hypervisorBit: false,
      hypervisor: "",
      processor: plain.processor,
      // chipset of the board, display, network card
      devices: ["8086:1237", "8086:7000", "8086:7010", "8086:7113", "1234:1111", "8086:10d3"],
      disk: { serial: expect.stringMatching(/^Z9\w{6}$/u), model: "ST1000DM010-2EP102" },
      system: ["Dell Inc.", "OptiPlex, 7090", "1.0", expect.stringMatching(/^\w{7}$/u), "0A6C", "OptiPlex"],
    })
    expect(String(guest().config["ide0"])).toContain(`serial=${serial}`)
  },
)

it("a disk added during the disguise shows its original values when the disguise is removed", { timeout: 60_000 }, async () => {
  const lab = { ...makeSimCompany(1), config }
  const { process, guest, change, now } = await deployed(lab)
  expect((await change(dell)).state.message).toBe("")
  const storage = String(guest().config["virtio0"]).split(":")[0] ?? ""
  const plugged = await apiOf(lab)("PUT", `/nodes/${guest().node}/qemu/${guest().vmid}/config`, {
    virtio1: `${storage}:1,serial=OWN`,
  })
  expect(plugged.status).toBe(200)
  const disk = String(guest().config["virtio1"])
  expect((await startAndWait(process, await now())).state.message).toBe("")
  expect(String(guest().config["virtio1"])).toMatch(/,serial=Z9/u)
  expect((await change(undefined)).state).toMatchObject({ status: "success", message: "" })
  expect(String(guest().config["virtio1"]).split(",").toSorted()).toEqual(disk.split(",").toSorted())
})

it("a rollback neither removes the disguise nor brings a removed one back", { timeout: 60_000 }, async () => {
  const lab = { ...makeSimCompany(), config }
  const { process, guest, change, now } = await deployed(lab)
  const plain = shown(guest().config)
  const vmids = [guest().vmid as Vmid]
  const snapshot = async (name: string) =>
    startAndWait(process, await now(), {
      kind: "snapshot-create",
      name,
      description: "x",
      memory: false,
      atomic: false,
      vmids,
    })
  const rollBack = async (name: string) =>
    startAndWait(process, await now(), { kind: "snapshot-rollback", name, atomic: false, vmids })
  await snapshot("plain")
  await change(dell)
  const disguised = shown(guest().config)
  await snapshot("disguised")
  expect((await rollBack("plain")).state.status).toBe("success")
  expect(shown(guest().config)).toEqual(disguised)
  // the changes inside are gone with the disk
  expect((await startAndWait(process, await now())).state.plan?.steps.map(({ key }) => key)).toEqual([
    "address:LAB-one",
    "anti-sandbox:LAB-one",
  ])
  await change(undefined)
  expect((await rollBack("disguised")).state.status).toBe("success")
  expect(shown(guest().config)).toEqual(plain)
})

it("takes a dozen calls, and the second time only reads", { timeout: 60_000 }, async () => {
  const lab = { ...makeSimCompany(), config }
  const { change } = await deployed(lab)
  lab.sim.calls.clear()
  await change(dell)
  // the model, shutdown, configuration and start; changes inside go through the agent
  expect(lab.sim.calls.counts().mutating).toBeLessThanOrEqual(4)
  lab.sim.calls.clear()
  await change(dell)
  expect(lab.sim.calls.counts()).toMatchObject({ mutating: 0 })
  expect(lab.sim.calls.counts().reads).toBeLessThanOrEqual(12)
})

describe("if the hypervisor cannot do all of it", () => {
  it.each([
    ["is older than 9.2", "only Proxmox 9.2 and later support custom processor models"],
    ["has a model of that name that somebody changed", "somebody has changed the processor model rangewright-bare"],
  ])("because it %s, the rest is done, and the plan says so", { timeout: 60_000 }, async (which, because) => {
    const isOld = which.includes("older")
    const between =
      (handle: SimLab["sim"]["handle"]): SimLab["sim"]["handle"] =>
      async (request) => {
        const answer = await handle(request)
        const missing = isOld && request.path.includes("/cluster/qemu/")
        return missing ? { ...answer, status: 501, reason: "Method not implemented", body: '{"data":null}' } : answer
      }
    const lab = { ...makeSimCompany(1, between), config }
    const { guest, change } = await deployed(lab)
    if (!isOld)
      await apiOf(lab)("POST", "/cluster/qemu/custom-cpu-models", { cputype: "rangewright-bare", "reported-model": "kvm64" })
    const { state } = await change(dell)
    expect(state).toMatchObject({ status: "success" })
    expect(guest().config["cpu"]).toBe("host,hidden=1")
    expect(state.plan?.notes).toEqual([expect.stringContaining(because)])
  })

  it(
    "with only the privileges of the guide, it names the missing ones, and then does everything once they are granted",
    { timeout: 60_000 },
    async () => {
      let token: string | undefined
      const between =
        (handle: SimLab["sim"]["handle"]): SimLab["sim"]["handle"] =>
        (request) =>
          handle(
            token === undefined
              ? request
              : { ...request, headers: { ...request.headers, authorization: `PVEAPIToken=${token}` } },
          )
      const lab = { ...makeSimCompany(1, between), config }
      const { guest, change } = await deployed(lab)
      const disk = guest().config["virtio0"]
      const api = apiOf(lab)
      await api("POST", "/access/users", { userid: "service@pve" })
      const ours = [...lab.sim.state.access.roles.get("PVEAdmin")!.privileges].filter(
        (name) => !name.startsWith("Mapping.") && name !== "VM.Config.Disk",
      )
      await api("POST", "/access/roles", { roleid: "Rangewright", privs: [...ours, "Sys.Modify"].join(",") })
      await api("PUT", "/access/acl", { path: "/", roles: "Rangewright", users: "service@pve" })
      const { value } = (await api("POST", "/access/users/service@pve/token/one", { privsep: "0" })).data as { value: string }
      token = `service@pve!one=${value}`

      const first = await change(dell)
      expect(first.state).toMatchObject({ status: "success", message: "" })
      expect(first.state.plan?.notes).toEqual([
        expect.stringContaining("the service lacks Mapping.Modify and Mapping.Use on /mapping/cpu"),
        expect.stringContaining("the service lacks VM.Config.Disk on /vms"),
      ])
      expect(guest().config).toMatchObject({ cpu: "host,hidden=1", virtio0: disk })

      await api("POST", "/access/roles", { roleid: "Disguise", privs: "Mapping.Modify,Mapping.Use,VM.Config.Disk" })
      for (const path of ["/mapping/cpu", "/vms"])
        await api("PUT", "/access/acl", {
          path,
          roles: path === "/vms" ? "Rangewright,Disguise" : "Disguise",
          users: "service@pve",
        })
      const second = await change(dell)
      expect(second.state).toMatchObject({ status: "success", message: "" })
      expect(second.state.plan?.notes).toEqual([])
      expect(guest().config["cpu"]).toBe("custom-rangewright-bare")
      expect(guest().config["virtio0"]).toMatch(/,serial=Z9/u)
    },
  )
})
