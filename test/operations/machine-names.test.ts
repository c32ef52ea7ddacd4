import { type Fault, type User, type Vmid, writeDescription } from "@rangewright/domain"
import { addTemplate, type MemoryVm } from "@rangewright/adapter-memory"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

let service: RangeService
let ada: User
let eve: User

const machine = (name: string): string =>
  `ludus:
  - vm_name: "${name}"
    hostname: "h1"
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 21
    ram_gb: 1
    cpus: 1
    linux: true
`
const plain = machine("{{ range_id }}-web")
const upload = async (user: User, id: string, text: string) => service.putConfig(user, await service.find(id), text)
const deploy = async (user: User, id: string) => service.deploy(user, await service.find(id))
const refusal = (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => Promise.reject(new Error("it was not refused")),
    (fault: unknown) => fault as Fault,
  )
const change = (vm: MemoryVm | undefined, more: Partial<MemoryVm>): void => {
  if (vm === undefined) throw new Error("there is no such VM")
  service.lab.world.vms.set(vm.vmid, { ...vm, ...more })
}
const vms = (pool: string): readonly MemoryVm[] => [...service.lab.world.vms.values()].filter((vm) => vm.pool === pool)

beforeEach(async () => {
  service = makeRangeService()
  eve = await service.addUser("Eve")
  ada = await service.addUser("Ada")
  await service.call("createRange", eve, { body: { name: "Eve's", rangeID: "EVIL" } })
  await service.call("createRange", ada, { body: { name: "Ada's", rangeID: "LAB" } })
})
afterEach(() => service.close())

it("a machine cannot have the name of one in another range, in any letter case, including routers", async () => {
  const router = (name: string): string => `${plain}router:\n  vm_name: "${name}"\n`
  for (const text of [machine("LAB-router-debian11-x64"), machine("lab-WEB"), router("Lab-router-debian11-x64")]) {
    const fault = await refusal(upload(eve, "EVIL", text))
    expect(fault).toMatchObject({ kind: "invalid", message: expect.stringContaining("begins with the ID of another range") })
  }
  await upload(ada, "LAB", machine("LAB-EVIL-web"))
  await upload(eve, "EVIL", plain)
})

it("a name that was free when the configuration was stored is refused by the plan once another range has it", async () => {
  await upload(eve, "EVIL", machine("SHOP-web"))
  await service.call("createRange", ada, { body: { name: "Shop", rangeID: "SHOP" } })
  expect((await refusal(deploy(eve, "EVIL"))).message).toContain("SHOP-web begins with the ID of another range")
})

it("a range whose ID begins with another's claims no machines of that one, whether stored, running or new", async () => {
  await upload(ada, "LAB", machine("{{ range_id }}-web-1"))
  await service.call("createRange", eve, { body: { name: "Squat", rangeID: "LAB-web" } })
  await service.call("createRange", eve, { body: { name: "Squat", rangeID: "LAB-router" } })
  expect(await deploy(ada, "LAB")).toMatchObject({ status: "success" })
  await upload(ada, "LAB", `${machine("{{ range_id }}-web-1")}# changed\n`)
  await upload(ada, "LAB", machine("{{ range_id }}-web-2").replace("ip_last_octet: 21", "ip_last_octet: 22"))
  expect(await deploy(ada, "LAB")).toMatchObject({ status: "success" })
})

it("VMs of another range that are renamed, marked or made templates like ours block nobody", async () => {
  await upload(eve, "EVIL", plain)
  await deploy(eve, "EVIL")
  const [first, second] = vms("EVIL")
  const { world } = service.lab
  change(first, {
    name: "LAB-web",
    description: writeDescription({ range: (await service.find("LAB")).id, machine: "LAB-web" }, []),
  })
  change(second, { name: "LAB-router-debian11-x64" })
  addTemplate(world, 50, "debian-12-x64-server-template")
  change(world.vms.get(50 as Vmid), { pool: "EVIL" })
  expect(await upload(ada, "LAB", plain)).toMatchObject({ result: expect.not.stringContaining("EVIL") })
  expect(await deploy(ada, "LAB")).toMatchObject({ status: "success" })
  expect(vms("LAB").map(({ name }) => name)).toEqual(["LAB-router-debian11-x64", "LAB-web"])
  expect(await service.call("getRangeDrift", ada, { range: await service.find("LAB") })).toMatchObject({ inSync: true })
  expect(JSON.stringify([...service.lab.store.runs.values()].at(-1))).not.toMatch(/EVIL|"vmid":50\b/u)
})
