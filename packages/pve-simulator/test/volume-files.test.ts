import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const content = "/nodes/pve/storage/local/content"

const fetched = async (lab: Lab, filename: string, type = "iso") =>
  await lab.task("POST", "/nodes/pve/storage/local/download-url", { url: "https://images.example/a", content: type, filename })

test("the removal of a volume is a task of its owner and storage, which the call may await", async () => {
  const lab = createLab()
  for (const name of ["a.iso", "b.iso"]) await fetched(lab, name)
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1" })
  const remove = async (storage: string, volume: string, parameters?: Record<string, unknown>) =>
    await lab.call("DELETE", `/nodes/pve/storage/${storage}/content/${encodeURIComponent(volume)}`, parameters)
  const upid = String((await remove("local", "local:iso/a.iso")).data)
  expect(upid).toContain(":imgdel:local:")
  expect(await lab.settle(upid)).toBe("OK")
  expect(await lab.ok("GET", `/nodes/pve/tasks/${upid}/log`)).toMatchObject([
    { t: "Removed volume 'local:iso/a.iso'" },
    { t: "TASK OK" },
  ])
  expect((await remove("local-lvm", "local-lvm:vm-200-disk-0")).data).toContain(":imgdel:200@local-lvm:")
  expect(await remove("local", "iso/b.iso", { delay: 5 })).toMatchObject({ status: 200, data: null })
  expect((await remove("local", "local-lvm:vm-200-disk-0")).errors).toEqual({
    volume: "storage ID mismatch (local-lvm != local)\n",
  })
})

test("files from outside are not listed with what only disks have", async () => {
  const lab = createLab()
  await fetched(lab, "a.iso")
  const [iso] = (await lab.ok("GET", content)) as Record<string, unknown>[]
  expect(Object.keys(iso!).toSorted()).toEqual(["content", "ctime", "format", "size", "volid"])
})

test("downloads are refused in the server's words", async () => {
  const lab = createLab()
  await fetched(lab, "a.iso")
  expect(await fetched(lab, "a.iso")).toBe("refusing to override existing file '/var/lib/vz/template/iso/a.iso'")
  const ask = async (storage: string, type: string, filename: string) =>
    await lab.call("POST", `/nodes/pve/storage/${storage}/download-url`, {
      url: "https://images.example/a",
      content: type,
      filename,
    })
  expect((await ask("local", "import", "a.img")).errors).toEqual({ filename: "invalid filename or wrong extension" })
  expect((await ask("local-lvm", "iso", "a.iso")).message).toBe(
    "can't upload to storage type 'lvmthin', not a file based storage!\n",
  )
})

test("a storage is defined with what its kind needs, and has the content of its kind unless told otherwise", async () => {
  const lab = createLab()
  const create = async (parameters: Record<string, unknown>) => await lab.call("POST", "/storage", parameters)
  expect(await create({ storage: "bare", type: "dir" })).toMatchObject({
    status: 500,
    message: "missing value for required option 'path'\n",
  })
  expect(await create({ storage: "thin", type: "lvmthin", vgname: "pve" })).toMatchObject({
    status: 500,
    message: "missing value for required option 'thinpool'\n",
  })
  const contentOf = async (storage: string) =>
    ((await lab.ok("GET", `/storage/${storage}`)) as { content: string }).content.split(",").toSorted()
  await create({ storage: "folder", type: "dir", path: "/folder" })
  expect(await contentOf("folder")).toEqual(["images", "rootdir"])
  await create({ storage: "share", type: "nfs", server: "192.0.2.1", export: "/e" })
  expect(await contentOf("share")).toEqual(["images"])
})

test("changes of a storage that does not exist, or that changed meanwhile, are refused; a removed one is in no pool and no right", async () => {
  const lab = createLab()
  expect((await lab.call("PUT", "/storage/none", { content: "iso" })).message).toBe(
    "update storage failed: storage 'none' does not exist\n",
  )
  expect((await lab.call("DELETE", "/storage/none")).message).toBe("delete storage failed: storage 'none' does not exist\n")
  await lab.ok("POST", "/storage", { storage: "folder", type: "dir", path: "/folder" })
  const { digest } = (await lab.ok("GET", "/storage/folder")) as { digest: string }
  await lab.ok("PUT", "/storage/folder", { content: "iso", digest })
  expect((await lab.call("PUT", "/storage/folder", { content: "images", digest })).message).toBe(
    "update storage failed: detected modified configuration - file changed by other user? Try again.\n",
  )
  await lab.ok("PUT", "/pools", { poolid: "SHARED", storage: "folder" })
  await lab.ok("PUT", "/access/acl", { path: "/storage/folder", roles: "PVEAdmin", users: "root@pam" })
  await lab.ok("DELETE", "/storage/folder")
  expect(await lab.ok("GET", "/access/acl")).toEqual([])
  expect(lab.sim.state.pools.get("SHARED")?.storages.has("folder")).toBe(false)
})
