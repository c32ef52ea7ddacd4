import { describe, expect, test } from "vitest"
import { type Installation, migrationReport, migrationStatus, planMigration, planReturn } from "../src/index.ts"
import { bridge, card, firstGeneration, keysOf, MigrationModel, options } from "./migration-model.ts"

const networks = ({ machines }: Installation, vmid: number): readonly string[] =>
  (machines.find((one) => one.vmid === vmid)?.nics ?? []).map(({ text }) => /bridge=(\w+)/u.exec(text)?.[1] ?? "")

/** The same installation with an outside bridge that its operator has named. */
const onOtherBridge = (name: string, ports: readonly string[] = []): Installation => {
  const first = firstGeneration({ bridges: [...firstGeneration().bridges, bridge(name, { ports })] })
  return {
    ...first,
    machines: first.machines.map((one) =>
      [100, 111].includes(one.vmid)
        ? { ...one, nics: one.nics!.map(({ nic, text }) => ({ nic, text: text.replace("vmbr1000", name) })) }
        : one,
    ),
  }
}
const migrated = (installation: Installation): MigrationModel => {
  const model = new MigrationModel(installation)
  model.apply(planMigration(installation, options).steps)
  return model
}

describe("an outside bridge that the operator has named", () => {
  test("is recognized by the routers attached to it, and all of our machines leave it", () => {
    const before = onOtherBridge("vmbr5")
    expect(migrationStatus(before, options).message).toContain("4 machines are on old bridges")
    const { installation } = migrated(before)
    expect(networks(installation, 111)).toEqual(["ludusnat", "r1"])
    expect(networks(installation, 100)).toEqual(["ludusnat"])
    expect(installation.bridges.map(({ name }) => name)).toEqual(["vmbr0", "vmbr1000", "vmbr5"])
    expect(planMigration(installation, options)).toMatchObject({ idle: "done" })
    expect(migrationReport(installation, options).flatMap(({ nics }) => nics.map(({ state }) => state))).toEqual(
      Array.from({ length: 5 }, () => "moved"),
    )
  })

  test("is the target of the way back", () => {
    const before = onOtherBridge("vmbr5")
    const model = migrated(before)
    model.apply(planReturn(model.installation, options).steps)
    expect(model.installation.machines).toEqual(before.machines)
    expect(model.installation.record).toBeUndefined()
  })

  test("blocks a migration when routers are on several bridges, and names the ones elsewhere", () => {
    const first = onOtherBridge("vmbr5")
    const kali = { name: "LAB2-router-debian11-x64", nics: [card(0, "vmbr1000")] }
    const two = { ...first, machines: first.machines.map((one) => (one.vmid === 120 ? { ...one, ...kali } : one)) }
    expect(planMigration(two, options).blockers.map(({ code, message }) => [code, message])).toEqual([
      [
        "router-elsewhere",
        "the router LAB1-router-debian11-x64 (VM 111 on pve1) reaches the outside through vmbr5, and others through vmbr1000",
      ],
    ])
  })

  test("with ports is the operator's own network: routers stay on it, with a warning", () => {
    const { blockers, warnings } = planMigration(onOtherBridge("vmbr5", ["eno2"]), options)
    expect(blockers).toEqual([])
    expect(warnings).toContain(
      "the router LAB1-router-debian11-x64 (VM 111 on pve1) reaches the outside through vmbr5, which has the ports eno2, so it stays on it",
    )
  })
})

describe("the way back", () => {
  test.each([{ natVnet: "vmbr1000" }, { natVnet: "other" }, { zone: "other" }])(
    "goes by the names that were migrated to, whatever the settings say now: %j",
    (now) => {
      const model = migrated(firstGeneration())
      const plan = planReturn(model.installation, { ...options, ...now })
      expect(plan.blockers).toEqual([])
      model.apply(plan.steps)
      expect(model.installation.machines).toEqual(firstGeneration().machines)
      expect(model.installation.vnets).toEqual([])
      expect(model.installation.record).toBeUndefined()
    },
  )

  test("has nothing to do once everything is back, even when a setting gives both networks one name", () => {
    const model = migrated(firstGeneration())
    model.apply(planReturn(model.installation, options).steps)
    expect(planReturn(model.installation, { ...options, natVnet: "vmbr1000" })).toMatchObject({ idle: "done", blockers: [] })
  })

  test("keeps its record while a card is not back where it was, and names the card", () => {
    const model = migrated(firstGeneration())
    const astray = (name: string) =>
      model.installation.machines.map((one) =>
        one.vmid === 110 ? { ...one, nics: [card(0, name, "tag=10", "firewall=1")] } : one,
      )
    model.change({ machines: astray("vmbr0") })
    const plan = planReturn(model.installation, options)
    expect(keysOf(plan)).not.toContain("drop-record")
    const byHand = [
      "Put net0 of LAB1-dc (VM 110 on pve1) from vmbr0 back on vmbr1001, where it was before the migration. The record is kept until then.",
    ]
    expect(plan.byHand).toEqual(byHand)
    model.apply(plan.steps)
    expect(planReturn(model.installation, options)).toMatchObject({ idle: "done", byHand, steps: [] })
    model.change({ machines: astray("vmbr1001") })
    expect(keysOf(planReturn(model.installation, options))).toEqual(["drop-record"])
  })
})
