import { rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { deployLab, makeVirtualLab, owner } from "../../bench/virtual-time.ts"

const count = 20
const machines = Array.from(
  { length: count },
  (_, i) => `
  - vm_name: "{{ range_id }}-m${i}"
    hostname: m${i}
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: ${11 + i}
    ram_gb: 1
    cpus: 1
    linux: true`,
)

it("twenty running machines and their router are removed within nine seconds", { timeout: 120_000 }, async () => {
  const lab = await makeVirtualLab({ config: `ludus:${machines.join("")}\n` })
  expect((await deployLab(lab)).state.status).toBe("success")
  const state = await lab.run(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const { id } = yield* engine.start(rangeRequest(lab.range, { kind: "destroy" }), owner)
      return yield* engine.wait(id)
    }),
  )
  expect(state.status, state.message).toBe("success")
  const steps = [...state.steps.values()].map(({ startedAt, endedAt }) => [startedAt!.getTime(), endedAt!.getTime()] as const)
  const from = Math.min(...steps.map(([began]) => began))
  const to = Math.max(...steps.map(([, ended]) => ended))
  expect((to - from) / 1000).toBeLessThanOrEqual(9)
})
