import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const contentOf = (node: string, storage: string) => `/nodes/${node}/storage/${storage}/content`

const read = async (lab: Lab, node: string, storage: string, volume: string) =>
  await lab.call("GET", `${contentOf(node, storage)}/${encodeURIComponent(volume)}`)

const fetched = async (lab: Lab, parameters: Record<string, unknown>) =>
  await lab.task("POST", "/nodes/pve/storage/local/download-url", {
    url: "https://images.example/a",
    content: "iso",
    filename: "a.iso",
    ...parameters,
  })

test("a volume is where the storage's kind puts it: a file of a folder, or a block device", async () => {
  const lab = createLab()
  await lab.ok("POST", "/storage", { storage: "tank", type: "zfspool", pool: "rpool/data", content: "images" })
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1", scsi1: "local:1", scsi2: "tank:1" })).toBe(
    "OK",
  )
  await fetched(lab, {})
  const pathOf = async (storage: string, volume: string) =>
    ((await read(lab, "pve", storage, volume)).data as { path: string }).path
  expect(await pathOf("local-lvm", "local-lvm:vm-200-disk-0")).toBe("/dev/pve/vm-200-disk-0")
  expect(await pathOf("local", "local:200/vm-200-disk-0.raw")).toBe("/var/lib/vz/images/200/vm-200-disk-0.raw")
  expect(await pathOf("tank", "vm-200-disk-0")).toBe("/dev/zvol/rpool/data/vm-200-disk-0")
  expect(await pathOf("local", "local:iso/a.iso")).toBe("/var/lib/vz/template/iso/a.iso")
})

test("an invalid volume name is refused as such, a missing volume with another message", async () => {
  const lab = createLab()
  const refusal = async (storage: string, volume: string) => (await read(lab, "pve", storage, volume)).message
  for (const name of ["iso/none", "iso/none.txt", "vztmpl/none.iso", "images", "../iso/a.iso"])
    expect(await refusal("local", `local:${name}`)).toBe(`unable to parse directory volume name '${name}'\n`)
  expect(await refusal("local-lvm", "local-lvm:nothing")).toBe("unable to parse lvm volume name 'nothing'\n")
  expect(await refusal("local", "local:iso/none.iso")).toBe("volume_size_info on 'local:iso/none.iso' failed\n")
  expect(await refusal("local", "none:iso/none.iso")).toBe("storage 'none' does not exist\n")
  const removed = await lab.call("DELETE", `${contentOf("pve", "local")}/${encodeURIComponent("local:iso/none")}`)
  expect(removed.message).toBe("unable to parse directory volume name 'iso/none'\n")
})

test("the disk of a linked clone in a folder grows, that of its template does not", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local:1" })
  await lab.task("POST", "/nodes/pve/qemu/200/template")
  await lab.task("POST", "/nodes/pve/qemu/200/clone", { newid: 201 })
  const grown = async (vmid: number) => await lab.task("PUT", `/nodes/pve/qemu/${vmid}/resize`, { disk: "scsi0", size: "2G" })
  expect(await grown(201)).toBe("OK")
  expect(await grown(200)).toContain("qemu-img resize")
})

test("a checksum that no file can have fails a download", async () => {
  const lab = createLab()
  const algorithm = { "checksum-algorithm": "sha256" }
  expect(await fetched(lab, { ...algorithm, checksum: "00" })).toMatch(/^checksum mismatch: got '[0-9a-f]{64}' != expect '00'$/u)
  expect(await lab.ok("GET", contentOf("pve", "local"))).toEqual([])
  expect(await fetched(lab, { ...algorithm, checksum: "0A".repeat(32) })).toBe("OK")
  expect(await fetched(lab, {})).toBe("refusing to override existing file '/var/lib/vz/template/iso/a.iso'")
})

test("name and size can be queried before a download", async () => {
  const lab = createLab()
  const about = async (url: string) => await lab.call("GET", "/nodes/pve/query-url-metadata", { url })
  expect((await about("https://images.example/x/debian%2012.iso?mirror=1")).data).toEqual({
    filename: "debian 12.iso",
    mimetype: "application/octet-stream",
    size: 512 * 1024 ** 2,
  })
  expect((await about("https://images.example/")).data).not.toHaveProperty("filename")
  expect((await about("ftp://images.example/a")).status).toBe(400)
})

