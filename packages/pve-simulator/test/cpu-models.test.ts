import { expect, test } from "vitest"
import { type As, createLab, type Lab } from "./support/client.ts"

const models = "/cluster/qemu/custom-cpu-models"
const config = "/nodes/pve/qemu/200/config"
const plain = { cputype: "plain", "reported-model": "host", flags: "-hypervisor;+aes", hidden: 1 }

const withGuest = async (): Promise<Lab> => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200, name: "vm200" })
  return lab
}

const account = async (lab: Lab, rights: Readonly<Record<string, string>>): Promise<As> => {
  await lab.ok("POST", "/access/users", { userid: "ann@pve", password: "correct horse" })
  for (const [path, roles] of Object.entries(rights)) await lab.ok("PUT", "/access/acl", { path, roles, users: "ann@pve" })
  const made = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  return { token: `ann@pve!tok=${made.value}` }
}

test("a custom processor model is created, read, changed and removed, with or without its prefix", async () => {
  const lab = createLab()
  expect(await lab.ok("GET", models)).toEqual([])
  expect(await lab.ok("POST", models, plain)).toBeNull()
  const [listed] = (await lab.ok("GET", models)) as { digest: string }[]
  expect(listed).toMatchObject({ ...plain, cputype: "custom-plain" })
  expect(await lab.ok("GET", `${models}/custom-plain`)).toEqual(listed)
  expect(await lab.call("POST", models, { ...plain, cputype: "custom-plain" })).toMatchObject({
    status: 500,
    message: "custom CPU model 'plain' already exists\n",
  })
  await lab.ok("PUT", `${models}/plain`, { delete: "flags", hidden: 0, digest: listed!.digest })
  expect(await lab.ok("GET", `${models}/plain`)).toMatchObject({ hidden: 0, "reported-model": "host" })
  expect((await lab.call("PUT", `${models}/plain`, { hidden: 1, digest: listed!.digest })).message).toContain(
    "detected modified configuration",
  )
  expect((await lab.call("PUT", `${models}/other`, { hidden: 1 })).message).toBe("custom CPU model 'other' does not exist\n")
  await lab.ok("DELETE", `${models}/plain`)
  expect((await lab.call("DELETE", `${models}/plain`)).message).toBe("custom CPU model 'plain' does not exist\n")
  expect((await lab.call("GET", `${models}/plain`)).message).toBe("Custom cputype 'plain' not found\n")
})

test("a processor model needs a base, a proper name and proper flags", async () => {
  const lab = createLab()
  const errors = async (parameters: Record<string, unknown>) => (await lab.call("POST", models, parameters)).errors
  expect(await errors({ cputype: "plain" })).toEqual({ "reported-model": "property is missing and it is not optional" })
  expect(await errors({ ...plain, cputype: "a b" })).toHaveProperty("cputype")
  expect(await errors({ ...plain, flags: "hypervisor" })).toHaveProperty("flags")
  expect(await errors({ ...plain, "reported-model": "x86-64-v2-AES" })).toHaveProperty("reported-model")
})

test("a VM can only have an existing processor model, and additional flags only from a list", async () => {
  const lab = await withGuest()
  const cpuOf = async (cpu: string) => await lab.call("PUT", config, { cpu })
  expect(await cpuOf("custom-plain")).toMatchObject({
    status: 400,
    errors: { cpu: "invalid format - Custom cputype 'plain' not found\n" },
  })
  await lab.ok("POST", models, plain)
  expect((await cpuOf("custom-plain")).status).toBe(200)
  expect(await lab.ok("GET", config)).toMatchObject({ cpu: "custom-plain" })
  expect((await cpuOf("host,hidden=1,flags=+aes;-pcid")).status).toBe(200)
  expect((await cpuOf("host,flags=-hypervisor")).errors?.["cpu"]).toContain("VM-specific CPU flags must be a subset of:")
  expect((await cpuOf("host,reported-model=kvm64")).errors?.["cpu"]).toContain("'reported-model' not allowed")
})

test("a VM whose processor model was removed does not start", async () => {
  const lab = await withGuest()
  await lab.ok("POST", models, plain)
  await lab.ok("PUT", config, { cpu: "custom-plain" })
  await lab.ok("DELETE", `${models}/plain`)
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/start")).toBe("Custom cputype 'plain' not found")
})

test("who gives a VM a processor model, or clones one that has it, needs the right to use it", async () => {
  const lab = await withGuest()
  await lab.ok("POST", models, plain)
  const ann = await account(lab, { "/vms": "PVEVMAdmin", "/storage": "PVEDatastoreUser", "/sdn/zones": "PVESDNUser" })
  const put = async () => await lab.call("PUT", config, { cpu: "custom-plain" }, ann)
  const clone = async (newid: number) => await lab.call("POST", "/nodes/pve/qemu/200/clone", { newid, full: 1 }, ann)
  expect(await lab.ok("GET", models, undefined, ann)).toEqual([])
  expect((await put()).message).toBe("Permission check failed (/mapping/cpu/plain, Mapping.Use)\n")
  expect((await lab.call("POST", models, { ...plain, cputype: "mine" }, ann)).status).toBe(403)
  await lab.ok("PUT", config, { cpu: "custom-plain" })
  expect((await clone(201)).message).toBe("Permission check failed (/mapping/cpu/plain, Mapping.Use)\n")
  // another setting beside the same model needs no right to it
  expect((await lab.call("PUT", config, { cpu: "custom-plain,hidden=1" }, ann)).status).toBe(200)
  await lab.ok("PUT", "/access/acl", { path: "/mapping/cpu", roles: "PVEMappingUser", users: "ann@pve" })
  expect(await lab.ok("GET", models, undefined, ann)).toHaveLength(1)
  expect((await put()).status).toBe(200)
  expect((await clone(201)).status).toBe(200)
})

test("a state from before there were such models has none", async () => {
  const lab = createLab()
  await lab.ok("POST", models, plain)
  const text = lab.sim.save()
  const saved = JSON.parse(text) as { state: Record<string, unknown> }
  delete saved.state["cpuModels"]
  lab.sim.restore(JSON.stringify(saved))
  expect(await lab.ok("GET", models)).toEqual([])
  lab.sim.restore(text)
  expect(await lab.ok("GET", models)).toHaveLength(1)
})
