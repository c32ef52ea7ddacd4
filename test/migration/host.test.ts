import { hostFilePrefix, interfacesFolder } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { asRoot } from "../contracts/hypervisor/support/rig.ts"
import { machinesOf } from "./support/first-generation.ts"
import { bootMigration, endOf, makeMigrationLab, migrate, type MigrationLab, outOfReach } from "./support/lab.ts"

const makeLab = (): MigrationLab => makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true }, {}, "pve1")
const gatewayOf = ({ sim }: MigrationLab) => sim.state.nodes.get("pve1")!
const filesOf = (lab: MigrationLab): readonly string[] => [...gatewayOf(lab).host.files.keys()]
const fileFor = (device: string): string => `${interfacesFolder}/${hostFilePrefix}${device}`

describe("the gateway of a migrated installation", () => {
  it("reaches every range through the VNet, even after a reboot, and through the bridge after the way back", async () => {
    const lab = makeLab()
    expect(outOfReach(lab)).toEqual([])
    const process = bootMigration(lab)
    expect(await migrate(process)).toContain("By hand: On node pve1: let its DHCP and name service listen on ludusnat.")
    expect(outOfReach(lab)).toEqual([])
    expect(filesOf(lab)).toEqual([fileFor("ludusnat")])
    expect(gatewayOf(lab).interfaces.get("vmbr1000")?.["cidr"]).toBeUndefined()
    expect(await migrate(process)).toMatch(/^Nothing to migrate/u)

    lab.sim.faults.remove(lab.sim.faults.add({ kind: "node-off", node: "pve1" }))
    for (let range = 1; range <= lab.ranges; range++)
      for (const { vmid } of machinesOf(range)) lab.sim.guest(vmid)!.status = "running"
    expect(outOfReach(lab)).toEqual([])

    await migrate(process, "to-bridges")
    expect(outOfReach(lab)).toEqual([])
    expect(filesOf(lab)).toEqual([fileFor("vmbr1000")])
    expect(gatewayOf(lab).interfaces.get("vmbr1000")?.["cidr"]).toBe("192.0.2.254/24")
    expect([...gatewayOf(lab).host.routes.values()].every(({ device }) => device === "vmbr1000")).toBe(true)
    await process.dispose()
  })

  it("is restored when a migration fails before a machine has moved", async () => {
    const lab = makeLab()
    const before = endOf(lab)
    const process = bootMigration(lab)
    lab.sim.faults.add({ kind: "respond", match: { method: "PUT", path: "/access/acl", nth: 4 }, when: "before", status: 400 })
    await expect(migrate(process)).rejects.toThrow("undone")
    expect(endOf(lab).hosts).toEqual(before.hosts)
    await process.dispose()
  })

  it("keeps edits that somebody else made on the bridge, and names them", async () => {
    const lab = makeLab()
    const process = bootMigration(lab)
    await migrate(process)
    await asRoot(lab.sim, "PUT", "/nodes/pve1/network/vmbr1000", "type=bridge&bridge_vids=2-100")
    const bridge = { type: "bridge", bridge_ports: "" }
    gatewayOf(lab).interfaces.set("vmbr1001", bridge)
    gatewayOf(lab).pendingInterfaces!.set("vmbr1001", bridge)
    await expect(migrate(process)).rejects.toThrow("vmbr1000 is changed")
    await process.dispose()
  })

  it("whose shell does not respond is a blocker, and nothing is changed", async () => {
    const lab = makeLab()
    const before = endOf(lab)
    const silent = { ...lab, sim: { ...lab.sim, command: () => Promise.reject(new Error("connection refused")) } }
    const process = bootMigration(Object.defineProperty(silent, "sim", { value: silent.sim }))
    await expect(migrate(process)).rejects.toThrow("its shell does not answer")
    expect(endOf(lab)).toEqual(before)
    await process.dispose()
  })
})
