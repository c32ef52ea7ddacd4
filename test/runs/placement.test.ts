import { rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import type { RunHead } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { expect, it } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy } from "./support/lab.ts"
import { addZone, makeSimCompany, type SimLab } from "./support/sim-lab.ts"

const oneMachine = `ludus:
  - vm_name: "{{ range_id }}-m1"
    hostname: "{{ range_id }}-m1"
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 1
    cpus: 1
    linux: true
`

/** Whether the machines are spread over the nodes as evenly as their sizes allow. */
const expectEven = ({ sim }: SimLab): void => {
  const guests = [...sim.state.guests.values()].filter(({ config }) => config["template"] !== 1)
  const sizes = guests.map(({ config }) => Number(config["memory"]))
  const taken = ["pve1", "pve2", "pve3"].map((node) =>
    guests.reduce((sum, guest, at) => sum + (guest.node === node ? (sizes[at] ?? 0) : 0), 0),
  )
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(Math.max(...sizes))
  expect(Math.min(...taken)).toBeGreaterThan(0)
}

it("ranges deployed at the same time share the nodes of a cluster", { timeout: 60_000 }, async () => {
  const lab = { ...makeSimCompany(3), config: oneMachine }
  await addZone(lab)
  const ranges = [await createRange(lab, "A", 1), await createRange(lab, "B", 2), await createRange(lab, "C", 3)]
  const process = boot(lab)
  const ends = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const start = Effect.forEach(ranges, (range) => engine.start(rangeRequest(range, deploy), admin), {
        concurrency: "unbounded",
      })
      return yield* Effect.forEach(yield* start, ({ id }) => engine.wait(id), { concurrency: "unbounded" })
    }),
  )
  await process.dispose()
  expect(ends.map(({ message }) => message)).toEqual(["", "", ""])
  expectEven(lab)
})

it("so do ranges that other instances of the service deploy, before any machine runs", { timeout: 60_000 }, async () => {
  const lab = { ...makeSimCompany(3), config: oneMachine }
  await addZone(lab)
  const ranges = [await createRange(lab, "A", 1), await createRange(lab, "B", 2), await createRange(lab, "C", 3)]
  const instances = ranges.map(({ id }) => ({ process: boot(lab, makeCrashGate(), { owner: id }), heads: [] as RunHead[] }))
  for (const [at, range] of ranges.entries())
    await instances[at]!.process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const head = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), ({ event }) => event.type === "Planned"))
        instances[at]!.heads.push(head)
      }),
    )
  for (const { process, heads } of instances) {
    const ends = await process.runPromise(
      Effect.flatMap(RunEngine, (engine) => Effect.forEach(heads, ({ id }) => engine.wait(id))),
    )
    expect(ends.map(({ message }) => message)).toEqual([""])
    await process.dispose()
  }
  expectEven(lab)
})
