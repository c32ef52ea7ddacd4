import { type RunRequest, runPlannerLayer } from "@rangewright/application"
import { type PowerChange, type Range, rangeOf, type Vmid } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { goOn, runUntilDeath } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import { boot, createRange, type Lab, makeCompany, outlives, startAndWait } from "./support/lab.ts"

const machine = (name: string, octet: number): string => `
  - vm_name: "{{ range_id }}-${name}"
    hostname: ${name}
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 2
    cpus: 2
    linux: true`
const config = `ludus:${machine("one", 11)}${machine("two", 12)}${machine("idle", 13)}\n`

interface Prepared {
  readonly lab: Lab
  readonly range: Range
  /** Every change of a machine's power from then on, as the world sees it. */
  readonly changes: readonly string[]
}

const vmidOf = ({ world }: Lab, name: string): Vmid => [...world.vms.values()].find((vm) => vm.name.endsWith(`-${name}`))!.vmid

/** A router and machines that are on, except for one. */
const prepared = async (): Promise<Prepared> => {
  const lab: Lab = { ...makeCompany(), planner: runPlannerLayer, config }
  const range = await createRange(lab)
  const process = boot(lab)
  expect((await startAndWait(process, range)).state.status).toBe("success")
  await process.dispose()
  const idle = vmidOf(lab, "idle")
  lab.world.vms.set(idle, { ...lab.world.vms.get(idle)!, power: "stopped", agentAt: undefined })
  const changes: string[] = []
  const { vms } = lab.world
  const set = vms.set.bind(vms)
  vms.set = (vmid, vm) => {
    if (vms.get(vmid)?.power !== vm.power) changes.push(`${vm.name.split("-").at(-1)} ${vm.power}`)
    return set(vmid, vm)
  }
  return { lab, range, changes }
}

interface Asked {
  readonly change: PowerChange
  readonly machines: readonly string[]
  /** Of all machines that are on. */
  readonly whereOn?: boolean
  /** What goes wrong in the world, crash or not. */
  readonly spoil?: (lab: Lab) => void
}

const requestOf = (lab: Lab, { change, machines, whereOn }: Asked): RunRequest => ({
  kind: "power",
  change,
  vmids: machines.map((name) => vmidOf(lab, name)),
  timeoutSeconds: 60,
  ...(whereOn === undefined ? {} : { whereOn }),
})

/** Crashes before and after every call of a port, each time in a fresh world; returns the moments with a different end. */
const crashEverywhere = async (asked: Asked) => {
  const calm = await prepared()
  asked.spoil?.(calm.lab)
  const gate = makeCrashGate(undefined, () => outlives(calm.lab))
  const process = boot(calm.lab, gate)
  const { state } = await startAndWait(process, calm.range, requestOf(calm.lab, asked))
  await process.dispose()
  const broken: unknown[] = []
  let crashes = 0
  for (const at of gate.distinct()) {
    const { lab, range, changes } = await prepared()
    asked.spoil?.(lab)
    const dying = makeCrashGate(at)
    const request = requestOf(lab, asked)
    const acknowledged = await runUntilDeath(lab, range, request, dying)
    if (dying.dead()) crashes += 1
    await goOn(lab, range, request, acknowledged)
    const running = [...lab.store.runs.values()].filter(
      ({ record }) => record.status === "running" && rangeOf(record) !== undefined,
    )
    try {
      expect(changes.toSorted()).toEqual(calm.changes.toSorted())
      expect(running).toHaveLength(0)
    } catch (error) {
      broken.push({ at, moment: dying.trace.at(-1), error: String(error).slice(0, 1500) })
    }
  }
  return { status: state.status, changes: calm.changes, crashes, broken }
}

describe("a process that dies before or after any journal write or port call", { timeout: 240_000 }, () => {
  it.each<readonly [PowerChange, readonly string[], boolean | undefined, readonly string[]]>([
    ["shutdown", ["one", "idle"], undefined, ["one stopped"]],
    ["reboot", ["one"], undefined, ["one stopped", "one running"]],
    ["reset", ["one"], undefined, ["one stopped", "one running"]],
    ["reboot", ["one", "two", "idle"], true, ["one stopped", "two stopped", "one running", "two running"]],
  ])("resumes a %s of %j, once for each, and no other machine changes", async (change, machines, whereOn, expected) => {
    const { status, changes, crashes, broken } = await crashEverywhere({
      change,
      machines,
      ...(whereOn === undefined ? {} : { whereOn }),
    })
    expect([status, changes.toSorted()]).toEqual(["success", expected.toSorted()])
    expect(changes.findIndex((one) => one.endsWith("running"))).not.toBe(0)
    expect(crashes).toBeGreaterThan(10)
    expect(broken).toEqual([])
  })

  it.each(["shutdown", "reboot"] as const)("never forces a machine off that does not %s", async (change) => {
    const { status, changes, crashes, broken } = await crashEverywhere({
      change,
      machines: ["one"],
      spoil: (lab) => {
        lab.world.fault = ({ method, action }) =>
          method === "dispatch" && action?.kind === "shutdown" ? { when: "before", reason: "failed" } : undefined
      },
    })
    expect([status, changes]).toEqual(["failure", []])
    expect(crashes).toBeGreaterThan(6)
    expect(broken).toEqual([])
  })
})

it.each(["shutdown", "stop", "start"] as const)("a restart whose answer to its %s is lost is done once", async (kind) => {
  const { lab, range, changes } = await prepared()
  let lost = 0
  lab.world.fault = ({ method, action }) =>
    method === "dispatch" && action?.kind === kind && (lost += 1) === 1 ? { when: "after", reason: "unknown-effect" } : undefined
  const process = boot(lab)
  const change = kind === "stop" ? "reset" : "reboot"
  const { state } = await startAndWait(process, range, requestOf(lab, { change, machines: ["one"] }))
  await process.dispose()
  expect([state.status, changes]).toEqual(["success", ["one stopped", "one running"]])
  expect(lost).toBeGreaterThan(0)
})
