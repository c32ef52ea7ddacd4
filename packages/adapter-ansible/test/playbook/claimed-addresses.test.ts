import { macOf, type Vmid } from "@rangewright/domain"
import type { RealHost } from "@rangewright/pve-simulator"
import { execFileSync } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

const config = `ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
  - {vm_name: "{{ range_id }}-db", hostname: db, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 20, ram_gb: 2, cpus: 2, linux: true}
`

describe.skipIf(obstacle !== undefined)(
  `machines that claim addresses of others${skipNote(obstacle)}`,
  { timeout: patience },
  () => {
    let lab: Lab
    let web: RealHost
    let stranger: RealHost
    beforeAll(async () => {
      lab = await openLab()
      await lab.setConfig(config)
      web = await lab.addMachine({ name: "LAB-web", vlan: "near", octet: 10 })
      await lab.addMachine({ name: "LAB-db", vlan: "near", octet: 20 })
      // another range's machine, which the service reaches and which has the same login
      stranger = await lab.hosts.add({
        name: "stranger",
        nics: [{ vlan: 1, mac: macOf(29_000 as Vmid, 0), address: "10.3.10.11/24", gateway: "10.3.10.254" }],
      })
      const [program = "", ...args] = lab.hosts.outside
      execFileSync(program, [...args, "ip", "address", "add", "10.3.10.254/24", "dev", "eth0"])
    }, patience)
    afterAll(() => lab?.close(), patience)

    const wear = async (...addresses: readonly string[]) => {
      await web.run("ip", "address", "flush", "dev", "eth0")
      for (const address of addresses) await web.run("ip", "address", "add", address, "dev", "eth0")
    }
    // nothing but the stage writes here
    const touched = async (host: RealHost) => (await host.run("ls", "-A", "/root")).output !== ""
    const role = () => lab.perform(lab.task("LAB-web", "role", { role: "touch", vars: {} }))
    const packages = () => lab.perform(lab.task("LAB-web", "packages", { packages: [] }))

    it("are not connected to at another range's address, and the fault names it", async () => {
      await lab.addRole("touch", {
        "tasks/main.yml": "- ansible.builtin.file: {path: /root/touched, state: touch, mode: '0600'}\n",
      })
      await wear("10.3.10.11/32")
      for (const tried of [await packages(), await role()]) {
        expect(tried.reason).toBe("away")
        expect(tried.fault).toContain("reports the address 10.3.10.11, which does not belong to it, so it is not used")
      }
      expect(await touched(stranger)).toBe(false)
    })

    it("are reached at their own address beside it, and the step warns", async () => {
      await wear("10.3.10.11/32", "10.7.10.10/24")
      const { ok, fault, warnings } = await packages()
      expect({ ok, fault, warnings }).toEqual({
        ok: true,
        fault: "",
        warnings: ["LAB-web reports the address 10.3.10.11, which does not belong to it, so it is not used"],
      })
    })

    it("are not connected to at the router's address or that of a neighbour", async () => {
      for (const address of ["10.7.10.254", "10.7.10.20", "192.0.2.107", "192.0.2.60"]) {
        await wear(`${address}/32`)
        expect((await packages()).fault, address).toContain(`reports the address ${address}, which does not belong to it`)
      }
    })

    it("at which another machine answers are left alone: their network card tells who it is", async () => {
      // an address of the VLAN's pool that the neighbour has too, and has first
      await lab.host("LAB-db").run("ip", "address", "add", "10.7.10.150/24", "dev", "eth0")
      await web.run("ip", "link", "set", "eth0", "down")
      await wear("10.7.10.150/32")
      for (const tried of [await packages(), await role()]) {
        expect(tried.ok).toBe(false)
        expect(tried.fault).toContain("another machine answers at its address 10.7.10.150")
      }
      expect(await touched(lab.host("LAB-db"))).toBe(false)
    })
  },
)
