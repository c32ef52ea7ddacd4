import type { RunRequest } from "@rangewright/application"
import type { Vmid } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { boot, createRange, type Lab, type Process, startAndWait } from "./support/lab.ts"
import { cutPower, makeSimCompany } from "./support/sim-lab.ts"

const machine = "LAB-kali"

const pass = ({ clock }: Lab, millis: number) => new Promise<void>((resolve) => void clock.schedule(millis, resolve))

const deployedCompany = async () => {
  const lab = makeSimCompany()
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
