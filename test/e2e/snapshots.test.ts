import { afterAll, expect, test } from "vitest"
import type { ApiClient, Problem, StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, follow, runEnd, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { type Guest, type SimulatorProcess, startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

interface Outcome {
  readonly success?: readonly number[]
  readonly errors?: readonly { readonly vmid?: number; readonly vmname?: string; readonly error: string }[]
  readonly runID?: string
}
interface Shown {
  readonly snapshots?: readonly {
    readonly name: string
    readonly parent?: string
    readonly vmid: number
    readonly description: string
  }[]
}
type Config = Readonly<Record<string, unknown>>

const own = async (simulator: SimulatorProcess, rangeId: string): Promise<readonly Guest[]> =>
  (await simulator.guests()).filter(({ pool }) => pool === rangeId).toSorted((a, b) => a.vmid - b.vmid)
const configOf = (simulator: SimulatorProcess, { node, vmid }: Guest) =>
  simulator.read<Config>(`/nodes/${node}/qemu/${vmid}/config`)
const statusOf = async (simulator: SimulatorProcess, { node, vmid }: Guest) =>
  (await simulator.read<{ readonly status: string }>(`/nodes/${node}/qemu/${vmid}/status/current`)).status
const namesAt = async (simulator: SimulatorProcess, { node, vmid }: Guest) =>
  (await simulator.read<readonly { readonly name: string }[]>(`/nodes/${node}/qemu/${vmid}/snapshot`)).map(({ name }) => name)
const listed = async (user: ApiClient, query = "") =>
  (await user.get<Shown>(`/snapshots/list?rangeID=SNAP&vmids=${query}`)).snapshots ?? []

test.concurrent("machines are rolled back to a snapshot and keep their current hardware", { timeout: 300_000 }, async () => {
  const simulator = await startSimulator(["--speed", "600"])
  const service = await startService(temporaryFolder(), onSimulator(simulator))
  const user = await addLab(service, "SNAP", smallLab(2))
  await expectSuccess(user, await deploy(user, "SNAP"))
  const machines = await own(simulator, "SNAP")
  const vmids = machines.map(({ vmid }) => vmid)
  const act = (what: string, body: unknown) => user.send<Outcome>("POST", `/snapshots/${what}?rangeID=SNAP`, body)

  const taken = await act("create", { name: "clean", description: "As delivered", vmids: null, includeRAM: false })
  expect(taken).toEqual({ success: vmids, runID: expect.any(String) })
  const shown = await listed(user)
  expect(shown.filter(({ name }) => name === "clean").map(({ vmid, description }) => [vmid, description])).toEqual(
    vmids.map((vmid) => [vmid, "As delivered"]),
  )
  for (const { vmid, parent } of shown)
    if (parent !== undefined) expect(shown.some((one) => one.vmid === vmid && one.name === parent)).toBe(true)

  // the machines change: another VLAN, more processors, other tags; and one is switched off
  const [changed, off] = machines.filter(({ name }) => /-m\d$/u.test(name)) as [Guest, Guest]
  const at = `/nodes/${changed.node}/qemu/${changed.vmid}`
  const before = await configOf(simulator, changed)
  const net0 = String(before["net0"]).replace("tag=10", "tag=20")
  await simulator.change("PUT", `${at}/config`, { net0, cores: "3", tags: "ours" })
  await simulator.post(`/nodes/${off.node}/qemu/${off.vmid}/status/stop`, {})
  await eventually(
    "the machine to be off",
    () => statusOf(simulator, off),
    (status) => status === "stopped",
  )

  const back = await act("rollback", { name: "clean" })
  expect(back).toEqual({ success: vmids, runID: expect.any(String) })
  expect(await configOf(simulator, changed)).toMatchObject({ net0, tags: "ours", parent: "clean" })
  expect(String((await configOf(simulator, changed))["description"])).toContain("SNAP")
  expect(await statusOf(simulator, changed)).toBe("running")
  expect(await statusOf(simulator, off)).toBe("stopped")

  expect(await act("remove", { name: "clean", vmIDs: [String(changed.vmid)] })).toMatchObject({ success: [changed.vmid] })
  expect(await namesAt(simulator, changed)).toEqual(["current"])
  expect(await namesAt(simulator, off)).toEqual(["clean", "current"])
  expect((await listed(user, String(changed.vmid))).map(({ name }) => name)).toEqual(["current"])
  expect((await user.get<{ readonly status: string }>(`/runs/${back.runID}`)).status).toBe("success")
  const asleep = { name: "asleep", vmids: [changed.vmid] }
  expect(await act("create", { ...asleep, includeRAM: true })).toMatchObject({ success: asleep.vmids })
  const takenAt = (await simulator.read<{ readonly time: number }>(`/nodes/${changed.node}/time`)).time

  // input that names no machine never means all of them
  for (const vmids of ["all", [1.5], {}, [[]], [null], ["x"], true, 7]) {
    const refused = await user.ask<Problem>("POST", "/snapshots/remove?rangeID=SNAP", { name: "clean", vmids })
    expect([refused.status, vmids]).toEqual([400, vmids])
  }
  const template = (await simulator.read<readonly Guest[]>("/cluster/resources?type=vm")).find((guest) => guest.template === 1)
  const hostile = [-1, 0, 2_147_483_647, template?.vmid ?? 100]
  const many = Array.from({ length: 9000 }, (_, i) => 500_000 + i)
  const none = await act("rollback", { name: "clean", vmids: [...hostile, ...many] })
  expect(none.success).toBeUndefined()
  expect(none.errors).toHaveLength(hostile.length + many.length)
  expect(await namesAt(simulator, off)).toEqual(["clean", "current"])
  // its memory is the old one, but its clock is right
  const times = async () => {
    const { time } = await simulator.read<{ readonly time: number }>(`/nodes/${changed.node}/time`)
    const { result } = await simulator.read<{ readonly result: number }>(`${at}/agent/get-time`)
    return { time, shown: result / 1e9 }
  }
  await eventually(
    "a snapshot that is old",
    async () => (await times()).time - takenAt,
    (age) => age > 1200,
  )
  const awake = await act("rollback", asleep)
  expect(awake).toEqual({ success: asleep.vmids, runID: expect.any(String) })
  const { time, shown: itsTime } = await times()
  expect(Math.abs(time - itsTime)).toBeLessThan(600)
  expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
})

/** Moments of a run after which the service is killed: its first effects, and its last. */
const killAfterDispatch = [1, 2, 3]

test.concurrent("all or none holds wherever the service is killed", { timeout: 300_000 }, async () => {
  const simulator = await startSimulator(["--speed", "60"])
  const data = temporaryFolder()
  const environment = onSimulator(simulator)
  let service = await startService(data, environment)
  const key = await addUser(service.root, "SNAP")
  await service.as(key).upload("/range/config?rangeID=SNAP", smallLab(2))
  await expectSuccess(service.as(key), await deploy(service.as(key), "SNAP"))
  const machines = await own(simulator, "SNAP")

  /** Requests snapshots and kills the service after this many dispatches; returns the run's end, as the next process reports it. */
  const takeAndKill = async (name: string, kills: number) => {
    const asked = service.as(key).ask<Outcome>("POST", "/snapshots/create?rangeID=SNAP", { name, atomic: true, includeRAM: true })
    // the caller never gets an answer
    const gone = asked.catch(() => undefined)
    const runId = await eventually(
      "the run",
      async () =>
        (
          await service.as(key).get<readonly { readonly id: string; readonly kind: string; readonly status: string }[]>("/runs")
        ).find(({ kind, status }) => kind === "snapshot-create" && status === "running")?.id,
      (id) => id ?? false,
    )
    const seen: StreamEvent[] = []
    let dispatched = 0
    await follow(service.as(key), runId, seen, ({ type }) => type === "StepDispatched" && ++dispatched === kills)
    await service.crash()
    await gone
    service = await startService(data, environment)
    return runEnd(service.as(key), runId)
  }

  for (const kills of killAfterDispatch) {
    expect(await takeAndKill(`all-${kills}`, kills)).toMatchObject({ status: "success" })
    for (const machine of machines)
      expect((await namesAt(simulator, machine)).filter((name) => name === `all-${kills}`)).toHaveLength(1)

    const takeBack = await simulator.fault({
      kind: "fail-task",
      type: "qmsnapshot",
      id: String(machines.at(-1)?.vmid),
      text: "lvcreate error: out of data space",
      times: "always",
      when: "before",
    })
    expect(await takeAndKill(`none-${kills}`, kills)).toMatchObject({ status: "failure" })
    await takeBack()
    for (const machine of machines) expect(await namesAt(simulator, machine)).not.toContain(`none-${kills}`)
    expect((await listed(service.as(key))).filter(({ name }) => name === `none-${kills}`)).toEqual([])
  }
})
