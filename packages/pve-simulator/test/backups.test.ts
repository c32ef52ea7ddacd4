import { expect, test } from "vitest"
import { nextTime, parseCalendar } from "../src/core/calendar.ts"
import { markBackups } from "../src/core/prune.ts"
import { createLab, type Lab } from "./support/client.ts"

interface Content {
  readonly volid: string
  readonly notes?: string
  readonly protected?: number
}

const backups = async (lab: Lab, vmid: number) =>
  (await lab.ok("GET", "/nodes/pve/storage/local/content", { content: "backup", vmid })) as Content[]

const backUp = async (lab: Lab, parameters: Record<string, unknown>) =>
  await lab.task("POST", "/nodes/pve/vzdump", { storage: "local", ...parameters })

test("a machine is backed up and restored: as another one, or over itself", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200, name: "web", full: 1 })
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { scsi5: "local-lvm:1,backup=0", description: "first" })
  expect(await backUp(lab, { vmid: 200, compress: "zstd", "notes-template": "{{guestname}} ({{vmid}})", protected: 1 })).toBe(
    "OK",
  )
  const upid = String(await lab.ok("POST", "/nodes/pve/vzdump", { vmid: 200, storage: "local", remove: 0 }))
  lab.clock.advance(10)
  const asked = lab.clock.now()
  expect((await lab.call("PUT", "/nodes/pve/qemu/200/config", { description: "x" })).message).toBe("VM is locked (backup)\n")
  expect(lab.clock.now()).toBe(asked)
  await lab.ok("DELETE", `/nodes/pve/tasks/${upid}`)
  expect(lab.sim.guest(200)?.config["lock"]).toBeUndefined()
  const [backup, ...others] = await backups(lab, 200)
  expect(others).toEqual([])
  expect(backup).toMatchObject({ notes: "web (200)", protected: 1, subtype: "qemu", format: "vma.zst", vmid: 200 })
  expect(backup?.volid).toMatch(/^local:backup\/vzdump-qemu-200-\d{4}(?:_\d\d){2}-\d\d(?:_\d\d){2}\.vma\.zst$/u)
  const archive = backup!.volid
  const content = `/nodes/pve/storage/local/content/${encodeURIComponent(archive)}`
  expect(await lab.task("DELETE", content)).toBe(`cannot remove protected volume '${archive}' on 'local'`)
  await lab.ok("PUT", content, { notes: "mine", protected: 0 })
  expect(await lab.ok("GET", content)).toMatchObject({ notes: "mine", format: "vma.zst" })
  expect(await lab.ok("GET", `/nodes/pve/vzdump/extractconfig?volume=${archive}`)).toContain("description: first\n")

  const restored = { archive, vmid: 201, storage: "local-lvm", unique: 1, name: "other", start: 1 }
  expect(await lab.task("POST", "/nodes/pve/qemu", restored)).toBe("OK")
  lab.clock.advance(60_000)
  const config = (await lab.ok("GET", "/nodes/pve/qemu/201/config")) as Record<string, string>
  const source = (await lab.ok("GET", "/nodes/pve/qemu/200/config")) as Record<string, string>
  expect(config).toMatchObject({ name: "other", description: "first" })
  expect(config["virtio0"]).toMatch(/^local-lvm:vm-201-disk-\d,/u)
  expect(config["scsi5"]).toBeUndefined()
  expect(config["net0"]).not.toBe(source["net0"])
  expect((await lab.ok("GET", "/nodes/pve/qemu/201/agent/get-osinfo")) as object).toHaveProperty("result")

  const over = async () => await lab.call("POST", "/nodes/pve/qemu", { archive, vmid: 200, force: 1 })
  expect((await lab.call("POST", "/nodes/pve/qemu", { archive, vmid: 200 })).message).toBe(
    "unable to restore VM 200 - VM 200 already exists on node 'pve'\n",
  )
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  expect((await over()).message).toBe("unable to restore VM 200 - vm is running\n")
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { description: "second" })
  expect(await lab.settle(String((await over()).data))).toBe("OK")
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/config")).toMatchObject({ description: "first", net0: source["net0"] })
  const left = ((await lab.ok("GET", "/nodes/pve/storage/local-lvm/content", { vmid: 200 })) as Content[]).length
  expect(left).toBe(1)
  expect((await lab.call("POST", "/nodes/pve/qemu", { archive: "local:backup/none.vma", vmid: 202 })).message).toBe(
    "volume 'local:backup/none.vma' does not exist\n",
  )
})

