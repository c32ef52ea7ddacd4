import { type RunRequest, runPlannerLayer } from "@rangewright/application"
import { type Disguise, type Range, rangeOf, readDescription, type Vmid } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { deathsIn, goOn } from "./support/crash.ts"
import { boot, createRange, type Lab, makeCompany, startAndWait } from "./support/lab.ts"

const config = `ludus:
  - vm_name: "{{ range_id }}-one"
    hostname: one
    template: win11-22h2-x64-enterprise-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 4
    cpus: 2
    windows: {}
`
const disguise: Disguise = { vendor: "HP", dropFiles: false, browserData: false, persist: true }

const one = ({ world }: Lab) => [...world.vms.values()].find(({ name }) => name === "LAB-one")!

const asking = (lab: Lab, isOn: boolean): RunRequest => {
  const vmids = [one(lab).vmid as Vmid]
  return isOn ? { kind: "anti-sandbox-enable", vmids, disguise } : { kind: "anti-sandbox-disable", vmids }
}

/** A deployed Windows machine, disguised beforehand if it is to lose its disguise. */
const prepared = async (isDisguised: boolean): Promise<{ readonly lab: Lab; readonly range: Range }> => {
  const lab: Lab = { ...makeCompany(), planner: runPlannerLayer, config }
  const range = await createRange(lab)
  const process = boot(lab)
  expect((await startAndWait(process, range)).state.message).toBe("")
  if (isDisguised) await startAndWait(process, range, asking(lab, true))
  await process.dispose()
  return { lab, range: lab.store.ranges.get(range.id)! }
}

/** The machine afterwards, and what is stored about it. */
const endOf = (lab: Lab, { id }: Range) => {
  const { power, hardware, nics, balloonMiB, description, stages } = one(lab)
  return {
    power,
    hardware,
    nics,
    balloonMiB,
    undisguised: readDescription(description).mark?.undisguised,
    wanted: lab.store.ranges.get(id)?.disguises,
    ran: [...stages.keys()].filter((key) => key.startsWith("anti-sandbox")),
    stages: new Map(lab.store.stages.get(id)?.get(one(lab).vmid)),
  }
}

describe("a process that dies before or after any journal write or port call", { timeout: 240_000 }, () => {
  it.each([true, false])("resumes the disguise, and never loses what the machine had before (disguising: %s)", async (isOn) => {
    const { lab: calm, range } = await prepared(!isOn)
    const request = asking(calm, isOn)
    const { deaths, state } = await deathsIn(calm, range, request)
    expect(state?.status).toBe("success")
    const end = endOf(calm, range)
    expect(end).toMatchObject({ power: "running", hardware: { smbios: isOn ? { manufacturer: "HP" } : {} } })
    expect(end.undisguised === undefined).toBe(!isOn)
    const broken: unknown[] = []
    const known = calm.store.runs.size - 1
    let crashes = 0
    for (const { at, moment, acknowledged, lab: copy } of deaths) {
      const lab = copy()
      // before the run is there nothing is written, and nothing was acknowledged
      if (lab.store.runs.size === known) continue
      crashes += 1
      await goOn(lab, range, request, acknowledged)
      const running = [...lab.store.runs.values()].filter(
        ({ record }) => record.status === "running" && rangeOf(record) !== undefined,
      )
      try {
        expect(endOf(lab, range)).toEqual(end)
        expect(running).toHaveLength(0)
      } catch (error) {
        broken.push({ at, moment, error: String(error).slice(0, 1500) })
      }
    }
    expect(crashes).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })
})
