import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const config = "/nodes/pve/qemu/200/config"

const readConfig = async (lab: Lab) => (await lab.ok("GET", config)) as Record<string, string | number>

const withVm = async (options: Record<string, unknown>): Promise<Lab> => {
  const lab = createLab()
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, ...options })).toBe("OK")
  return lab
}

test("an empty part of a property string is no part: the volume before it stays", async () => {
  const lab = await withVm({ scsi0: "file=local-lvm:8,", ide2: "file=local-lvm:cloudinit,", net0: ",virtio,bridge=vmbr0,," })
  const made = await readConfig(lab)
  expect(made).toMatchObject({ scsi0: "local-lvm:vm-200-disk-0,size=8G", ide2: "local-lvm:vm-200-cloudinit,media=cdrom" })
  expect(made["net0"]).toMatch(/^virtio=BC:24:11:[0-9A-F:]+,bridge=vmbr0$/)
})

test("disks and cards are stored by name, and what is on or off as 1 and 0", async () => {
  const lab = await withVm({
    scsi0: "ssd=yes,file=local-lvm:8,iothread=on,discard=on,backup=FALSE",
    net0: "firewall=true,bridge=vmbr0,link_down=no,model=e1000,macaddr=bc:24:11:00:00:01",
  })
  expect(await readConfig(lab)).toMatchObject({
    scsi0: "local-lvm:vm-200-disk-0,backup=0,discard=on,iothread=1,size=8G,ssd=1",
    net0: "e1000=BC:24:11:00:00:01,bridge=vmbr0,firewall=1,link_down=0",
  })
  await lab.ok("PUT", config, { ide2: "media=cdrom,file=none" })
  expect(await readConfig(lab)).toMatchObject({ ide2: "none,media=cdrom" })
})

test("a vendor and a product of a disk have at most 8 and 16 characters", async () => {
  const lab = await withVm({ scsi0: "local-lvm:8,product=SSD,vendor=Lab" })
  expect((await readConfig(lab))["scsi0"]).toContain("product=SSD,size=8G,vendor=Lab")
  const answer = await lab.call("PUT", config, { scsi0: `local-lvm:vm-200-disk-0,product=${"x".repeat(17)}` })
  expect(answer.errors?.["scsi0"]).toContain("value does not match the regex pattern")
})

test("an option that is set to nothing is gone, as its line in the configuration file is", async () => {
  const lab = await withVm({ tags: "one", description: "text" })
  const { ticket, CSRFPreventionToken: csrf } = (await lab.ok(
    "POST",
    "/access/ticket",
    { username: "root@pam", password: lab.sim.rootPassword },
    "nobody",
  )) as { ticket: string; CSRFPreventionToken: string }
  const put = async (parameters: Record<string, unknown>) => await lab.call("PUT", config, parameters, { ticket, csrf })
  expect((await put({ affinity: "0-1" })).status).toBe(200)
  expect((await put({ affinity: "0-1,x" })).errors).toEqual({ affinity: "invalid format - unable to parse cpuset option\n" })
  expect((await put({ affinity: "", tags: "", description: "" })).status).toBe(200)
  for (const key of ["affinity", "tags", "description"]) expect(await readConfig(lab)).not.toHaveProperty(key)
})
