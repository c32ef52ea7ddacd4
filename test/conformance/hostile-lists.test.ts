import { operations } from "@rangewright/application"
import { afterAll, beforeAll, expect, it } from "vitest"
import { pathOf } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService({ testing: true })
})
afterAll(() => service.stop())

const addresses = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `203.0.${Math.floor(i / 250)}.${i % 250}`)
const entries = [
  { ips: addresses(10_000) },
  { ips: addresses(201) },
  { domains: Array.from({ length: 10_000 }, (_, i) => `n${i}.example.com`) },
  { ips: "203.0.113.1" },
  { ips: { 0: "203.0.113.1" } },
  { ips: ["203.0.113.1", 5] },
  { ips: ["203.0.113.1", null] },
  { ips: [["203.0.113.1"]] },
  { domains: true },
  { domains: ["example.com", {}] },
]
const machines = [
  ...["all", "", "*", true, 7, {}, [1.5], [[]], [null], ["x"], ["all"], [{}], [true], ["1e9999"]].map((vmids) => ({
    name: "clean",
    vmids,
  })),
  { vmids: [20_000] },
  ...[5, null, true, [], {}, ["clean"]].map((name) => ({ name })),
  { name: "clean", atomic: "yes" },
]
const bodies: Readonly<Record<string, readonly object[]>> = {
  allow: entries,
  deny: entries,
  stopTesting: ["yes", 1, [], {}].map((force) => ({ force })),
  update: [{}, ...[5, null, true, ["R1-win11"], {}].map((name) => ({ name }))],
  snapshotsTake: [...machines, { name: "clean", includeRAM: "yes" }, { name: "clean", description: 5 }],
  snapshotsRollback: machines,
  snapshotsRemove: machines.filter((body) => !("atomic" in body)),
}

/** Everything that a request could change: the stored state without the audit of the refusal, and the VMs. */
const state = () =>
  JSON.stringify([
    [...service.store.ranges],
    [...service.store.runs.keys()],
    [...service.store.snapshots].map(([id, of]) => [id, [...of]]),
    [...service.world.vms],
  ])

it.each(Object.entries(bodies))(
  "%s refuses lists that are too long or of wrong types with 400, and changes nothing",
  async (id, wrong) => {
    const operation = operations.find((known) => known.id === id)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    const before = state()
    const calls = service.world.calls.length
    for (const body of wrong) {
      const response = await fetch(service.url + pathOf(operation, { query: { rangeID: "R1" } }), {
        method: operation.route.method,
        headers: { "x-api-key": service.keys.admin, "content-type": "application/json" },
        body: JSON.stringify(body),
      })
      const text = await response.text()
      expect([JSON.stringify(body).slice(0, 80), response.status]).toEqual([JSON.stringify(body).slice(0, 80), 400])
      expect(JSON.parse(text)).toEqual(expect.objectContaining({ error: expect.any(String) }))
      // the answer does not echo the whole input
      expect(text.length).toBeLessThan(2000)
    }
    expect(state()).toBe(before)
    expect(service.world.calls.slice(calls).filter(({ mutating }) => mutating)).toEqual([])
  },
)
