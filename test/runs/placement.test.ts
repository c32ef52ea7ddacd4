import { RunEngine } from "@rangewright/application"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { admin, boot, createRange, deploy } from "./support/lab.ts"
import { addZone, makeSimCompany } from "./support/sim-lab.ts"

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

it("ranges that are deployed at the same time share the nodes of a cluster", { timeout: 60_000 }, async () => {
  const lab = { ...makeSimCompany(3), config: oneMachine }
  await addZone(lab)
  const ranges = [await createRange(lab, "A", 1), await createRange(lab, "B", 2), await createRange(lab, "C", 3)]
  const process = boot(lab)
  const ends = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const start = Effect.forEach(ranges, (range) => engine.start(range, deploy, admin), { concurrency: "unbounded" })
      return yield* Effect.forEach(yield* start, ({ id }) => engine.wait(id), { concurrency: "unbounded" })
    }),
  )
  await process.dispose()
  expect(ends.map(({ message }) => message)).toEqual(["", "", ""])
  const guests = [...lab.sim.state.guests.values()].filter(({ config }) => config["template"] !== 1)
  const sizes = guests.map(({ config }) => Number(config["memory"]))
  const taken = ["pve1", "pve2", "pve3"].map((node) =>
    guests.reduce((sum, guest, at) => sum + (guest.node === node ? (sizes[at] ?? 0) : 0), 0),
  )
  // as even as machines of these sizes allow
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(Math.max(...sizes))
  expect(Math.min(...taken)).toBeGreaterThan(0)
})
