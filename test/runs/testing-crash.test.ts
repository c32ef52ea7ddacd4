import { type RunRequest, runPlannerLayer } from "@rangewright/application"
import { isClosed, type Range, rangeOf, testingSnapshot, type Vmid, writeSnapshotText } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { deathsIn, goOn } from "./support/crash.ts"
import { boot, createRange, keptLab, type Lab, makeCompany, startAndWait } from "./support/lab.ts"

const machine = (name: string, octet: number): string => `
  - vm_name: "{{ range_id }}-${name}"
    hostname: ${name}
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 2
    cpus: 2
    linux: true`
const one = `ludus:${machine("one", 11)}\n`
const two = `ludus:${machine("one", 11)}${machine("two", 12)}\n`

const requests: Readonly<Record<"start" | "stop" | "force" | "allow" | "deny", RunRequest>> = {
  start: { kind: "testing-start", description: writeSnapshotText("", "mstart") },
  stop: { kind: "testing-stop", force: false },
  force: { kind: "testing-stop", force: true },
  allow: {
    kind: "testing-change",
    allow: { domains: ["a.example (203.0.113.1)"], ips: ["203.0.113.2"] },
    deny: { domains: [], ips: [] },
  },
  deny: { kind: "testing-change", allow: { domains: [], ips: [] }, deny: { domains: ["a.example (203.0.113.1)"], ips: [] } },
}

const ours = ({ world }: Pick<Lab, "world">) =>
  [...world.vms.values()].filter(({ template }) => !template).toSorted((a, b) => a.vmid - b.vmid)
const routerOf = (lab: Pick<Lab, "world">) => ours(lab).find(({ name }) => name.includes("router"))!
const testedOf = (lab: Pick<Lab, "world">) => ours(lab).filter(({ vmid }) => vmid !== routerOf(lab).vmid)
const modeOf = ({ store }: Lab, { id }: Range) => store.ranges.get(id)!.testing

/** The input of the router's last rules in the world, whatever the store says. */
const loaded = ({ world }: Lab): string => {
  const told = world.calls.filter(
    ({ port, method, action }) =>
      port === "guest" && method === "settle" && action?.kind === "guest" && action.stage === "firewall",
  )
  const last = told.at(-1)?.action
  return last?.kind === "guest" ? JSON.stringify(last.input) : ""
}

const deployedLabs = new Map<string, Promise<{ readonly copy: () => Lab; readonly range: Range }>>()

/** A deployed router and its machines, after these requests: each a copy of the same. */
const prepared = async (
  config: string,
  before: readonly RunRequest[] = [],
): Promise<{ readonly lab: Lab; readonly range: Range }> => {
  const prepare = async () => {
    const lab: Lab = { ...makeCompany(), planner: runPlannerLayer, config }
    const range = await createRange(lab)
    const process = boot(lab)
    expect((await startAndWait(process, range)).state.status).toBe("success")
    for (const request of before) expect((await startAndWait(process, range, request)).state.status).toBe("success")
    await process.dispose()
    return { copy: keptLab(lab), range }
  }
  const key = JSON.stringify([config, before])
  const made = deployedLabs.get(key) ?? prepare()
  deployedLabs.set(key, made)
  const { copy, range } = await made
  return { lab: copy(), range }
}

const endOf = (lab: Lab, range: Range) => ({
  testing: modeOf(lab, range),
  rules: loaded(lab),
  machines: testedOf(lab).map(({ vmid, power, cpus, parent, snapshots = [] }) => ({
    vmid,
    power,
    cpus,
    parent,
    snapshots: snapshots.map(({ name, description }) => ({ name, description })),
    kept: lab.store.snapshots
      .get(range.id)
      ?.get(vmid)
      ?.snapshots.map(({ name }) => name),
  })),
})

const askAgain = async (lab: Lab, range: Range, request: RunRequest): Promise<void> => {
  const process = boot(lab)
  await startAndWait(process, range, request)
  await process.dispose()
}

interface Scenario {
  readonly config?: string
  readonly before: readonly RunRequest[]
  readonly request: RunRequest
  /** What goes wrong in the world, crash or not. */
  readonly spoil?: (lab: Lab) => void
  /** What must hold at the moment of the crash. */
  readonly holds?: (lab: Lab, range: Range) => void
}

/** A new process goes on from every distinct state in which one can die; returns those with a different end. */
const crashEverywhere = async ({ config = one, before, request, spoil, holds }: Scenario) => {
  const calm = await prepared(config, before)
  const { range } = calm
  spoil?.(calm.lab)
  const known = calm.lab.store.runs.size
  const { deaths, state } = await deathsIn(calm.lab, range, request)
  const end = endOf(calm.lab, range)
  const broken: unknown[] = []
  for (const { at, moment, acknowledged, lab: copy } of deaths) {
    const lab = copy()
    try {
      holds?.(lab, range)
      // an earlier run of this kind is not the requested one
      if (lab.store.runs.size > known) await goOn(lab, range, request, acknowledged)
      else await askAgain(lab, range, request)
      expect(endOf(lab, range)).toEqual(end)
      const running = [...lab.store.runs.values()].filter(
        ({ record }) => record.status === "running" && rangeOf(record) !== undefined,
      )
      expect(running).toHaveLength(0)
    } catch (error) {
      broken.push({ at, moment, error: String(error).slice(0, 1500) })
    }
  }
  return { end, crashes: deaths.length, broken, status: state?.status }
}

const failing = (kind: string, of: (lab: Lab) => Vmid) => (lab: Lab) => {
  const vmid = of(lab)
  lab.world.fault = ({ method, action }) =>
    method === "dispatch" && action?.kind === kind && "machine" in action && action.machine.vmid === vmid
      ? { when: "before", reason: "failed" }
      : undefined
}

