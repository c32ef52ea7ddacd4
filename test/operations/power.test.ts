import type { User, Vmid } from "@rangewright/domain"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

describe("shutting down, rebooting and resetting machines of a range", () => {
  let service: RangeService
  let ada: User
  const change = (id: string, body: object) => service.call(id, ada, { body }) as Promise<{ readonly result: string }>
  const refusal = (id: string, body: object) =>
    change(id, body).then(
      () => undefined,
      (fault: unknown) => fault,
    )
  const named = (part: string) =>
    [...service.lab.world.vms.values()].find(({ name, pool }) => pool === "LAB" && name.includes(part))!
  const all = () => [...service.lab.world.vms.values()].filter(({ pool }) => pool === "LAB")
  const begun = () =>
    service.lab.world.calls.flatMap(({ method, action }) =>
      method === "dispatch" && action !== undefined && "machine" in action ? [`${action.kind} ${action.machine.vmid}`] : [],
    )
  const turnOff = (vmid: Vmid) =>
    service.lab.world.vms.set(vmid, { ...service.lab.world.vms.get(vmid)!, power: "stopped", agentAt: undefined })

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await service.call("createRange", ada, { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await service.find("LAB"), service.lab.config)
    await service.deploy(ada, await service.find("LAB"))
    service.lab.world.calls.length = 0
  })
  afterEach(() => service.close())

  it("asks the guest to shut down, and waits as long as requested", async () => {
    const web = named("web")
    expect(await change("shutDownRange", { machines: [web.name], timeout: 60 })).toEqual({
      result: `${web.name} of range LAB shut down`,
    })
    expect(service.lab.world.vms.get(web.vmid)?.power).toBe("stopped")
    const asked = service.lab.world.calls.find(({ action }) => action?.kind === "shutdown")?.action
    expect(asked).toMatchObject({ timeoutSeconds: 60 })
    await change("shutDownRange", { machines: [web.name] })
    expect(begun()).toEqual([`shutdown ${web.vmid}`])
  })

  it.each([
    ["rebootRange", "shutdown", "rebooted"],
    ["resetRange", "stop", "reset"],
  ])("%s takes a machine down by %s, and starts it", async (id, down, done) => {
    const web = named("web")
    expect(await change(id, { machines: [String(web.vmid)] })).toEqual({ result: `${web.name} of range LAB ${done}` })
    expect(begun()).toEqual([`${down} ${web.vmid}`, `start ${web.vmid}`])
    expect(service.lab.world.vms.get(web.vmid)?.power).toBe("running")
  })

  it.each(["rebootRange", "resetRange"])("%s refuses a named machine that is off, and then restarts none", async (id) => {
    const web = named("web")
    turnOff(web.vmid)
    expect(await refusal(id, { machines: [web.name, named("router").name] })).toMatchObject({
      kind: "precondition",
      message: expect.stringContaining(`${web.name} (VM ${web.vmid}) is off`),
      hint: expect.stringContaining("poweron"),
    })
    expect(begun()).toEqual([])
  })

  it("of all machines leaves those that are off alone, and is refused if all are off", async () => {
    const web = named("web")
    turnOff(web.vmid)
    expect(await change("rebootRange", { machines: ["all"] })).toEqual({
      result: `${all().length - 1} machines of range LAB rebooted`,
    })
    expect(begun().some((what) => what.endsWith(String(web.vmid)))).toBe(false)
    for (const { vmid } of all()) turnOff(vmid)
    expect(await refusal("resetRange", { machines: ["all"] })).toMatchObject({ kind: "precondition" })
  })

  it("a guest that does not respond stays on, and is named with what to do", async () => {
    const web = named("web")
    service.lab.world.fault = ({ method, action }) =>
      method === "settle" && action?.kind === "shutdown" && action.machine.vmid === web.vmid
        ? { when: "before", reason: "failed" }
        : undefined
    const fault = await refusal("rebootRange", { machines: [web.name, named("router").name] })
    expect(fault).toMatchObject({ kind: "failed", message: expect.stringContaining("reboot machines of range LAB") })
    expect(begun()).not.toContain(`start ${web.vmid}`)
    expect(begun()).toContain(`start ${named("router").vmid}`)
  })
})
