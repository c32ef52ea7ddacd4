import { describe, expect, test } from "vitest"
import { type Installation, type InstallationMachine, migrationReport, migrationStatus, planMigration } from "../src/index.ts"
import { card, firstGeneration, keysOf, machine, MigrationModel, node, options, range } from "./migration-model.ts"

const migrated = (): MigrationModel => {
  const model = new MigrationModel(firstGeneration())
  model.apply(planMigration(model.installation, options).steps)
  return model
}
const withMachine = (installation: Installation, vmid: number, more: Partial<InstallationMachine>): Installation => ({
  ...installation,
  machines: installation.machines.map((one) => (one.vmid === vmid ? { ...one, ...more } : one)),
})
const reported = (installation: Installation) =>
  migrationReport(installation, options).map(({ vmid, name, present, nics }) => [vmid, name, present, nics[0]?.state])

describe("the report of a migration", () => {
  test("does not confuse a machine with the one that had its VMID before", () => {
    const { installation } = migrated()
    for (const other of [{ name: "LAB1-new" }, { pool: "LAB2" }, { pool: undefined }])
      expect(reported(withMachine(installation, 110, other))).toContainEqual([110, "LAB1-dc", false, "gone"])
    const marked = { description: `{"rangewright":{"range":"LAB1","machine":"LAB1-other"}}`, name: "LAB1-other" }
    expect(reported(withMachine(installation, 110, marked))).toContainEqual([110, "LAB1-dc", false, "gone"])
  })

  test("recognizes a renamed machine by its mark", () => {
    expect(reported(withMachine(migrated().installation, 120, { name: "renamed" }))).toContainEqual([
      120,
      "renamed",
      true,
      "moved",
    ])
  })

  test("reports both when a later migration finds another machine under a recorded VMID", () => {
    const model = migrated()
    model.change(withMachine(model.installation, 110, { name: "LAB1-new", nics: [card(0, "vmbr1001")] }))
    model.apply(planMigration(model.installation, options).steps)
    expect(reported(model.installation).filter(([vmid]) => vmid === 110)).toEqual([
      [110, "LAB1-new", true, "moved"],
      [110, "LAB1-dc", false, "gone"],
    ])
  })
})

describe("the status of a migration", () => {
  const down = (installation: Installation): Installation => ({
    ...installation,
    nodes: [{ ...node("pve1", "10.0.0.1"), online: false }, node("pve2", "10.0.0.2")],
  })

  test("does not claim to be done while it is unknown which networks machines use", () => {
    const dark = down(withMachine(migrated().installation, 110, { nics: undefined }))
    expect(migrationStatus(dark, options)).toMatchObject({ needsMigration: true })
    expect(migrationStatus(dark, options).message).toContain(
      "it is not known where a machine is attached (LAB1-dc (VM 110 on pve1))",
    )
    expect(planMigration(dark, options).blockers.map(({ code }) => code)).toEqual(["node-offline"])
  })

  test("uses the last known state of machines that cannot be read now, and says so", () => {
    const dark = down(withMachine(migrated().installation, 110, { unseen: true }))
    expect(migrationStatus(dark, options)).toMatchObject({ needsMigration: false })
    expect(migrationStatus(dark, options).message).toContain("1 machine on pve1 cannot be read now, and counts as last seen.")
    const before = down(withMachine(firstGeneration(), 110, { unseen: true }))
    expect(migrationStatus(before, options)).toMatchObject({ needsMigration: true })
  })

  test("needs nothing for a range without machines and without a bridge: its first deploy creates its VNet", () => {
    const model = migrated()
    model.change({ ranges: [...model.installation.ranges, range(7)] })
    expect(migrationStatus(model.installation, options)).toMatchObject({ needsMigration: false })
    expect(planMigration(model.installation, options)).toMatchObject({ idle: "done", steps: [] })
    model.change({ machines: [...model.installation.machines, machine(170, { name: "LAB7-dc", pool: "LAB7" })] })
    expect(migrationStatus(model.installation, options).message).toContain("1 VNet is missing (r7)")
    expect(keysOf(planMigration(model.installation, options))).toContain("create-vnet:r7")
  })

  test("says that the zone has the wrong type", () => {
    const { installation } = migrated()
    const simple = { ...installation, zones: installation.zones.map((zone) => ({ ...zone, type: "simple" })) }
    expect(migrationStatus(simple, options)).toMatchObject({ needsMigration: true })
    expect(migrationStatus(simple, options).message).toBe(
      "the zone ludus has the type simple, but must be VXLAN. Set sdn_zone to the name of a VXLAN zone.",
    )
  })
})

describe("a machine with a card change that is pending until its next start", () => {
  const waiting = (text: string): Installation => withMachine(firstGeneration(), 110, { waiting: [{ nic: "net0", text }] })

  test("blocks a migration, and is named", () => {
    for (const text of [card(0, "r1").text, card(0, "vmbr1001", "mtu=1400").text, ""])
      expect(planMigration(waiting(text), options).blockers.map(({ code, message }) => [code, message])).toEqual([
        ["machine-pending", "LAB1-dc (VM 110 on pve1) has changes of net0 that wait for its next start"],
      ])
  })

  test("counts with its current network: the migration is needed", () => {
    expect(migrationStatus(waiting(card(0, "r1").text), options)).toMatchObject({ needsMigration: true })
  })

  test("does not matter when none of the old networks is concerned", () => {
    const other = { ...firstGeneration() }
    const nics = [card(0, "vmbr1001"), card(1, "vmbr0")]
    expect(planMigration(withMachine(other, 110, { nics, waiting: [{ nic: "net1", text: "" }] }), options).blockers).toEqual([])
  })
})
