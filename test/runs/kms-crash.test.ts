import { type RunRequest, runPlannerLayer } from "@rangewright/application"
import { type Range, rangeOf, type RangeId } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { goOn, runUntilDeath } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import {
  admin,
  boot,
  createRange,
  type Lab,
  labSettings,
  makeCompany,
  outlives,
  type Process,
  startAndWait,
} from "./support/lab.ts"
import { newAda } from "./support/site.ts"

const machine = (name: string, octet: number): string => `
  - vm_name: "{{ range_id }}-${name}"
    hostname: ${name}
    template: win2022-server-x64-template
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 2
    cpus: 2
    windows: {}`
const config = `ludus:${machine("one", 11)}${machine("two", 12)}\n`

const report = (status: number, more = {}): string =>
  JSON.stringify({
    edition: "ServerStandard",
    build: 20_348,
    domainRole: 2,
    channel: "Windows(R) Operating System, VOLUME_KMSCLIENT channel",
    status,
    graceMinutes: 60,
    kmsPort: 0,
    error: "",
    ...more,
  })

const ours = ({ world }: Lab) =>
  [...world.vms.values()]
    .filter(({ template, name }) => !template && !name.includes("router"))
    .toSorted((a, b) => a.vmid - b.vmid)

const hostKey = "HHHHH-OOOOO-SSSSS-TTTTT-KKKKK"

/** Gives the range to an administrator. */
const give = (process: Process, range: Range) =>
  process.runPromise(
    Effect.gen(function* () {
      yield* (yield* Users).create({ ...newAda, id: admin, isAdmin: true })
      yield* (yield* Ranges).grant(range.id, admin)
    }),
  )

/** A deployed range of an administrator with two machines; Windows reports that the first is activated and that the second is not. */
const prepared = async (): Promise<{ readonly lab: Lab; readonly range: Range }> => {
  const kms = { host: undefined, server: { range: "LAB" as RangeId, machine: "LAB-one" }, hostKey }
  const lab: Lab = { ...makeCompany(), planner: runPlannerLayer, config, settings: { ...labSettings, kms } }
  const range = await createRange(lab)
  const process = boot(lab)
  await give(process, range)
  expect((await startAndWait(process, range)).state.status).toBe("success")
  await process.dispose()
  lab.world.windowsReport = (stage, name) =>
    name.includes("one") ? report(1, stage === "kms-server" ? { kmsPort: 1688 } : {}) : report(5, { error: "0xC004F074" })
  return { lab, range }
}

const endOf = (lab: Lab) =>
  ours(lab).map(({ vmid, stages }) => {
    const activation = lab.store.machines.get(vmid)?.activation
    return {
      name: lab.world.vms.get(vmid)?.name,
      licence: activation?.state,
      stages: [...stages.keys()].filter((key) => /^(?:activate|kms)/u.test(key)),
    }
  })

const crashEverywhere = async (requestFor: (lab: Lab) => RunRequest) => {
  const undisturbed = await prepared()
  const gate = makeCrashGate(undefined, () => outlives(undisturbed.lab))
  const process = boot(undisturbed.lab, gate)
  const { state } = await startAndWait(process, undisturbed.range, requestFor(undisturbed.lab))
  await process.dispose()
  const end = endOf(undisturbed.lab)
  const broken: unknown[] = []
  let crashes = 0
  for (const at of gate.distinct()) {
    const { lab, range } = await prepared()
    const dying = makeCrashGate(at)
    const request = requestFor(lab)
    const acknowledged = await runUntilDeath(lab, range, request, dying)
    if (dying.dead()) crashes += 1
    try {
      // only what a machine reported is ever shown
      for (const { licence, stages } of endOf(lab)) if (licence === "activated") expect(stages).not.toEqual([])
      await goOn(lab, range, request, acknowledged)
      expect(endOf(lab)).toEqual(end)
      expect(JSON.stringify([...lab.store.runs.values()])).not.toContain(hostKey)
      const running = [...lab.store.runs.values()].filter(
        ({ record }) => record.status === "running" && rangeOf(record) !== undefined,
      )
      expect(running).toHaveLength(0)
    } catch (error) {
      broken.push({ at, moment: dying.trace.at(-1), error: String(error).slice(0, 1500) })
    }
  }
  return { end, crashes, broken, status: state.status }
}

describe("a process that dies before or after any journal write or port call", { timeout: 240_000 }, () => {
  it("resumes activating machines, and shows none as activated that did not report it", async () => {
    const { end, crashes, broken, status } = await crashEverywhere((lab) => ({
      kind: "kms-license",
      host: "kms.example",
      port: 1688,
      machines: ours(lab).map(({ vmid }, i) => ({
        vmid,
        key: i === 0 ? { client_license_key: "client" } : { sealed_license_key: "own" },
      })),
    }))
    expect([status, end.map(({ licence }) => licence)]).toEqual(["partial", ["activated", "not-activated"]])
    expect(crashes).toBeGreaterThan(15)
    expect(broken).toEqual([])
  })

  it("resumes setting up a KMS host", async () => {
    const { end, crashes, broken, status } = await crashEverywhere((lab) => ({ kind: "kms-install", vmid: ours(lab)[0]!.vmid }))
    expect([status, end.map(({ licence }) => licence)]).toEqual(["success", ["activated", undefined]])
    expect(crashes).toBeGreaterThan(10)
    expect(broken).toEqual([])
  })
})

it("the operator's key only goes to the machine that the configuration names", async () => {
  const { lab, range } = await prepared()
  const process = boot(lab)
  const { state } = await startAndWait(process, range, { kind: "kms-install", vmid: ours(lab)[1]!.vmid })
  await process.dispose()
  expect([...state.steps.values()].map(({ failure }) => failure?.message)).toEqual([
    expect.stringContaining("the configuration names another machine (kms_server)"),
  ])
  expect(endOf(lab).flatMap(({ stages }) => stages)).toEqual([])
})

it("the operator's key goes to no range that was given away since", async () => {
  const { lab, range } = await prepared()
  const process = boot(lab)
  await process.runPromise(Effect.flatMap(Ranges, (ranges) => ranges.revoke(range.id, admin)))
  const refused = await startAndWait(process, range, { kind: "kms-install", vmid: ours(lab)[0]!.vmid }).catch(String)
  await process.dispose()
  expect(refused).toContain("no owner of the range is an administrator")
  expect(endOf(lab).flatMap(({ stages }) => stages)).toEqual([])
})
