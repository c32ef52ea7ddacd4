import { readMigrationStatus } from "@rangewright/application"
import { expect, it } from "vitest"
import { asRoot } from "../contracts/hypervisor/support/rig.ts"
import { bootMigration, endOf, makeMigrationLab, migrate, unreachable } from "./support/lab.ts"

it("a node that was unreachable when the SDN was applied shows in the status, and gets its VNets in the next migration", async () => {
  const lab = makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true })
  const process = bootMigration(lab)
  const later = () => new Promise<void>((resolve) => void lab.clock.schedule(120_000, resolve))
  /** The status after some time: one observation serves all callers for a while. */
  const status = () => later().then(() => process.runPromise(readMigrationStatus))
  await migrate(process)
  const end = endOf(lab)
  expect(await status()).toMatchObject({ needs_migration: false })

  await asRoot(lab.sim, "POST", "/cluster/sdn/vnets", "vnet=theirs&zone=ludus&tag=9000")
  await asRoot(lab.sim, "PUT", "/cluster/sdn")
  await later()
  const outage = lab.sim.faults.add({ kind: "node-down", node: "pve3" })
  await asRoot(lab.sim, "DELETE", "/cluster/sdn/vnets/theirs")
  await asRoot(lab.sim, "PUT", "/cluster/sdn")
  await later()
  // the state of an unreachable node is unknown
  expect(await status()).toMatchObject({ needs_migration: false })
  lab.sim.faults.remove(outage)

  expect(await status()).toMatchObject({
    needs_migration: true,
    message: expect.stringMatching(/^4 VNets have not been applied on pve3 \(ludusnat, r1, r2, r3\)/u),
  })
  const applies = lab.sim.calls.counts().byRoute["PUT /cluster/sdn"] ?? 0
  expect(await migrate(process)).toMatch(/^The migration to SDN VNets finished successfully: 0 machines moved/u)
  expect(lab.sim.calls.counts().byRoute["PUT /cluster/sdn"]).toBe(applies + 1)
  expect(await status()).toMatchObject({ needs_migration: false })
  expect(endOf(lab)).toEqual(end)
  expect(unreachable(lab)).toEqual([])
  await process.dispose()
})
