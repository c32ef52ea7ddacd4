import type { RunRequest } from "@rangewright/application"
import type { Range } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { deathsIn, goOn } from "./support/crash.ts"
import {
  boot,
  createRange,
  deploy,
  endOf,
  labSettings,
  type Lab,
  makeCompany,
  makeLab,
  startAndWait,
  strays,
} from "./support/lab.ts"

/** A new process goes on from every distinct state in which one can die; returns those from which it did not converge. */
const crashEverywhere = async (make: () => Lab, request: RunRequest, before: (lab: Lab, range: Range) => Promise<void>) => {
  const calm = make()
  const range = await createRange(calm)
  await before(calm, range)
  const { deaths } = await deathsIn(calm, range, request)
  const end = endOf(calm)
  const broken: unknown[] = []
  for (const { at, moment, acknowledged, lab: copy } of deaths) {
    const lab = copy()
    await goOn(lab, range, request, acknowledged)
    const after = {
      end: endOf(lab),
      strays: strays(lab),
      running: [...lab.store.runs.values()].filter(({ record }) => record.status === "running").length,
    }
    const lost = acknowledged !== undefined && lab.store.ranges.has(range.id) && !lab.store.runs.has(acknowledged.id)
    try {
      expect(after).toEqual({ end, strays: [], running: 0 })
      expect(lost).toBe(false)
    } catch (error) {
      broken.push({ at, moment, error: String(error).slice(0, 2000) })
    }
  }
  return { crashes: deaths.length, broken }
}

const makeTrio = (): Lab => makeLab(["vm1", "vm2", "vm3"])
const nothing = async (): Promise<void> => undefined
const deployed = async (lab: Lab, range: Range): Promise<void> => {
  const process = boot(lab)
  await startAndWait(process, range)
  await process.dispose()
}

describe("a process that dies before or after any journal write or port call", () => {
  it("resumes a deploy of six machines and ends as if nothing had happened", { timeout: 300_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeCompany, deploy, nothing)
    expect(crashes).toBeGreaterThan(200)
    expect(broken).toEqual([])
  })

  it("resumes a destroy and leaves no machine", { timeout: 120_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeTrio, { kind: "destroy" }, deployed)
    expect(crashes).toBeGreaterThan(25)
    expect(broken).toEqual([])
  })

  it("resumes the removal of a range and leaves nothing of it", { timeout: 120_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeTrio, { kind: "delete-range", force: true }, deployed)
    expect(crashes).toBeGreaterThan(25)
    expect(broken).toEqual([])
  })

  it("resumes a deploy that had to give a machine another VMID", { timeout: 120_000 }, async () => {
    const makeCollision = (): Lab => {
      const lab = makeTrio()
      lab.world.fault = ({ method, action }) =>
        method === "dispatch" && action?.kind === "clone" && action.machine.vmid === labSettings.vmidSpan.from
          ? { when: "before", reason: "taken" }
          : undefined
      return lab
    }
    const { crashes, broken } = await crashEverywhere(makeCollision, deploy, nothing)
    expect(crashes).toBeGreaterThan(100)
    expect(broken).toEqual([])
  })
})
