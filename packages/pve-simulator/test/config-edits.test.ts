import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const path = "/nodes/pve/qemu/200"

/** A lab with VM 200 as root@pam's token sees it. */
const labWith = async (options: Record<string, unknown>) => {
  const lab = createLab()
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, ...options })).toBe("OK")
  return {
    lab,
    put: async (changes: Record<string, unknown>) => await lab.call("PUT", `${path}/config`, changes),
    config: async () => (await lab.ok("GET", `${path}/config`)) as Record<string, string>,
    disks: () => disksOf(lab),
  }
}

const disksOf = (lab: Lab): string[] =>
  [...lab.sim.state.storages.get("local-lvm")!.volumes.values()].filter(({ vmid }) => vmid === 200).map(({ volid }) => volid)

test("the boot order loses removed devices, gains new disc drives, and takes only devices that exist", async () => {
  const { put, config } = await labWith({ scsi0: "local-lvm:1", net0: "virtio,bridge=vmbr0", net1: "virtio,bridge=vmbr0" })
  expect(await config()).toMatchObject({ boot: "order=scsi0;net0" })
  await put({ delete: "net0" })
  expect(await config()).toMatchObject({ boot: "order=scsi0" })
  await put({ ide2: "none,media=cdrom" })
  expect(await config()).toMatchObject({ boot: "order=scsi0;ide2" })
  await put({ scsi1: "local-lvm:1" })
  expect(await config()).toMatchObject({ boot: "order=scsi0;ide2" })
  expect(await put({ boot: "order=net1;scsi5" })).toMatchObject({
    status: 500,
    message: "invalid bootorder: device 'scsi5' does not exist'\n",
  })
  expect(await put({ boot: "order=net1;scsi5", scsi5: "local-lvm:1" })).toMatchObject({ status: 200 })
  expect(await config()).toMatchObject({ boot: "order=net1;scsi5" })
})

test("a volume that is attached again is no longer unused", async () => {
  const { put, config } = await labWith({ scsi0: "local-lvm:1" })
  await put({ delete: "scsi0" })
  expect(await config()).toMatchObject({ unused0: "local-lvm:vm-200-disk-0" })
  await put({ virtio0: "local-lvm:vm-200-disk-0" })
  expect(await config()).toMatchObject({ virtio0: "local-lvm:vm-200-disk-0,size=1G" })
  expect(await config()).not.toHaveProperty("unused0")
})

test("with `force`, a removed disk is deleted instead of kept as unused, also from a running VM", async () => {
  const { lab, put, config, disks } = await labWith({ scsi0: "local-lvm:1", scsi1: "local-lvm:1", scsi2: "local-lvm:1" })
  await put({ delete: "scsi2", force: 1 })
  expect(disks()).toEqual(["local-lvm:vm-200-disk-0", "local-lvm:vm-200-disk-1"])
  await lab.ok("PUT", `${path}/unlink`, { idlist: "scsi1", force: 1 })
  expect(disks()).toEqual(["local-lvm:vm-200-disk-0"])
  await lab.task("POST", `${path}/status/start`)
  await put({ delete: "scsi0", force: 1 })
  expect(disks()).toEqual([])
  expect(Object.keys(await config()).filter((key) => /^(?:scsi|unused)\d/u.test(key))).toEqual([])
  expect((await lab.call("PUT", `${path}/unlink`, { idlist: "none0" })).errors).toEqual({ delete: "unknown option 'none0'" })
})

test("a disk of a protected VM stays", async () => {
  const { put } = await labWith({ scsi0: "local-lvm:1", protection: 1 })
  expect(await put({ delete: "scsi0" })).toMatchObject({
    status: 500,
    message: "can't remove drive 'scsi0' - protection mode enabled\n",
  })
})

test("a balloon is not larger than the memory", async () => {
  const { put } = await labWith({ memory: 1024 })
  const refused = { status: 500, message: "balloon value too large (must be smaller than assigned memory)\n" }
  expect(await put({ balloon: 2048 })).toMatchObject(refused)
  expect(await put({ balloon: 2048, memory: 2048 })).toMatchObject({ status: 200 })
  expect(await put({ memory: 1024 })).toMatchObject(refused)
})

test("an option is set, removed or reverted, not two of these", async () => {
  const { put } = await labWith({ cores: 1 })
  expect((await put({ revert: "cores", cores: 2 })).errors).toEqual({
    delete: "you can't use '-cores' and -revert cores' at the same time",
  })
  expect((await put({ revert: "cores", delete: "cores" })).errors).toEqual({
    revert: "you can't use '-delete cores' and -revert cores' at the same time",
  })
})

test("an edit in a task is awaited if asked for, and says what it was", async () => {
  const { lab } = await labWith({})
  const post = async (changes: Record<string, unknown>) => await lab.call("POST", `${path}/config`, changes)
  expect(await post({ cores: 2, background_delay: 5 })).toMatchObject({ status: 200, data: null })
  expect(lab.sim.guest(200)?.config).toMatchObject({ cores: 2 })
  expect(await post({ boot: "order=scsi7", background_delay: 5 })).toMatchObject({
    status: 500,
    message: "failed to update VM 200: invalid bootorder: device 'scsi7' does not exist'\n",
  })
  const upid = String((await post({ name: "web", cores: 3, cipassword: "secret", delete: "memory" })).data)
  expect(await lab.settle(upid)).toBe("OK")
  expect(await lab.ok("GET", `/nodes/pve/tasks/${upid}/log`)).toMatchObject([
    { t: "update VM 200: -cipassword <hidden> -cores 3 -delete memory -name web" },
    { t: "TASK OK" },
  ])
})