test("a backup that cannot be made is an error of its task, and the others are made", async () => {
  const lab = createLab()
  expect((await lab.call("POST", "/nodes/pve/vzdump", { vmid: 100, storage: "local-lvm" })).message).toBe(
    "could not get storage information for 'local-lvm': can't use storage 'local-lvm' for backups - wrong content type\n",
  )
  expect((await lab.call("POST", "/nodes/pve/vzdump", {})).errors).toEqual({ vmid: "property is missing" })
  lab.sim.guest(100)!.config["lock"] = "clone"
  const upid = String(await lab.ok("POST", "/nodes/pve/vzdump", { vmid: "100,101,999", storage: "local" }))
  expect(await lab.settle(upid)).toBe("job errors")
  const log = JSON.stringify(await lab.ok("GET", `/nodes/pve/tasks/${upid}/log`))
  expect(log).toContain("Backup of VM 100 failed - VM is locked (clone)")
  expect(log).toContain("Backup of VM 999 failed - unable to find VM '999'")
  expect(await backups(lab, 101)).toHaveLength(1)
  expect(lab.sim.guest(101)!.config["lock"]).toBeUndefined()
  await lab.ok("POST", "/access/users", { userid: "ann@pve", password: "long enough" })
  const { value } = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  const ann = { token: `ann@pve!tok=${value}` }
  expect((await lab.call("POST", "/nodes/pve/vzdump", { vmid: 101, storage: "local" }, ann)).message).toBe(
    "Permission check failed (/vms/101, VM.Backup)\n",
  )
})

test("old backups are pruned by the rules of the call or of the storage", async () => {
  const lab = createLab()
  for (let n = 0; n < 3; n += 1) {
    await backUp(lab, { vmid: 100 })
    lab.clock.advance(3_600_000)
  }
  const look = async (rules: string) =>
    (await lab.ok("GET", "/nodes/pve/storage/local/prunebackups", { "prune-backups": rules })) as { mark: string }[]
  expect((await look("keep-last=1")).map(({ mark }) => mark)).toEqual(["keep", "remove", "remove"])
  expect(await backUp(lab, { vmid: 100, "prune-backups": "keep-last=2" })).toBe("OK")
  expect(await backups(lab, 100)).toHaveLength(2)
  expect(await lab.task("DELETE", "/nodes/pve/storage/local/prunebackups?prune-backups=keep-last%3D1&vmid=100")).toBe("OK")
  expect(await backups(lab, 100)).toHaveLength(1)
  await lab.ok("PUT", "/storage/local", { "prune-backups": "keep-last=2" })
  expect(await lab.ok("GET", "/storage/local")).toMatchObject({ "prune-backups": "keep-last=2" })
  for (let n = 0; n < 3; n += 1) {
    lab.clock.advance(60_000)
    await backUp(lab, { vmid: 100 })
  }
  expect(await backups(lab, 100)).toHaveLength(2)
  await lab.ok("PUT", "/storage/local", { delete: "prune-backups" })
  expect(await lab.ok("GET", "/storage/local")).not.toHaveProperty("prune-backups")

  const at = (text: string, kept = false) => ({ ctime: Date.parse(text) / 1000, ...(kept ? { protected: true } : {}) })
  const all = ["2026-01-05T10:00Z", "2026-01-05T11:00Z", "2026-01-06T10:00Z", "2026-02-01T10:00Z", "2026-02-01T12:00Z"].map((t) =>
    at(t),
  )
  const old = at("2020-01-01T00:00Z", true)
  const marks = markBackups([...all, old], { "keep-daily": "2", "keep-monthly": "2" })
  expect(all.map((each) => marks.get(each))).toEqual(["remove", "remove", "keep", "remove", "keep"])
  expect(marks.get(old)).toBe("protected")
})

