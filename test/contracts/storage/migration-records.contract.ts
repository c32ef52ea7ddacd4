import type { MigrationRecord, RangeId, Vmid } from "@rangewright/domain"
import { MigrationRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it, type SuiteCollector } from "vitest"
import { promises, type StorageUnderTest } from "./storage-under-test.ts"

const record = (zone: string): MigrationRecord => ({
  version: 1,
  zone,
  natBridge: "vmbr5",
  natVnet: "ludusnat",
  madeZone: true,
  madeVnets: ["ludusnat", "r1"],
  bridges: [
    {
      node: "pve1",
      name: "vmbr1000",
      ports: [],
      address: "192.0.2.254/24",
      settings: { autostart: 1, comments: 'it\'s\n"old"' },
    },
    { node: "pve1", name: "vmbr1001", ports: [], settings: {} },
  ],
  machines: [
    {
      vmid: 110 as Vmid,
      name: "LAB1-dc",
      node: "pve1",
      range: "LAB1" as RangeId,
      nics: [{ nic: "net0", text: "virtio=BC:24:11:00:00:01,bridge=vmbr1001,tag=10" }],
    },
    { vmid: 111 as Vmid, name: "ADMIN-share", node: "pve1", nics: [] },
  ],
})

export const migrationRecordsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: migration records`, () => {
    const promise = promises(storage)

    promise(
      "has none at first, then the last saved one, then none",
      Effect.gen(function* () {
        const records = yield* MigrationRecords
        expect(yield* records.find).toBeUndefined()
        yield* records.save(record("one"))
        expect(yield* records.find).toEqual(record("one"))
        yield* records.save(record("two"))
        expect(yield* records.find).toEqual(record("two"))
        yield* records.remove
        expect(yield* records.find).toBeUndefined()
        yield* records.remove
      }),
    )

    it("a record survives a restart", async () => {
      const { layer, remove } = await storage.empty()
      try {
        const within = <A, E>(effect: Effect.Effect<A, E, MigrationRecords>) =>
          Effect.runPromise(Effect.scoped(Effect.provide(effect, layer)))
        await within(MigrationRecords.use((records) => records.save(record("one"))))
        expect(await within(MigrationRecords.use((records) => records.find))).toEqual(record("one"))
      } finally {
        await remove()
      }
    })
  })
