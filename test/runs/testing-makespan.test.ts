import { rangeRequest } from "@rangewright/application"
import { type RunState, writeSnapshotText } from "@rangewright/domain"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { deployLab, makeVirtualLab, owner } from "../../bench/virtual-time.ts"

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

it("a start on twenty machines takes as long as the storage's snapshots and the router's stages do", { timeout: 120_000 }, async () => {
  const lab = await makeVirtualLab({ config })
  expect((await deployLab(lab)).state.status).toBe("success")
  const state = await lab.run(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const request = { kind: "testing-start", description: writeSnapshotText("", "mark") } as const
      const { id } = yield* engine.start(rangeRequest(lab.range, request), owner)
      return yield* engine.wait(id)
    }),
  )
  expect(state.status, state.message).toBe("success")
  const steps = timed(state)
  const snapshots = steps.filter(({ key }) => key.startsWith("take-snapshot:"))
  expect(snapshots).toHaveLength(count)
  const bound = sum(snapshots) / (snapshots[0]?.slots ?? 1) + sum(steps.filter((one) => !snapshots.includes(one)))
  const took = Math.max(...steps.map(({ to }) => to)) - Math.min(...steps.map(({ from }) => from))
  expect(took).toBeLessThanOrEqual(1.1 * bound)
})
