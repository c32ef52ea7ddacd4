import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab, outerAddress, routerInput, routerName } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

describe.skipIf(obstacle !== undefined)(
  `machines behind their range's router${skipNote(obstacle)}`,
  { timeout: patience },
  () => {
    let lab: Lab
    beforeAll(async () => {
      lab = await openLab({ route: { type: "router" } }, false)
      await lab.setConfig(`ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
`)
      await lab.addRouter([10])
      await lab.addMachine({ name: "LAB-web", vlan: 10, octet: 10 })
    }, patience)
    afterAll(() => lab?.close(), patience)

    it("are reached through it by a host that has no way to their network", async () => {
      const router = await lab.perform(lab.task(routerName, "router", routerInput))
      expect(router).toMatchObject({ fault: "", ok: true, changed: true, address: outerAddress })
      const packages = await lab.perform(lab.task("LAB-web", "packages", { packages: [] }))
      expect(packages).toMatchObject({ fault: "", ok: true, changed: false })
    })
  },
)
