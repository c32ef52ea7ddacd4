import { nicNetwork, type RangeId, type Vmid } from "@rangewright/domain"
import { expect, it } from "vitest"
import { machinesOf, rangesOf } from "./support/first-generation.ts"
import { bootMigration, makeMigrationLab, migrate } from "./support/lab.ts"

it("owed settings of a rollback are migrated too, so that applying them does not undo the move", async () => {
  const lab = makeMigrationLab({ ranges: 1, nodes: ["pve1"], marked: true })
  const rangeId = rangesOf(1)[0]!.id as RangeId
  const vmid = machinesOf(1).at(-1)!.vmid as Vmid
  const bridgeNow = () => nicNetwork(String(lab.sim.guest(vmid)?.config["net0"]))!
  const before = bridgeNow()
  const nic = { index: 0, model: "virtio", mac: "02:00:00:00:00:01", bridge: before, tag: 10, firewall: false }
  const nics = [nic, { ...nic, index: 1, bridge: "vmbr77" }]
  const settings = { cpus: 2, memoryMiB: 2048, balloonMiB: undefined, nics, description: "", tags: [], tablet: true }
  lab.store.owed.set(rangeId, new Map([[vmid, { settings, generation: "before" }]]))
  const process = bootMigration(lab)
  await migrate(process)
  await process.dispose()
  expect(bridgeNow()).not.toBe(before)
  const owed = lab.store.owed.get(rangeId)?.get(vmid)
  expect(owed?.settings.nics.map(({ bridge }) => bridge)).toEqual([bridgeNow(), "vmbr77"])
})
