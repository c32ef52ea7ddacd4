import { expect, test } from "vitest"
import { type As, createLab, type Lab } from "./support/client.ts"

/** A user whose token has these privileges on VM 200, and nothing else. */
const holder = async (lab: Lab, name: string, privileges: string): Promise<As> => {
  await lab.ok("POST", "/access/users", { userid: `${name}@pve` })
  await lab.ok("POST", "/access/roles", { roleid: name, privs: privileges })
  await lab.ok("PUT", "/access/acl", { path: "/vms/200", roles: name, users: `${name}@pve` })
  const { value } = (await lab.ok("POST", `/access/users/${name}@pve/token/tok`, { privsep: 0 })) as { value: string }
  return { token: `${name}@pve!tok=${value}` }
}

const refused = (what: string) => ({ status: 403, message: `Permission check failed (${what})\n` })

test("each option of a VM needs the privilege of its kind, and options of no kind are for root@pam alone", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1" })
  const put = async (as: As, changes: Record<string, unknown>) => await lab.call("PUT", "/nodes/pve/qemu/200/config", changes, as)
  const options = await holder(lab, "options", "VM.Config.Options")
  const hardware = await holder(lab, "hardware", "VM.Config.HWType")
  const disks = await holder(lab, "disks", "VM.Config.Disk")

  expect(await put(options, { bios: "ovmf" })).toMatchObject({ status: 200 })
  expect(await put(hardware, { bios: "ovmf" })).toMatchObject(refused("/vms/200, VM.Config.Options"))
  expect(await put(hardware, { scsihw: "lsi" })).toMatchObject({ status: 200 })
  expect(await put(disks, { scsihw: "lsi" })).toMatchObject(refused("/vms/200, VM.Config.HWType"))
  expect(await put(disks, { boot: "order=scsi0" })).toMatchObject({ status: 200 })
  expect(await put(options, { boot: "order=scsi0" })).toMatchObject(refused("/vms/200, VM.Config.Disk"))
  for (const [option, value] of Object.entries({ vmgenid: "1", affinity: "0", arch: "x86_64", hugepages: "any" }))
    expect(await put(options, { [option]: value })).toMatchObject({
      status: 500,
      message: `only root can set '${option}' config\n`,
    })
})

test("the start order of a VM also needs the right to change the host", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200 })
  const options = await holder(lab, "options", "VM.Config.Options")
  expect(await lab.call("PUT", "/nodes/pve/qemu/200/config", { startup: "order=1" }, options)).toMatchObject(
    refused("/, Sys.Modify"),
  )
})

test("cloud-init options need one of two privileges, and the drive both of others", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200 })
  const put = async (as: As, changes: Record<string, unknown>) => await lab.call("PUT", "/nodes/pve/qemu/200/config", changes, as)
  const network = await holder(lab, "network", "VM.Config.Network")
  const cloudinit = await holder(lab, "cloudinit", "VM.Config.Cloudinit")
  for (const as of [network, cloudinit])
    for (const option of [{ ciuser: "ada" }, { nameserver: "192.0.2.1" }, { ipconfig0: "ip=dhcp" }])
      expect(await put(as, option)).toMatchObject({ status: 200 })
  const options = await holder(lab, "options", "VM.Config.Options")
  expect(await put(options, { ciuser: "ada" })).toMatchObject(refused("/vms/200, VM.Config.Cloudinit|VM.Config.Network"))

  const drive = { ide2: "local-lvm:cloudinit" }
  expect(await put(cloudinit, drive)).toMatchObject(refused("/vms/200, VM.Config.Cloudinit,VM.Config.CDROM"))
  expect(await put(await holder(lab, "both", "VM.Config.Cloudinit VM.Config.CDROM"), drive)).toMatchObject({ status: 200 })
})

test("a disc drive can be removed with the right on disc drives, a disk with that on disks", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1", ide2: "none,media=cdrom" })
  const drives = await holder(lab, "drives", "VM.Config.CDROM")
  const remove = async (key: string) => await lab.call("PUT", "/nodes/pve/qemu/200/config", { delete: key }, drives)
  expect(await remove("scsi0")).toMatchObject(refused("/vms/200, VM.Config.Disk"))
  expect(await remove("ide2")).toMatchObject({ status: 200 })
})

test("a new VM needs the right to allocate it, and no right on drives; without any, the refusal names nothing", async () => {
  const lab = createLab()
  const ann = await holder(lab, "ann", "VM.Allocate")
  await lab.ok("PUT", "/access/acl", { path: "/storage/local-lvm", roles: "PVEDatastoreUser", users: "ann@pve" })
  const create = async (vmid: number) =>
    await lab.call("POST", "/nodes/pve/qemu", { vmid, scsi0: "local-lvm:1", ide2: "none,media=cdrom" }, ann)
  expect(await create(200)).toMatchObject({ status: 200 })
  expect(await create(201)).toMatchObject({ status: 403, message: "Permission check failed\n" })
})