describe("a process that dies before or after any journal write or port call", { timeout: 480_000 }, () => {
  it("resumes starting testing, and never shows the range as open while its router may be closed", async () => {
    const open = loaded((await prepared(two)).lab)
    const { end, crashes, broken, status } = await crashEverywhere({
      config: two,
      before: [],
      request: requests.start,
      holds: (lab, range) => {
        // an open range has the open rules; a closed one has all its snapshots
        if (!isClosed(modeOf(lab, range))) expect(loaded(lab)).toBe(open)
        else for (const { snapshots = [] } of testedOf(lab)) expect(snapshots.map(({ name }) => name)).toEqual([testingSnapshot])
        if (modeOf(lab, range).mode === "on") expect(loaded(lab)).not.toBe(open)
      },
    })
    expect([status, end.testing.mode]).toEqual(["success", "on"])
    expect(end.machines.map(({ kept }) => kept)).toEqual(end.machines.map(() => [testingSnapshot]))
    expect(crashes).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })

  it("replaces old snapshots, and no machine is ever without one", async () => {
    const again: RunRequest = { kind: "testing-start", description: writeSnapshotText("", "magain") }
    const { end, crashes, broken, status } = await crashEverywhere({
      before: [requests.start, requests.stop],
      request: again,
      holds: (lab) => {
        for (const { snapshots = [] } of testedOf(lab)) expect(snapshots.length).toBeGreaterThan(0)
      },
    })
    expect(status).toBe("success")
    for (const { snapshots } of end.machines)
      expect(snapshots).toEqual([{ name: testingSnapshot, description: writeSnapshotText("", "magain") }])
    expect(crashes).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })

  it("leaves no snapshots and an open range if one cannot be taken", async () => {
    const { end, crashes, broken, status } = await crashEverywhere({
      config: two,
      before: [],
      request: requests.start,
      spoil: failing("take-snapshot", (lab) => testedOf(lab)[1]!.vmid),
    })
    expect([status, end.testing.mode]).toEqual(["failure", "off"])
    expect(end.machines.map(({ snapshots }) => snapshots)).toEqual([[], []])
    expect(crashes).toBeGreaterThan(20)
    expect(broken).toEqual([])
  })

  it("resumes stopping testing, and opens the range only when every machine is rolled back", async () => {
    const open = loaded((await prepared(two)).lab)
    const { end, crashes, broken, status } = await crashEverywhere({
      config: two,
      before: [requests.start],
      request: requests.stop,
      spoil: (lab) => {
        for (const { vmid } of testedOf(lab))
          lab.world.vms.set(vmid, { ...lab.world.vms.get(vmid)!, stages: new Map([["infected", 1]]) })
      },
      holds: (lab, range) => {
        const dirty = testedOf(lab).some(({ stages }) => stages.has("infected"))
        if (dirty) expect(loaded(lab)).not.toBe(open)
        // a range recorded as closed is never open; the reverse does no harm
        if (dirty) expect(isClosed(modeOf(lab, range))).toBe(true)
        if (loaded(lab) === open) expect(isClosed(modeOf(lab, range))).toBe(false)
      },
    })
    expect([status, end.testing]).toEqual(["success", { mode: "off", allowedDomains: [], allowedIps: [] }])
    expect(end.rules).toBe(open)
    expect(end.machines.map(({ power, parent }) => [power, parent])).toEqual(end.machines.map(() => ["running", testingSnapshot]))
    expect(crashes).toBeGreaterThan(40)
    expect(broken).toEqual([])
  })

  it.each([
    ["stop", "leaving"],
    ["force", "off"],
  ] as const)("if a machine cannot be rolled back, ends a %s in %s", async (which, mode) => {
    const { end, crashes, broken, status } = await crashEverywhere({
      before: [requests.start],
      request: requests[which],
      spoil: failing("roll-back", (lab) => testedOf(lab)[0]!.vmid),
    })
    expect([status, end.testing.mode]).toEqual(["failure", mode])
    expect(crashes).toBeGreaterThan(15)
    expect(broken).toEqual([])
  })

  it("resumes allowing: testing is on only when the router has the recorded list", async () => {
    const { end, crashes, broken, status } = await crashEverywhere({
      before: [requests.start],
      request: requests.allow,
      holds: (lab, range) => {
        const { mode, allowedIps } = modeOf(lab, range)
        for (const ip of allowedIps) expect(loaded(lab)).toContain(ip)
        if (loaded(lab).includes("203.0.113.1") && mode === "on") expect(allowedIps).toEqual(["203.0.113.2"])
      },
    })
    expect([status, end.testing.allowedIps]).toEqual(["success", ["203.0.113.2"]])
    expect(end.rules).toContain("203.0.113.1")
    expect(crashes).toBeGreaterThan(15)
    expect(broken).toEqual([])
  })

  it("resumes denying: testing is on only when the router has denied it", async () => {
    const { end, crashes, broken, status } = await crashEverywhere({
      before: [requests.start, requests.allow],
      request: requests.deny,
      holds: (lab, range) => {
        const { mode, allowedDomains } = modeOf(lab, range)
        if (!loaded(lab).includes("203.0.113.1")) expect(allowedDomains).toEqual([])
        else if (allowedDomains.length === 0) expect(mode).toBe("entering")
      },
    })
    expect([status, end.testing.allowedDomains]).toEqual(["success", []])
    expect(end.rules).not.toContain("203.0.113.1")
    expect(crashes).toBeGreaterThan(15)
    expect(broken).toEqual([])
  })
})