test("a job runs when it is due, on each node that has guests for it, also after a restart", async () => {
  const lab = createLab({ nodes: 2 })
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200 })
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 201, target: "pve2" })
  const tasks = async () =>
    ((await lab.ok("GET", "/cluster/tasks")) as { type: string; node: string; id: string; user: string }[])
      .filter(({ type }) => type === "vzdump")
      .map(({ node, id, user }) => `${node} ${id} ${user}`)
      .toSorted()
  await lab.ok("POST", "/cluster/backup", { id: "nightly", vmid: "200,201", schedule: "02:30", storage: "local" })
  const { "next-run": next } = (await lab.ok("GET", "/cluster/backup/nightly")) as { "next-run": number }
  expect(new Date(next * 1000).toISOString()).toMatch(/T02:30:00/u)
  lab.sim.restore(lab.sim.save())
  lab.clock.advance(next * 1000 - lab.clock.now() - 1)
  expect(await tasks()).toEqual([])
  lab.clock.advance(1)
  expect(await tasks()).toEqual(["pve1 200 root@pam", "pve2 201 root@pam"])
  await lab.ok("PUT", "/cluster/backup/nightly", { enabled: 0 })
  expect(await lab.ok("GET", "/cluster/backup/nightly")).not.toHaveProperty("next-run")
  lab.clock.advance(3 * 86_400_000)
  expect(await tasks()).toHaveLength(2)
})

test("schedules are read as calendars", () => {
  const after = (schedule: string, now: string) => {
    const calendar = parseCalendar(schedule)
    const time = calendar === undefined ? undefined : nextTime(calendar, Date.parse(now))
    return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16)
  }
  const now = "2026-11-24T04:10:00Z" // a Tuesday
  expect(after("daily", now)).toBe("2026-11-25T00:00")
  expect(after("*/15", now)).toBe("2026-11-24T04:15")
  expect(after("4:0/10", now)).toBe("2026-11-24T04:20")
  expect(after("mon..wed,sun 02:30", now)).toBe("2026-11-25T02:30")
  expect(after("sat", now)).toBe("2026-11-28T00:00")
  expect(after("*-*-01 8..17:30:00", now)).toBe("2026-12-01T08:30")
  expect(after("2028-02-29", now)).toBe("2028-02-29T00:00")
  for (const wrong of ["", "someday", "25:00", "1:99", "mon 1:00 x", "*-13-01", "1..0:00", "*/0"])
    expect(after(wrong, now), wrong).toBe(undefined)
})

test("backup jobs are read as they were set, and list what they include", async () => {
  const lab = createLab()
  await lab.ok("POST", "/cluster/backup", {
    id: "nightly",
    vmid: "100,101",
    starttime: "02:30",
    storage: "local",
    "prune-backups": "keep-last=3",
  })
  await lab.ok("POST", "/cluster/backup", { all: 1, exclude: "100", schedule: "sat 04:00", enabled: 0 })
  expect(await lab.ok("GET", "/cluster/backup/nightly")).toEqual({
    id: "nightly",
    type: "vzdump",
    enabled: 1,
    vmid: "100,101",
    schedule: "02:30",
    storage: "local",
    "prune-backups": { "keep-last": "3" },
    "next-run": expect.any(Number) as number,
  })
  await lab.ok("PUT", "/cluster/backup/nightly", { pool: "SHARED", comment: "x", delete: "prune-backups" })
  expect(await lab.ok("GET", "/cluster/backup/nightly")).toEqual({
    id: "nightly",
    type: "vzdump",
    enabled: 1,
    pool: "SHARED",
    comment: "x",
    schedule: "02:30",
    storage: "local",
    "next-run": expect.any(Number) as number,
  })
  expect(((await lab.ok("GET", "/cluster/backup")) as unknown[]).length).toBe(2)
  expect(await lab.ok("GET", "/cluster/backup/nightly/included_volumes")).toMatchObject({
    children: expect.arrayContaining([expect.objectContaining({ id: 100, type: "qemu" })]) as unknown,
  })
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 300 })
  expect(await lab.ok("GET", "/cluster/backup-info/not-backed-up")).toEqual([{ vmid: 300, name: "VM 300", type: "qemu" }])
  expect((await lab.call("POST", "/cluster/backup", { schedule: "daily" })).errors).toEqual({ vmid: "property is missing" })
  await lab.ok("DELETE", "/cluster/backup/nightly")
  expect((await lab.call("GET", "/cluster/backup/nightly")).errors).toEqual({ id: "No such job 'nightly'" })
})
