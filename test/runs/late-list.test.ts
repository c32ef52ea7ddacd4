import { RunPlanner, type RunRequest } from "@rangewright/application"
import type { Vmid } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, type Lab, type Process, startAndWait } from "./support/lab.ts"
import { cutPower, makeSimCompany, type SimLab } from "./support/sim-lab.ts"

const machine = "LAB-kali"

const pass = ({ clock }: Lab, millis: number) => new Promise<void>((resolve) => void clock.schedule(millis, resolve))

const deployedCompany = async (between?: Parameters<typeof makeSimCompany>[1]) => {
  const lab = makeSimCompany(1, between)
  const range = await createRange(lab)
  const process = boot(lab)
  expect((await startAndWait(process, range)).state.message).toBe("")
  const guest = [...lab.sim.state.guests.values()].find(({ config }) => config["name"] === machine)!
  /** How the request ends, and the power that the machine has then. */
  const end = async (by: Process, request: RunRequest) => {
    const { state } = await startAndWait(by, range, request)
    return [state.status, guest.status]
  }
  const change = (to: Extract<RunRequest, { readonly kind: "power" }>["change"]): RunRequest => ({
    kind: "power",
    change: to,
    vmids: [guest.vmid as Vmid],
  })
  return { lab, range, process, guest, end, change }
}

describe("a power change within seconds of another, which the cluster's list does not show yet", () => {
  it("that another instance made, or this one before its restart, ends with the requested power", async () => {
    const { lab, process, end, change } = await deployedCompany()
    const other = boot(lab)
    expect(await end(process, change("off"))).toEqual(["success", "stopped"])
    expect(await end(other, change("on"))).toEqual(["success", "running"])
    expect(await end(process, change("shutdown"))).toEqual(["success", "stopped"])
    await Promise.all([process.dispose(), other.dispose()])
    const next = boot(lab)
    expect(await end(next, change("on"))).toEqual(["success", "running"])
    await next.dispose()
  })

  it("that somebody made in Proxmox does too, and a restart is refused as always for a machine that is off", async () => {
    const { lab, range, process, guest, end, change } = await deployedCompany()
    await cutPower(lab, machine)
    while (guest.status === "running") await pass(lab, 100)
    await expect(startAndWait(process, range, change("reboot"))).rejects.toMatchObject({
      message: expect.stringMatching(/is off, so it cannot reboot/u),
    })
    expect(await end(process, change("on"))).toEqual(["success", "running"])
    await process.dispose()
  })

  it("does not keep an automatic shutdown from turning a machine off", async () => {
    const { lab, process, end, change } = await deployedCompany()
    const other = boot(lab)
    expect(await end(process, change("off"))).toEqual(["success", "stopped"])
    // until the list shows it
    await pass(lab, 30_000)
    expect(await end(process, change("on"))).toEqual(["success", "running"])
    expect(await end(other, { kind: "auto-shutdown" })).toEqual(["success", "stopped"])
    await Promise.all([process.dispose(), other.dispose()])
  })
})

describe("a deploy within seconds of a power change that the cluster's list does not show yet", () => {
  const router = "LAB-router-debian11-x64"
  const again: Extract<RunRequest, { readonly kind: "deploy" }> = { kind: "deploy", options: { ...deploy.options, force: true } }
  const powerOf = ({ sim }: SimLab) =>
    [...sim.state.guests.values()].flatMap(({ config, status }) =>
      config["name"] === machine || config["name"] === router ? [status] : [],
    )

  it("powers on the machines that it works in, and the router, before it works in them", async () => {
    const { lab, range, process } = await deployedCompany()
    await cutPower(lab, machine)
    await cutPower(lab, router)
    while (powerOf(lab).includes("running")) await pass(lab, 100)
    const { state } = await startAndWait(process, range, again)
    expect([state.status, state.message]).toEqual(["success", ""])
    expect(powerOf(lab)).toEqual(["running", "running"])
    expect(state.plan?.steps.map(({ key }) => key)).toEqual(expect.arrayContaining([`start:${machine}`, `start:${router}`]))
    await process.dispose()
  })

  it("does not count the router as accessible when access changes", async () => {
    const { lab, range, process } = await deployedCompany()
    await cutPower(lab, router)
    while (!powerOf(lab).includes("stopped")) await pass(lab, 100)
    await expect(startAndWait(process, range, { kind: "access" })).rejects.toMatchObject({
      message: expect.stringMatching(/must be accessible, but LAB-router-debian11-x64 is stopped/u),
    })
    await process.dispose()
  })

  it("powers on the machines that are off although it has nothing else to do, and its preview says so", async () => {
    const { lab, range, process } = await deployedCompany()
    const keys = async () => {
      const planned = await process.runPromise(RunPlanner.use((planner) => planner.plan(range, deploy, admin, "preview")))
      return planned.steps.map(({ key }) => key)
    }
    expect(await keys()).toEqual([])
    await cutPower(lab, machine)
    while (!powerOf(lab).includes("stopped")) await pass(lab, 100)
    expect(await keys()).toEqual([`start:${machine}`])
    expect((await process.runPromise(RunPlanner.use((planner) => planner.drift(range, admin)))).inSync).toBe(false)
    expect((await startAndWait(process, range)).state.status).toBe("success")
    expect(powerOf(lab)).toEqual(["running", "running"])
    await process.dispose()
  })
})
