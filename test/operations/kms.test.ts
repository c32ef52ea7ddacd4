import { type Fault, type Range, type RangeId, type User, type WindowsReport } from "@rangewright/domain"
import { type HandlerRequest, operations } from "@rangewright/application"
import * as Schema from "effect/Schema"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { labSettings } from "../runs/support/lab.ts"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Told {
  readonly success?: readonly string[]
  readonly errors?: readonly { readonly item: string; readonly reason: string }[]
  readonly runID?: string
}

const volume: WindowsReport = {
  edition: "ServerStandard",
  build: 20_348,
  domainRole: 3,
  channel: "Windows(R) Operating System, VOLUME_KMSCLIENT channel",
  status: 5,
  graceMinutes: 0,
  kmsPort: 0,
  error: "",
}
const licensed: WindowsReport = { ...volume, status: 1, graceMinutes: 259_200 }
const clientKey = "VDYBN-27WPP-V4HQT-9VMD4-VMK7H"
const ownKey = "AAAAA-BBBBB-CCCCC-DDDDD-12345"
const hostKey = "HHHHH-OOOOO-SSSSS-TTTTT-KKKKK"

describe("activation of Windows", () => {
  let service: RangeService
  let ada: User
  let range: Range
  /** What machines print before activation and after it. */
  let before: (machine: string) => unknown
  let after: (machine: string) => unknown

  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const refused = (what: Promise<unknown>) =>
    what.then(
      () => {
        throw new Error("it was not refused")
      },
      (fault: unknown) => fault as Fault,
    )
  const license = async (vmIDs: unknown, productKey?: string) =>
    (await call("kmsLicense", { body: { vmIDs, ...(productKey === undefined ? {} : { productKey }) } })) as Told
  const vm = (part: string) =>
    [...service.lab.world.vms.values()].find(({ name, pool }) => pool === range.id && name.includes(part))!
  const asked = (stage: string) =>
    service.lab.world.calls.filter(
      ({ port, method, action }) =>
        port === "guest" && method === "dispatch" && action?.kind === "guest" && action.stage === stage,
    )
  const statusOf = async (part: string): Promise<string | undefined> => {
    const bytes = (await call("listRange", { range: await service.find("LAB"), query: { details: true } })) as Uint8Array
    const { VMs } = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly VMs: readonly { readonly name: string; readonly licenseStatus: string }[]
    }
    return VMs.find(({ name }) => name.includes(part))?.licenseStatus
  }
  const begin = async (kms = labSettings.kms, isAdmin = false) => {
    service = makeRangeService({ ...labSettings, ...(kms === undefined ? {} : { kms }) })
    service.lab.world.windowsReport = (stage, machine) => {
      const said = (stage === "inspect-windows" ? before : after)(machine)
      return typeof said === "string" ? said : JSON.stringify(said)
    }
    ada = await service.addUser("Ada", { isAdmin })
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await service.find("LAB"), service.lab.config)
    range = await service.find("LAB")
    await service.deploy(ada, range)
    service.lab.world.calls.length = 0
  }

  beforeEach(async () => {
    before = () => volume
    after = () => licensed
    await begin({ host: { host: "kms.example", port: 1689 }, server: undefined, hostKey: undefined })
  })
  afterEach(() => service.close())

  it("uses the key of the edition and reports what Windows says in the end", async () => {
    expect(await statusOf("ws01")).toBe("N/A")
    const { vmid } = vm("ws01")
    const told = await license(` ${vmid}, ,${vmid}`)
    expect(told).toEqual({ success: [String(vmid)], runID: expect.any(String) })
    expect(asked("activate-windows").map(({ action }) => action)).toMatchObject([
      { os: "windows", input: { host: "kms.example", port: 1689, license_key: clientKey } },
    ])
    expect(await statusOf("ws01")).toMatch(/^activated until \d{4}-\d\d-\d\d, as of \d{4}-\d\d-\d\d$/u)
    expect(await statusOf("files01")).toBe("N/A")
    expect(await service.end(ada, told.runID ?? "")).toMatchObject({ status: "success", kind: "kms-license" })
    expect(await license([vmid])).toMatchObject({ success: [String(vmid)] })
  })

  it.each([["20001, 20002"], [[20_001]], [["20001", 20_002]]])("takes machines as %j", (vmIDs) => {
    const body = operations.find(({ id }) => id === "kmsLicense")?.input.body
    if (body?.type !== "json") throw new Error("it has a body")
    const read = Schema.decodeUnknownSync(body.schema as Schema.Codec<unknown, unknown>)
    expect(read({ vmIDs })).toEqual({ vmIDs })
  })

  it("starts nothing on machines that cannot be activated, and gives the reason for each", async () => {
    before = (machine) =>
      machine.includes("files01") ? { ...volume, edition: "ServerStandardEval", channel: "x, TIMEBASED_EVAL channel" } : volume
    const numbers = ["dc01", "files01", "web01", "router"].map((part) => vm(part).vmid)
    const told = await license([...numbers, 7, 999_999].join(","))
    expect(told.success).toBeUndefined()
    expect(told.runID).toBeUndefined()
    expect(told.errors).toEqual([
      { item: String(numbers[0]), reason: expect.stringContaining("is a domain controller") },
      { item: String(numbers[1]), reason: expect.stringContaining("evaluation edition (ServerStandardEval)") },
      { item: String(numbers[2]), reason: expect.stringContaining("does not run Windows") },
      { item: String(numbers[3]), reason: expect.stringContaining("router") },
      { item: "7", reason: "this is not a VMID" },
      { item: "999999", reason: "VM 999999 is not a machine of range LAB" },
    ])
    // machines known to be no candidates are not even inspected
    expect(asked("inspect-windows")).toHaveLength(1)
    expect(asked("activate-windows")).toEqual([])
  })

  it.each([
    ["a domain controller that nobody configured", { ...volume, domainRole: 5 }, "domain controller"],
    ["an evaluation that its edition does not tell", { ...volume, channel: "Windows(R), TIMEBASED_EVAL channel" }, "evaluation"],
    ["an edition without a client key", { ...volume, edition: "Core", build: 22_631 }, "no KMS client key is known"],
    ["a machine that tells nonsense", "{", "does not report its edition"],
    ["a machine that tells too much", JSON.stringify({ ...volume, channel: "x".repeat(9000) }), "does not report its edition"],
    ["a machine with a template in its edition", { ...volume, edition: "{{ lookup('env') }}" }, "does not report its edition"],
  ])("refuses %s before anything is done to it", async (_what, report, reason) => {
    before = () => report
    const told = await license([vm("ws01").vmid])
    expect(told).toEqual({ errors: [{ item: String(vm("ws01").vmid), reason: expect.stringContaining(reason) }] })
    expect(asked("activate-windows")).toEqual([])
  })

  it("is refused for machines that are off", async () => {
    const { vmid } = vm("ws01")
    await call("powerOffRange", { body: { machines: [vm("ws01").name] } })
    service.lab.world.calls.length = 0
    expect((await license([vmid])).errors).toEqual([{ item: String(vmid), reason: expect.stringContaining("power it on") }])
    expect(asked("inspect-windows")).toEqual([])
  })

  it.each([
    ["the KMS host does not answer", { ...volume, error: "0xC004F074" }, "did not answer"],
    ["too few have asked it", { ...volume, error: "0xC004F038" }, "once 5 machines have asked"],
    ["Windows says so without an error", volume, "licence status 5"],
    ["an error comes with a licence of before", { ...licensed, error: "0xC004F074" }, "did not answer"],
  ])("is reported as failed when %s, and never as activated", async (_what, report, reason) => {
    after = () => report
    const { vmid } = vm("ws01")
    const told = await license([vmid])
    expect(told.errors).toEqual([{ item: String(vmid), reason: expect.stringContaining(reason) }])
    expect(told.success).toBeUndefined()
    expect(await statusOf("ws01")).toMatch(/^not activated, as of /u)
  })

  it("is unknown if the machine reports nothing in the end, even if it was activated before", async () => {
    const { vmid } = vm("ws01")
    await license([vmid])
    expect(await statusOf("ws01")).toMatch(/^activated/u)
    after = () => "nothing"
    expect((await license([vmid])).errors?.[0]?.reason).toContain("it is not known whether it is activated")
    expect(await statusOf("ws01")).toBe("N/A")
  })

  it("is unknown again after a rollback", async () => {
    const { vmid } = vm("ws01")
    await call("snapshotsTake", { body: { name: "fresh", vmids: [vmid] } })
    await license([vmid])
    await call("snapshotsRollback", { body: { name: "fresh", vmids: [vmid] } })
    expect(await statusOf("ws01")).toBe("N/A")
  })

  it("fails for one machine without affecting others", async () => {
    after = (machine) => (machine.includes("ws01") ? volume : licensed)
    const told = await license([vm("ws01").vmid, vm("files01").vmid])
    expect(told.success).toEqual([String(vm("files01").vmid)])
    expect(told.errors?.map(({ item }) => item)).toEqual([String(vm("ws01").vmid)])
    expect(await service.end(ada, told.runID ?? "")).toMatchObject({ status: "partial" })
  })

  it("keeps the caller's own key out of plan, journal and answers", async () => {
    await service.close()
    const sealed: string[] = []
    before = () => ({ ...volume, edition: "Core", build: 22_631 })
    await begin({ host: { host: "kms.example", port: 1688 }, server: undefined, hostKey: undefined })
    service.secrets.seal = (plain) => {
      sealed.push(plain)
      return `sealed-${sealed.length}`
    }
    service.secrets.open = (text) => sealed[Number(text.replace("sealed-", "")) - 1] ?? ""
    const told = await license([vm("ws01").vmid], ` ${ownKey.toLowerCase()} `)
    expect(told.success).toHaveLength(1)
    expect(asked("activate-windows")[0]?.action).toMatchObject({ input: { license_key: ownKey } })
    const kept = JSON.stringify([...service.lab.store.runs.values()], (_, value: unknown) => value)
    expect(kept).toContain("sealed-1")
    for (const text of [kept, JSON.stringify(told), JSON.stringify(await service.end(ada, told.runID ?? ""))])
      expect(text).not.toContain(ownKey)
    expect(JSON.stringify(await service.end(ada, told.runID ?? ""))).not.toContain("sealed-1")
  })

  it.each(["AAAAA-BBBBB", `${ownKey}'; rm`, `$(${ownKey})`, `${ownKey}\n${ownKey}`, "ÄAAAA-BBBBB-CCCCC-DDDDD-12345"])(
    "refuses the product key %j without repeating it",
    async (key) => {
      const fault = await refused(license([vm("ws01").vmid], key))
      expect(fault.kind).toBe("invalid")
      expect(JSON.stringify([fault.message, fault.hint, fault.issues])).not.toContain(key.slice(0, 11))
      expect(service.lab.world.calls).toEqual([])
    },
  )

  it.each(["", " , ", Array.from({ length: 1001 }, (_, i) => i).join(",")])("refuses the list %#", async (list) => {
    expect((await refused(license(list))).kind).toBe("invalid")
  })

  it.each(["1e3", "-1", "0x10", "104;105", "1 2", "٣٤٥", "1".repeat(400)])("does not accept %j as a machine", async (item) => {
    const told = await license(item)
    expect(told.success).toBeUndefined()
    expect(told.errors?.[0]?.reason).toContain("VM")
    expect(service.lab.world.calls).toEqual([])
  })

  it("is refused while testing is on, while a run works on the range, and where no KMS host is configured", async () => {
    await call("startTesting")
    expect((await refused(license([vm("ws01").vmid]).catch((e: unknown) => Promise.reject(e as Error)))).kind).toBe("conflict")
    await service.close()
    await begin()
    const fault = await refused(license([vm("ws01").vmid]))
    expect([fault.kind, fault.hint]).toEqual(["not-found", expect.stringContaining("kms_host")])
    expect((await refused(call("kmsInstall"))).kind).toBe("not-found")
    expect(await call("kmsStatus")).toEqual({ enabled: false })
  })

  describe("the KMS host", () => {
    it("of the organization is named, and reported as ready only when it accepts connections", async () => {
      expect(await call("kmsStatus")).toEqual({ enabled: true, host: "kms.example:1689" })
      const fault = await refused(call("kmsInstall"))
      expect([fault.kind, fault.message]).toEqual(["failed", expect.stringContaining("kms.example:1689")])
      service.names.listening.add("kms.example:1689")
      expect(await call("kmsInstall")).toEqual({ result: expect.stringContaining("accepts connections") })
    })

    describe("on the operator's own machine", () => {
      const named = (id: string, machine: string) => ({ host: undefined, server: { range: id as RangeId, machine }, hostKey })
      beforeEach(async () => {
        await service.close()
        before = () => volume
        after = () => ({ ...licensed, kmsPort: 1688 })
        await begin(named("LAB", "LAB-files01"), true)
      })

      const refusedEverywhere = async (reason: string) => {
        for (const use of [() => call("kmsInstall"), () => license([vm("ws01").vmid]), () => call("kmsStatus")]) {
          const fault = await refused(use())
          expect([fault.kind, fault.message]).toEqual(["conflict", expect.stringContaining(reason)])
        }
        expect(service.lab.world.calls).toEqual([])
      }

      it.each([
        ["OTHER", "LAB-files01", "there is no range OTHER"],
        ["LAB", "LAB-kms", "range LAB has no machine LAB-kms"],
      ])("is not used if it does not exist: %s/%s", async (id, machine, reason) => {
        await service.close()
        await begin(named(id, machine), true)
        await refusedEverywhere(reason)
      })

      it("is not used in a range that a user created under the ID of an administrator's range", async () => {
        await service.close()
        await begin(named("LAB", "LAB-files01"))
        await refusedEverywhere("no owner of range LAB is an administrator")
      })

      it("is set up with the operator's key, which appears in no plan, journal or answer", async () => {
        const { vmid } = vm("files01")
        expect(await call("kmsStatus")).toEqual({ enabled: true, vmID: vmid })
        const told = await call("kmsInstall")
        expect(told).toEqual({ result: expect.stringContaining("is a KMS host") })
        expect(asked("kms-server").map(({ action }) => action)).toMatchObject([{ input: { license_key: hostKey } }])
        expect(JSON.stringify([told, [...service.lab.store.runs.values()]])).not.toContain(hostKey)
        expect(await call("kmsInstall")).toEqual(told)
      })

      it("is the KMS host that machines are pointed to", async () => {
        await license([vm("ws01").vmid])
        expect(asked("activate-windows")[0]?.action).toMatchObject({ input: { host: "10.1.10.12", port: 1688 } })
      })

      it.each([
        ["Windows is no KMS host in the end", licensed, "is not a KMS host"],
        ["the key is refused", { ...volume, error: "0xC004F050" }, "the product key is invalid"],
      ])("is not ready when %s", async (_what, report, reason) => {
        after = () => report
        const fault = await refused(call("kmsInstall"))
        expect([fault.kind, fault.message]).toEqual(["failed", expect.stringContaining(reason)])
        expect(JSON.stringify([fault.message, fault.hint])).not.toContain(hostKey)
      })

      it.each([
        ["an evaluation", { ...volume, edition: "ServerStandardEval" }, "evaluation"],
        ["a domain controller", { ...volume, domainRole: 4 }, "domain controller"],
        ["no server", { ...volume, edition: "Enterprise", build: 22_631 }, "does not run Windows Server"],
      ])("is not set up on %s", async (_what, report, reason) => {
        before = () => report
        const fault = await refused(call("kmsInstall"))
        expect([fault.kind, fault.message]).toEqual(["conflict", expect.stringContaining(reason)])
        expect(asked("kms-server")).toEqual([])
      })
    })
  })
})
