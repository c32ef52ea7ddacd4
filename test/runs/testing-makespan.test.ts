import { rangeRequest, type RunRequest } from "@rangewright/application"
import { type RunState, testingSnapshot, writeSnapshotText } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { deployLab, makeVirtualLab, owner, type VirtualLab } from "../../bench/virtual-time.ts"

const count = 20
const machine = (_one: unknown, i: number): string => `
  - vm_name: "{{ range_id }}-m${i}"
    hostname: m${i}
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: ${11 + i}
    ram_gb: 1
    cpus: 1
    linux: true`
const config = `ludus:${Array.from({ length: count }, machine).join("")}
defaults:
  snapshot_with_RAM: false
`

interface Timed {
  readonly key: string
  readonly slots: number
  readonly from: number
  readonly to: number
}
const timed = ({ steps }: RunState): readonly Timed[] =>
  [...steps].flatMap(([key, { step, startedAt, endedAt }]) =>
    startedAt === undefined || endedAt === undefined
      ? []
      : [{ key, slots: step.uses[0]?.slots ?? 1, from: startedAt.getTime(), to: endedAt.getTime() }],
  )
const sum = (some: readonly Timed[]): number => some.reduce((total, { from, to }) => total + to - from, 0)

const requestOf = (lab: VirtualLab, request: RunRequest) =>
  lab.run(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const { id } = yield* engine.start(rangeRequest(lab.range, request), owner)
      return yield* engine.wait(id)
    }),
  )
const startWith = (mark: string): RunRequest => ({ kind: "testing-start", description: writeSnapshotText("", mark) })

it(
  "a start on twenty machines takes as long as the storage's snapshots and the router's stages",
  { timeout: 120_000 },
  async () => {
    const lab = await makeVirtualLab({ config })
    expect((await deployLab(lab)).state.status).toBe("success")
    const state = await requestOf(lab, startWith("mark"))
    expect(state.status, state.message).toBe("success")
    const steps = timed(state)
    const snapshots = steps.filter(({ key }) => key.startsWith("take-snapshot:"))
    expect(snapshots).toHaveLength(count)
    const bound = sum(snapshots) / (snapshots[0]?.slots ?? 1) + sum(steps.filter((one) => !snapshots.includes(one)))
    const took = Math.max(...steps.map(({ to }) => to)) - Math.min(...steps.map(({ from }) => from))
    expect(took).toBeLessThanOrEqual(1.1 * bound)
  },
)

it("a range on the simulator is tested, rolled back, and tested again with new snapshots", { timeout: 120_000 }, async () => {
  const lab = await makeVirtualLab({ config: `ludus:${[0, 1].map((i) => machine(i, i)).join("")}\n` })
  expect((await deployLab(lab)).state.status).toBe("success")
  const allow: RunRequest = {
    kind: "testing-change",
    allow: { domains: [], ips: ["203.0.113.9"] },
    deny: { domains: [], ips: [] },
  }
  for (const request of [startWith("first"), allow, { kind: "testing-stop", force: false } as const, startWith("second")]) {
    const { status, message } = await requestOf(lab, request)
    expect([status, message]).toEqual(["success", ""])
  }
  const trees = await lab.run(Machines.use((machines) => machines.snapshots(lab.range.id)))
  const held = [...trees.values()].map(({ snapshots }) => snapshots.map(({ name, description }) => [name, description]))
  expect(held.filter((one) => one.length > 0)).toEqual([0, 1].map(() => [[testingSnapshot, writeSnapshotText("", "second")]]))
})
