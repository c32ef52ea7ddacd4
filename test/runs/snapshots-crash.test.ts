import { type RunRequest, runPlannerLayer } from "@rangewright/application"
import { type Range, rangeOf, type Vmid, writeSnapshotText } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { deathsIn, goOn } from "./support/crash.ts"
import { boot, createRange, type Lab, makeCompany, startAndWait } from "./support/lab.ts"

const config = `ludus:
  - vm_name: "{{ range_id }}-one"
    hostname: one
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 2
    cpus: 2
    linux: true
`

const vmidsOf = ({ world }: Lab): readonly Vmid[] =>
  [...world.vms.values()]
    .filter(({ template }) => !template)
    .map(({ vmid }) => vmid)
    .toSorted((a, b) => a - b)

type Snapshots = "clean" | "before"
const take = (lab: Lab, name: Snapshots, atomic: boolean): RunRequest => ({
  kind: "snapshot-create",
  name,
  description: writeSnapshotText("", `m${name}`),
  memory: false,
  atomic,
  vmids: vmidsOf(lab),
})

/** A deployed router and machine; with `before`, each has a snapshot, and different hardware since. */
const prepared = async (withSnapshot: boolean): Promise<{ readonly lab: Lab; readonly range: Range }> => {
  const lab: Lab = { ...makeCompany(), planner: runPlannerLayer, config }
  const range = await createRange(lab)
  const process = boot(lab)
  const { state } = await startAndWait(process, range)
  expect(state.status).toBe("success")
  if (withSnapshot) {
    await startAndWait(process, range, take(lab, "before", true))
    for (const vmid of vmidsOf(lab)) lab.world.vms.set(vmid, { ...lab.world.vms.get(vmid)!, cpus: 7 })
  }
  await process.dispose()
  return { lab, range }
}

/** The machines afterwards, and what is stored about them. */
const endOf = ({ world, store }: Lab, range: Range) =>
  vmidsOf({ world, store } as Lab).map((vmid) => {
    const { power, cpus, snapshots = [], parent, rollbacks } = world.vms.get(vmid)!
    const kept = store.snapshots.get(range.id)?.get(vmid)
    return {
      vmid,
      power,
      cpus,
      parent,
      rollbacks,
      snapshots: snapshots.map(({ name, description, parent: before }) => ({ name, description, before })),
      kept: kept?.snapshots.map(({ name }) => name),
      stages: store.stages.get(range.id)?.get(vmid)?.size,
    }
  })

interface Scenario {
  readonly withSnapshot: boolean
  readonly request: (lab: Lab) => RunRequest
  /** What goes wrong in the world, crash or not. */
  readonly spoil?: (lab: Lab) => void
}

/** A new process goes on from every distinct state in which one can die; returns those with a different end. */
const crashEverywhere = async ({ withSnapshot, request, spoil }: Scenario) => {
  const { lab: calm, range } = await prepared(withSnapshot)
  spoil?.(calm)
  const asked = request(calm)
  const { deaths, state } = await deathsIn(calm, range, asked)
  const end = endOf(calm, range)
  const broken: unknown[] = []
  for (const { at, moment, acknowledged, lab: copy } of deaths) {
    const lab = copy()
    await goOn(lab, range, asked, acknowledged)
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
  return { end, crashes: deaths.length, broken, status: state?.status }
}

const second = (lab: Lab): Vmid => vmidsOf(lab)[1]!

describe("a process that dies before or after any journal write or port call", { timeout: 240_000 }, () => {
  it.each([true, false])("resumes taking snapshots, and takes none twice (all or none: %s)", async (atomic) => {
    const { end, crashes, broken, status } = await crashEverywhere({
      withSnapshot: false,
      request: (lab) => take(lab, "clean", atomic),
    })
    expect(status).toBe("success")
    expect(end.map(({ snapshots, kept }) => [snapshots.length, kept])).toEqual(end.map(() => [1, ["clean"]]))
    expect(crashes).toBeGreaterThan(12)
    expect(broken).toEqual([])
  })

  it.each([
    [true, []],
    [false, ["clean"]],
  ])("if a snapshot cannot be taken, leaves exactly what was requested (all or none: %s)", async (atomic, left) => {
    const { end, crashes, broken } = await crashEverywhere({
      withSnapshot: false,
      request: (lab) => take(lab, "clean", atomic),
      spoil: (lab) => {
        const failing = second(lab)
        lab.world.fault = ({ method, action }) =>
          method === "dispatch" && action?.kind === "take-snapshot" && action.machine.vmid === failing
            ? { when: "before", reason: "failed" }
            : undefined
      },
    })
    expect(end.map(({ kept }) => kept)).toEqual([left, []])
    expect(crashes).toBeGreaterThan(12)
    expect(broken).toEqual([])
  })

  it.each([true, false])(
    "resumes a rollback, and starts no machine before its hardware is restored (all or none: %s)",
    async (atomic) => {
      const { end, crashes, broken, status } = await crashEverywhere({
        withSnapshot: true,
        request: (lab) => ({ kind: "snapshot-rollback", name: "before", atomic, vmids: vmidsOf(lab) }),
      })
      expect(status).toBe("success")
      expect(end).toMatchObject(end.map(() => ({ cpus: 7, power: "running", parent: "before", rollbacks: 1 })))
      expect(crashes).toBeGreaterThan(40)
      expect(broken).toEqual([])
    },
  )

  it("resumes removing snapshots", async () => {
    const { end, crashes, broken, status } = await crashEverywhere({
      withSnapshot: true,
      request: (lab) => ({ kind: "snapshot-remove", name: "before", vmids: vmidsOf(lab) }),
    })
    expect(status).toBe("success")
    expect(end.map(({ snapshots, kept }) => [snapshots, kept])).toEqual(end.map(() => [[], []]))
    expect(crashes).toBeGreaterThan(12)
    expect(broken).toEqual([])
  })
})

describe("a lost answer", () => {
  it.each(["take-snapshot", "roll-back", "remove-snapshot"] as const)("of any %s does not change the end", async (kind) => {
    const withSnapshot = kind !== "take-snapshot"
    const { lab, range } = await prepared(withSnapshot)
    const lost = new Set<Vmid>()
    lab.world.fault = ({ method, action }) => {
      if (method !== "dispatch" || action?.kind !== kind || lost.has(action.machine.vmid)) return undefined
      lost.add(action.machine.vmid)
      return { when: "after", reason: "unknown-effect" }
    }
    const requests: Record<typeof kind, RunRequest> = {
      "take-snapshot": take(lab, "clean", true),
      "roll-back": { kind: "snapshot-rollback", name: "before", atomic: false, vmids: vmidsOf(lab) },
      "remove-snapshot": { kind: "snapshot-remove", name: "before", vmids: vmidsOf(lab) },
    }
    const process = boot(lab)
    const { state } = await startAndWait(process, range, requests[kind])
    await process.dispose()
    expect(lost.size).toBe(vmidsOf(lab).length)
    expect(state.status).toBe("success")
    const counts = { "take-snapshot": 1, "roll-back": 1, "remove-snapshot": 0 }
    expect(endOf(lab, range).map(({ snapshots }) => snapshots.length)).toEqual(vmidsOf(lab).map(() => counts[kind]))
  })
})
