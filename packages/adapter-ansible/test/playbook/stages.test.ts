import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab, rangeId } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

/** As wide as Ansible prints it where no terminal tells otherwise. */
const heading = (words: string): string => `${words} ${"*".repeat(79 - words.length)}`

describe.skipIf(obstacle !== undefined)(
  `stages with ansible-playbook on real hosts${skipNote(obstacle)}`,
  { timeout: patience },
  () => {
    let lab: Lab
    beforeAll(async () => {
      lab = await openLab()
      await lab.addMachine({ name: "LAB-web", vlan: "near", octet: 10, first: "10.7.10.161/24" })
      await lab.setConfig(`ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 10
    ram_gb: 2
    cpus: 2
    linux: true
`)
    }, patience)
    afterAll(() => lab?.close())

    const address = {
      interface: 0,
      address: "10.7.10.10/24",
      gateway: "10.7.10.254",
      dns: ["10.7.10.254", "10.7.10.253"],
      search: "home.arpa",
      hostname: "LAB-web",
      timezone: "Europe/Berlin",
    }

    it("a machine gets its address, name, time zone and name servers, and is the same afterwards", async () => {
      const first = await lab.perform(lab.task("LAB-web", "address", address))
      expect(first).toMatchObject({ fault: "", ok: true, changed: true, address: "10.7.10.10" })
      const host = lab.host("LAB-web")
      expect(await host.addresses()).toEqual(["10.7.10.10"])
      expect((await host.run("hostname")).output).toBe("LAB-web\n")
      expect((await host.run("readlink", "/etc/localtime")).output).toBe("/usr/share/zoneinfo/Europe/Berlin\n")
      expect((await host.run("cat", "/etc/resolv.conf")).output).toBe(
        "search home.arpa\nnameserver 10.7.10.254\nnameserver 10.7.10.253\n",
      )
      expect((await host.run("cat", "/etc/network/interfaces")).output).toContain("address 10.7.10.10/24")

      const second = await lab.perform(lab.task("LAB-web", "address", address))
      expect(second).toMatchObject({ fault: "", ok: true, changed: false, address: "10.7.10.10" })
    })

    it("texts of a configuration are never evaluated as templates", async () => {
      const hostile = "x.{{ lookup('pipe', 'id') }}"
      const { ok } = await lab.perform(lab.task("LAB-web", "address", { ...address, search: hostile }))
      expect(ok).toBe(true)
      expect((await lab.host("LAB-web").run("cat", "/etc/resolv.conf")).output).toContain(`search ${hostile}`)
    })

    it("packages that are there are left alone, and one that cannot be had fails with the manager's words", async () => {
      const there = await lab.perform(lab.task("LAB-web", "packages", { packages: [] }))
      expect(there).toMatchObject({ fault: "", ok: true, changed: false })
      const missing = await lab.perform(lab.task("LAB-web", "packages", { packages: ["no-such-package-here"] }))
      expect(missing.reason).toBe("failed")
      expect(missing.fault).toMatch(
        /^Cannot run stage packages on LAB-web: task "Install the packages" failed: No package matching 'no-such-package-here'/u,
      )
    })

    it("the log has the lines that Ansible itself prints", async () => {
      const { log } = await lab.perform(lab.task("LAB-web", "packages", { packages: [] }))
      const lines = log.split("\n")
      expect(lines).toContain(heading("PLAY [Install packages on LAB-web]"))
      expect(lines).toContain(heading("TASK [See what is installed]"))
      expect(lines).toContain("ok: [LAB-web]")
      expect(log).toMatch(
        /PLAY RECAP \*+\nLAB-web +: ok=3 +changed=0 +unreachable=0 +failed=0 +skipped=\d+ +rescued=0 +ignored=0/u,
      )
    })

    it("a machine that does not answer is unreachable, and one without the mark is left alone", async () => {
      await lab.host("LAB-web").run("pkill", "-f", "sshd -D")
      const away = await lab.perform(lab.task("LAB-web", "packages", { packages: [] }))
      expect(away.reason).toBe("away")
      const task = lab.task("LAB-web", "packages", { packages: [] })
      const stranger = { ...task, machine: { ...task.machine, mark: { range: rangeId, machine: "LAB-other" } } }
      expect((await lab.perform(stranger)).fault).toContain("does not carry the mark")
    })
  },
)
