import { describe, expect, test } from "vitest"
import { type Installation, planMigration } from "../src/index.ts"
import { card, firstGeneration, keysOf, machine, MigrationModel, options } from "./migration-model.ts"

/** A migration that ended after it had removed both bridges from the configuration, before the reload. */
const unreloaded = (): MigrationModel => {
  const model = new MigrationModel(firstGeneration())
  const { steps } = planMigration(model.installation, options)
  model.apply(steps.filter(({ key }) => key !== "reload-network:pve1"))
  return model
}
const backOn = ({ machines }: Installation, network: string): Installation["machines"] =>
  machines.map((one) => (one.vmid === 110 ? { ...one, nics: [card(0, network, "tag=10", "firewall=1")] } : one))

describe("removals of bridges that an earlier migration has written and not applied", () => {
  test("are applied by the next one when nothing is attached to them", () => {
    const model = unreloaded()
    expect(keysOf(planMigration(model.installation, options))).toEqual(["verify-networks", "reload-network:pve1"])
  })

  test("are reverted first when a machine has come back, also before an apply, and written again at the end", () => {
    for (const vnets of [unreloaded().installation.vnets, []]) {
      const model = unreloaded()
      model.change({ machines: backOn(model.installation, "vmbr1001"), vnets })
      const plan = planMigration(model.installation, options)
      expect(plan.blockers).toEqual([])
      const keys = keysOf(plan)
      expect(keys).toContain("revert-network:pve1")
      expect(plan.steps.find(({ key }) => key === "apply-sdn")?.after ?? ["revert-network:pve1"]).toContain("revert-network:pve1")
      expect(keys.slice(-3)).toEqual(["remove-bridge:pve1/vmbr1001", "remove-bridge:pve1/vmbr1002", "reload-network:pve1"])
      model.apply(plan.steps)
      expect(model.installation.bridges.map(({ name }) => name)).toEqual(["vmbr0", "vmbr1000"])
      expect(planMigration(model.installation, options)).toMatchObject({ idle: "done" })
    }
  })

  test("are reverted when somebody else's machine is attached to the bridge, which stays", () => {
    const model = unreloaded()
    model.change({ machines: [...model.installation.machines, machine(900, { nics: [card(0, "vmbr1001")] })] })
    const plan = planMigration(model.installation, options)
    expect(plan.blockers).toEqual([])
    model.apply(plan.steps)
    expect(model.installation.bridges.map(({ name }) => name)).toEqual(["vmbr0", "vmbr1000", "vmbr1001"])
  })

  test("are not touched while other people's edits are pending on the node", () => {
    const model = unreloaded()
    const nodes = model.installation.nodes.map((one) =>
      one.name === "pve1" ? { ...one, pending: [...one.pending, { name: "vmbr7", change: "added" as const }] } : one,
    )
    model.change({ nodes, machines: backOn(model.installation, "vmbr1001") })
    const { blockers } = planMigration(model.installation, options)
    expect(blockers.map(({ message }) => message)).toEqual([expect.stringContaining("vmbr7 is added")])
  })
})