test("templates of containers are listed and fetched, as images are", async () => {
  const lab = createLab()
  const listed = (await lab.ok("GET", "/nodes/pve/aplinfo")) as { template: string; section: string }[]
  expect(listed.map(({ section }) => section)).toContain("system")
  const { template } = listed[0]!
  const fetch = async (parameters: Record<string, unknown>) => await lab.call("POST", "/nodes/pve/aplinfo", parameters)
  expect((await fetch({ storage: "local", template: "none" })).errors).toEqual({ template: "no such template" })
  expect(await lab.task("POST", "/nodes/pve/aplinfo", { storage: "local", template })).toBe("OK")
  expect(await lab.ok("GET", contentOf("pve", "local"))).toMatchObject([{ volid: `local:vztmpl/${template}` }])
  expect((await fetch({ storage: "local-lvm", template })).message).toContain("vztmpl")
})

test("volumes are listed and read only with a right on the storage and, for disks, on their VM; most need a right to be removed", async () => {
  const lab = createLab()
  await fetched(lab, {})
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local:1" })
  await lab.ok("POST", "/access/users", { userid: "ann@pve" })
  const { value } = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  const ann = { token: `ann@pve!tok=${value}` }
  const grant = async (path: string, privs: string) => {
    const roleid = `role${path.replaceAll("/", "-")}`
    await lab.call("POST", "/access/roles", { roleid })
    await lab.ok("PUT", `/access/roles/${roleid}`, { privs })
    await lab.ok("PUT", "/access/acl", { path, roles: roleid, users: "ann@pve" })
  }
  const seen = async () =>
    ((await lab.ok("GET", contentOf("pve", "local"), undefined, ann)) as { volid: string }[]).map(({ volid }) => volid)
  const disk = "local:200/vm-200-disk-0.raw"

  await grant("/storage/local", "Datastore.Audit Datastore.AllocateSpace Datastore.AllocateTemplate")
  expect(await seen()).toEqual(["local:iso/a.iso"])
  const info = async () => await lab.call("GET", `${contentOf("pve", "local")}/${encodeURIComponent(disk)}`, undefined, ann)
  expect(await info()).toMatchObject({ status: 403, message: "Permission check failed (/vms/200, VM.Config.Disk)\n" })
  await grant("/vms/200", "VM.Config.Disk")
  expect((await seen()).toSorted()).toEqual([disk, "local:iso/a.iso"])
  expect(await info()).toMatchObject({ status: 200 })

  const remove = async (volume: string) =>
    await lab.call("DELETE", `${contentOf("pve", "local")}/${encodeURIComponent(volume)}`, undefined, ann)
  for (const volume of ["local:iso/a.iso", disk])
    expect(await remove(volume)).toMatchObject({
      status: 403,
      message: "Permission check failed (/storage/local, Datastore.Allocate)\n",
    })
  await grant("/storage/local", "Datastore.Allocate")
  expect(await remove("local:iso/a.iso")).toMatchObject({ status: 200 })
})

test("the owner's right on backups and space on the storage are enough to remove a backup", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200 })
  await lab.task("POST", "/nodes/pve/vzdump", { vmid: "200", storage: "local" })
  const [backup] = (await lab.ok("GET", contentOf("pve", "local"), { content: "backup" })) as { volid: string }[]
  await lab.ok("POST", "/access/users", { userid: "ann@pve" })
  const { value } = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  const remove = async () =>
    await lab.call("DELETE", `${contentOf("pve", "local")}/${encodeURIComponent(backup!.volid)}`, undefined, {
      token: `ann@pve!tok=${value}`,
    })
  expect((await remove()).message).toBe("Permission check failed (/storage/local, Datastore.AllocateSpace)\n")
  await lab.ok("PUT", "/access/acl", { path: "/storage/local", roles: "PVEDatastoreUser", users: "ann@pve" })
  expect((await remove()).message).toBe("Permission check failed (/vms/200, VM.Backup)\n")
  await lab.ok("PUT", "/access/acl", { path: "/vms/200", roles: "PVEVMUser", users: "ann@pve" })
  expect((await remove()).status).toBe(200)
})
