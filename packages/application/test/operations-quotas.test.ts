import type { GroupName, Range, User } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let admin: User
let ada: User
let lab: Range
const config = (count: number): string =>
  `ludus:\n${Array.from(
    { length: count },
    (_, i) =>
      `  - {vm_name: "LAB-${i}", hostname: h${i}, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: ${11 + i}, ram_gb: 4, cpus: 2, linux: true}\n`,
  ).join("")}`
beforeEach(async () => {
  app = makeTestApp({ settings: { quotaDefaults: { ram: 0, cpus: 0, vms: 3, ranges: 2 } } })
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  lab = await app.addRange("LAB", [ada], config(3))
})
const set = (body: Readonly<Record<string, unknown>>) => app.call("setUserQuota", admin, { body })

describe("quotas", () => {
  it("show what a user may take and takes, and where each limit comes from", async () => {
    await app.addMachine(lab, 141, "LAB-0", { cpus: 2, memoryMiB: 4097 })
    expect(await set({ userIDs: ["Ada", " Ada "], quotaRAM: 64 })).toEqual({ result: "Quotas set for 1 user" })
    const status = {
      limitRAM: 64,
      limitCPU: 0,
      limitVMs: 3,
      limitRanges: 2,
      usedRAM: 5,
      usedCPU: 2,
      usedVMs: 1,
      usedRanges: 1,
      limitDiskBytes: 0,
      usedDiskBytes: 0,
    }
    expect(await app.call("getQuotaStatus", ada)).toEqual(status)
    expect(await app.call("getAllQuotaStatus", admin)).toContainEqual({
      userID: "Ada",
      name: "User Ada",
      ...status,
      sourceRAM: "U",
      sourceCPU: "",
      sourceVMs: "S",
      sourceRanges: "S",
    })
    expect(await app.call("getQuotaDefaults", admin)).toEqual({
      limitRAM: 0,
      limitCPU: 0,
      limitVMs: 3,
      limitRanges: 2,
      limitDiskBytes: 0,
    })
    expect(await app.call("listUser", ada)).toMatchObject([{ quotaRAM: 64 }])
    expect(await app.call("whoami", ada)).toMatchObject({ user: { quotaRAM: 64, quotaCPU: 0 } })
  })

  it("of groups apply to members, and show how many there are", async () => {
    await app.call("createGroup", admin, { body: { name: "red" } })
    await app.run(Groups.use((groups) => groups.setRoles("red" as GroupName, new Map([[ada.id, "manager"]]))))
    expect(await app.call("setGroupQuota", admin, { body: { groupNames: ["red"], defaultQuotaCPU: 8 } })).toEqual({
      result: "Quotas set for 1 group",
    })
    expect(await app.call("getGroupQuotas", admin)).toEqual([
      { name: "red", defaultQuotaRAM: 0, defaultQuotaCPU: 8, defaultQuotaVMs: 0, defaultQuotaRanges: 0, memberCount: 1 },
    ])
    expect(await app.call("getQuotaStatus", ada)).toMatchObject({ limitCPU: 8 })
  })

  it.each([
    [{ userIDs: [], quotaRAM: 1 }, "userIDs names nothing"],
    [{ userIDs: ["Ada"] }, "no limit is given"],
    [{ userIDs: ["Ada"], quotaRAM: -1 }, "quotaRAM: a limit must be a whole number from 0"],
    [{ userIDs: ["Ada"], quotaVMs: 2 ** 31 }, "quotaVMs: a limit must be a whole number from 0"],
    [{ userIDs: ["Ada", "nobody"], quotaRAM: 1 }, "User nobody not found"],
  ])("are not set by %j", async (body, message) => {
    expect((await app.fails("setUserQuota", admin, { body })).message).toContain(message)
    expect(await app.call("listUser", ada)).not.toMatchObject([{ quotaRAM: expect.anything() }])
  })

  it("refuse a deploy before anything has begun, and its plan and the upload of its configuration say so", async () => {
    const tooMany =
      "Cannot deploy range LAB: the quota of Ada does not allow it: VMs: limit 3, in use 0, requested 4 more, 4 in all"
    const upload = {
      range: lab,
      file: { filename: "c.yml", contentType: "text/yaml", bytes: new TextEncoder().encode(config(4)) },
    }
    expect(await app.call("putConfig", ada, { ...upload, body: {} })).toMatchObject({
      result: expect.stringContaining(`Warning: ${tooMany}`),
    })
    expect(await app.fails("deployRange", ada, { range: lab })).toMatchObject({ kind: "forbidden", message: tooMany })
    expect((await app.range("LAB")).state).toBe("NEVER DEPLOYED")
    await set({ userIDs: ["Ada"], quotaVMs: 4 })
    expect(await app.call("deployRange", ada, { range: lab })).toHaveProperty("runID")
  })

  it("refuse to resume a deploy as what it is", async () => {
    const { runID } = (await app.call("deployRange", ada, { range: lab })) as { readonly runID: string }
    await app.call("abortRange", ada, { range: lab })
    await app.ended(runID)
    await set({ userIDs: ["Ada"], quotaVMs: 2 })
    expect((await app.fails("resumeRun", ada, { path: { runID } })).message).toContain(
      `Cannot resume run ${runID} of range LAB: the quota of Ada does not allow it`,
    )
  })

  it("refuse one range more than a user may have", async () => {
    const create = (rangeID: string) => app.call("createRange", ada, { body: { name: rangeID, rangeID } })
    await create("TWO")
    await expect(create("THREE")).rejects.toThrow("ranges: limit 2, in use 2, requested 1 more, 3 in all")
    expect([...app.world.pools]).not.toContain("THREE")
  })
})
