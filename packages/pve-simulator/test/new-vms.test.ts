import { expect, test } from "vitest"
import { createLab, passing, type Lab } from "./support/client.ts"

const create = async (lab: Lab, parameters: Record<string, unknown>) => await lab.call("POST", "/nodes/pve/qemu", parameters)
const config = async (lab: Lab, vmid: number) => (await lab.ok("GET", `/nodes/pve/qemu/${vmid}/config`)) as Record<string, string>

test("a VM exists, locked, as soon as its creation is accepted; a second one with its number is refused", async () => {
  const lab = createLab()
  const request = {
    method: "POST",
    path: "/api2/json/nodes/pve/qemu",
    headers: { authorization: `PVEAPIToken=${lab.sim.rootToken}` },
    body: "vmid=200&scsi0=local-lvm:1",
  }
  const answers = [lab.sim.handle(request), lab.sim.handle(request)]
  const [first, second] = await Promise.all(answers.map((answer) => passing(lab.clock, answer)))
  expect(first).toMatchObject({ status: 200 })
  expect(second).toMatchObject({
    status: 500,
    reason: "unable to create VM 200 - VM 200 already exists on node 'pve'",
  })
  expect(await config(lab, 200)).toMatchObject({ lock: "create" })
  await lab.settle((JSON.parse(first!.body) as { data: string }).data)
  expect(await config(lab, 200)).not.toHaveProperty("lock")
})

test("a creation that fails says of which VM, and leaves nothing", async () => {
  const lab = createLab()
  const failed = async (vmid: number, drives: Record<string, string>) =>
    await lab.settle(String((await create(lab, { vmid, scsi0: "local-lvm:1", ...drives })).data))
  expect(await failed(200, { ide2: "local:iso/none.iso,media=cdrom" })).toBe(
    "unable to create VM 200 - volume 'local:iso/none.iso' does not exist",
  )
  expect(await failed(200, { ide0: "local-lvm:cloudinit", ide2: "local-lvm:cloudinit" })).toBe(
    "unable to create VM 200 - ide2 - cloud-init drive is already attached at 'ide0'",
  )
  expect(await failed(200, { scsi1: "local-lvm:vm-900-disk-0" })).toBe(
    "unable to create VM 200 - no such logical volume pve/vm-900-disk-0",
  )
  expect((await lab.call("GET", "/nodes/pve/qemu/200/config")).status).toBe(500)
  expect([...lab.sim.state.storages.get("local-lvm")!.volumes.values()].filter(({ vmid }) => vmid === 200)).toEqual([])
})

test("a disc image has to be in a disc drive, which shows its size; `cdrom` means the usual drive", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/storage/local/download-url", {
    url: "https://images.example/a.iso",
    content: "iso",
    filename: "a.iso",
  })
  expect((await create(lab, { vmid: 200, ide2: "local:iso/a.iso" })).errors).toEqual({
    ide2: "explicit 'media=cdrom' is required for iso images",
  })
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, cdrom: "local:iso/a.iso" })
  expect(await config(lab, 200)).toMatchObject({ ide2: "local:iso/a.iso,media=cdrom,size=512M" })
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { cdrom: "none" })
  expect(await config(lab, 200)).toMatchObject({ ide2: "none,media=cdrom" })
  expect(await lab.call("PUT", "/nodes/pve/qemu/200/config", { ide2: "local:iso/none.iso,media=cdrom" })).toMatchObject({
    status: 500,
    message: "volume 'local:iso/none.iso' does not exist\n",
  })
})

test("keys for cloud-init must be keys", async () => {
  const lab = createLab()
  const refused = { status: 500, message: "SSH public key validation error\n" }
  const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1TnBmXv6zYbB5cYzsX7JqJkOXUDkq0d5d0hJX0hXkS ada@example"
  expect(await create(lab, { vmid: 200, sshkeys: "no%20key" })).toMatchObject(refused)
  expect(await create(lab, { vmid: 200, sshkeys: encodeURIComponent(`${key}\n\n${key}\n`) })).toMatchObject({ status: 200 })
  expect(
    await lab.call("PUT", "/nodes/pve/qemu/200/config", { sshkeys: encodeURIComponent(encodeURIComponent(key)) }),
  ).toMatchObject(refused)
})

test("Windows keeps the version of the machine with which it was created", async () => {
  const lab = createLab()
  const machine = async (vmid: number, parameters: Record<string, unknown>) => {
    await lab.task("POST", "/nodes/pve/qemu", { vmid, ...parameters })
    return (await config(lab, vmid))["machine"]
  }
  expect(await machine(200, { ostype: "win11" })).toMatch(/^pc-i440fx-\d+\.\d+(?:\+pve\d+)?$/u)
  expect(await machine(201, { ostype: "win10", machine: "q35" })).toMatch(/^pc-q35-\d+\.\d+(?:\+pve\d+)?$/u)
  expect(await machine(202, { ostype: "win10", machine: "pc-q35-9.2" })).toBe("pc-q35-9.2")
  expect(await machine(203, { ostype: "l26" })).toBeUndefined()
})
