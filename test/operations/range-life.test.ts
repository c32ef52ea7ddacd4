import { mayUsePool } from "@rangewright/adapter-memory"
import type { HandlerRequest } from "@rangewright/application"
import { type GroupName, type Range, rangeOf, type User } from "@rangewright/domain"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Shown {
  readonly rangeState: Range["state"]
  readonly numberOfVMs: number
  readonly VMs: readonly { readonly proxmoxID: number; readonly name: string; readonly ip: string; readonly poweredOn: boolean }[]
}

describe("the life of a range", () => {
  let service: RangeService
  let ada: User
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const shown = async () => JSON.parse(new TextDecoder().decode((await call("listRange")) as Uint8Array)) as Shown
  const deployed = async () => service.deploy(ada, await service.find("LAB"))

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await service.find("LAB"), service.lab.config)
  })
  afterEach(() => service.close())

  it("goes from a configuration to machines with the configured addresses, files that name them, and no drift", async () => {
    expect(await deployed()).toMatchObject({ status: "success" })
    const range = await shown()
    expect(range).toMatchObject({ rangeState: "SUCCESS", numberOfVMs: 6 })
    for (const vm of range.VMs) expect(vm).toMatchObject({ poweredOn: true, ip: expect.stringMatching(/^10\.1\.\d+\.\d+$/u) })
    expect(range.VMs.filter((vm) => vm.ip.endsWith(".254"))).toMatchObject([{ isRouter: true }])
    const { result: hosts } = (await call("getEtcHosts")) as { readonly result: string }
    for (const vm of range.VMs) expect(hosts).toContain(`     ${vm.name}\n`)
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
    expect(await call("planRange")).toMatchObject({ steps: [] })
  })

  it("is switched off and on, by name and as a whole", async () => {
    await deployed()
    const [first] = (await shown()).VMs
    await call("powerOffRange", { body: { machines: [first?.name] } })
    expect((await shown()).VMs.filter((vm) => !vm.poweredOn).map((vm) => vm.name)).toEqual([first?.name])
    await call("powerOffRange", { body: { machines: ["all"] } })
    expect((await shown()).VMs.some((vm) => vm.poweredOn)).toBe(false)
    await call("powerOnRange", { body: { machines: ["all"] } })
    expect((await shown()).VMs.every((vm) => vm.poweredOn)).toBe(true)
  })

  it("is shared while its router runs, and not while it is off", async () => {
    await deployed()
    const bob = await service.addUser("Bob")
    const path = { userID: "Bob", rangeID: "LAB" }
    expect(await call("assignRangeToUser", { path })).toMatchObject({ result: expect.stringContaining("successfully") })
    expect(await service.call("listUserAccessibleRanges", bob)).toMatchObject([{ rangeID: "LAB" }])
    const router = (await shown()).VMs.find((vm) => vm.ip.endsWith(".254"))
    await call("powerOffRange", { body: { machines: [router?.name] } })
    await expect(call("revokeRangeFromUser", { path })).rejects.toMatchObject({ kind: "conflict" })
    await call("revokeRangeFromUser", { path, query: { force: true } })
    expect(await service.call("listUserAccessibleRanges", bob)).toEqual([])
  })

  it("still shows its last deploy after it is shared: sharing is no deploy", async () => {
    await deployed()
    const bob = await service.addUser("Bob")
    const path = { userID: "Bob", rangeID: "LAB" }
    // a deploy that fails after its router exists, so that sharing has to update the router
    service.lab.world.fault = ({ action }) => (action?.kind === "configure" ? { when: "before", reason: "forbidden" } : undefined)
    await service.putConfig(ada, await service.find("LAB"), service.lab.config.replace("cpus: 2", "cpus: 3"))
    expect(await deployed()).toMatchObject({ status: "failure" })
    service.lab.world.fault = () => undefined
    const seen = async () => {
      const { state, lastDeploymentAt } = await service.find("LAB")
      return {
        state,
        lastDeploymentAt,
        history: await call("getRangeLogHistory"),
        log: await call("getLogs", { query: {} }),
      }
    }
    const before = await seen()
    expect(before.state).toBe("ERROR")
    await call("createGroup", { body: { name: "red" } })
    const group = service.lab.store.groups.get("red" as GroupName)?.group
    await call("assignRangeToUser", { path })
    expect(await seen()).toEqual(before)
    await call("revokeRangeFromUser", { path, query: {} })
    await call("addRangesToGroup", { group, body: { rangeIDs: ["LAB"] } })
    await call("addUsersToGroup", { group, body: { userIDs: ["Bob"] } })
    expect(await service.call("listUserAccessibleRanges", bob)).toMatchObject([{ rangeID: "LAB" }])
    await call("removeUsersFromGroup", { group, body: { userIDs: ["Bob"] } })
    expect(await seen()).toEqual(before)
    // a failed attempt to share changes it no more than a successful one
    service.lab.world.fault = ({ action }) => (action?.kind === "guest" ? { when: "before", reason: "failed" } : undefined)
    await expect(call("assignRangeToUser", { path })).rejects.toMatchObject({ kind: "failed" })
    expect(await seen()).toEqual(before)
  })

  it("is shared with a group: the router lets its members in until they leave it", async () => {
    await deployed()
    const bob = await service.addUser("Bob")
    const { store, world } = service.lab
    /** What the last run gave the router, as text. */
    const told = () => {
      const events = [...store.runs.values()].at(-1)?.entries.map(({ event }) => event) ?? []
      return JSON.stringify(events.flatMap((event) => (event.type === "Planned" ? event.plan.steps : [])))
    }
    await call("createGroup", { body: { name: "red" } })
    const group = store.groups.get("red" as GroupName)?.group
    await call("addRangesToGroup", { group, body: { rangeIDs: ["LAB"] } })
    expect(await call("addUsersToGroup", { group, body: { userIDs: ["Bob"] } })).toEqual({ success: ["Bob"] })
    expect(await service.call("listUserAccessibleRanges", bob)).toMatchObject([{ rangeID: "LAB", accessType: "Group" }])
    expect(told()).toContain("Access Grant: Bob")
    expect(mayUsePool(world, "LAB")).toContain("bob@pve")
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
    expect(await call("removeUsersFromGroup", { group, body: { userIDs: ["Bob"] } })).toEqual({ success: ["Bob"] })
    expect(told()).not.toContain("Access Grant: Bob")
    expect(told()).toContain("Access Grant: Ada")
    expect(mayUsePool(world, "LAB")).not.toContain("bob@pve")
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
  })

  it("loses a machine, then all, then itself, and leaves nothing on the hypervisor", async () => {
    await deployed()
    const web = (await shown()).VMs.at(-1)
    await call("destroyVM", { path: { vmID: web?.proxmoxID } })
    expect((await shown()).numberOfVMs).toBe(5)
    await expect(call("deleteRange")).rejects.toMatchObject({ kind: "conflict" })
    await call("deleteRangeVMs")
    expect(await shown()).toMatchObject({ rangeState: "DESTROYED", numberOfVMs: 0 })
    await call("deleteRange")
    const { world, store } = service.lab
    expect([[...world.vms.values()].filter((vm) => !vm.template), world.networks.size, world.pools.size, world.acl.size]).toEqual(
      [[], 0, 0, 0],
    )
    const runs = [...store.runs.values()].filter(({ record }) => rangeOf(record) !== undefined)
    expect([store.ranges.size, runs.length]).toEqual([0, 0])
  })
})
