import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab, outerAddress, password as templates, routerInput, routerName } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

describe.skipIf(obstacle !== undefined)(`logins of machines${skipNote(obstacle)}`, { timeout: patience }, () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await openLab()
    await lab.setConfig(`ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
`)
    await lab.addRouter([10])
    await lab.addMachine({ name: "LAB-web", vlan: 10, octet: 10 })
  }, patience)
  afterAll(() => lab?.close(), patience)

  const router = (login: "generated" | undefined = "generated") =>
    lab.perform(lab.task(routerName, "router", { ...Object(routerInput), ...(login === undefined ? {} : { login }) }))
  const address = (login: "generated" | undefined) =>
    lab.perform(
      lab.task("LAB-web", "address", {
        interface: 0,
        address: "10.7.10.10/24",
        gateway: "10.7.10.254",
        dns: ["10.7.10.254"],
        hostname: "LAB-web",
        timezone: "Europe/Berlin",
        ...(login === undefined ? {} : { login }),
      }),
    )
  const letsIn = (at: string, password: string): boolean => {
    const [program = "", ...inFront] = lab.hosts.outside
    const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "PubkeyAuthentication=no", "LogLevel=ERROR"]
    const ssh = ["ssh", ...options.flatMap((option) => ["-o", option]), `root@${at}`, "true"]
    try {
      execFileSync(program, [...inFront, "sshpass", "-e", ...ssh], { env: { ...process.env, SSHPASS: password }, stdio: "pipe" })
      return true
    } catch (error) {
      expect(String((error as { readonly stderr: Buffer }).stderr)).toContain("Permission denied")
      return false
    }
  }
  const packages = (name: string) => lab.perform(lab.task(name, "packages", { packages: [] }))

  it("routers get their own, which nothing prints, and their template's stops working", async () => {
    const first = await router()
    expect(first).toMatchObject({ fault: "", ok: true, address: outerAddress })
    const { current = "", pending } = await lab.login(routerName)
    expect(pending).toBeUndefined()
    expect(current).toMatch(/^Rw1-[A-Za-z0-9]{24}$/u)
    expect(letsIn(outerAddress, current)).toBe(true)
    expect(letsIn(outerAddress, templates)).toBe(false)
    expect(first.log).not.toContain(current)

    const verbose = { ...lab.task(routerName, "packages", { packages: [] }), verbose: true }
    const next = await lab.perform(verbose)
    expect(next).toMatchObject({ fault: "", ok: true })
    expect(next.log).not.toContain(current)
    expect(await router()).toMatchObject({ fault: "", ok: true, changed: false })
    expect(await lab.login(routerName)).toEqual({ current })
  })

  it("machines keep their template's where the range does not ask for another", async () => {
    expect(await address(undefined)).toMatchObject({ fault: "", ok: true })
    expect(await lab.login("LAB-web")).toEqual({})
    expect(letsIn("10.7.10.10", templates)).toBe(true)
  })

  it("machines get their own where the range asks for it, which roles find, and lose it where it no longer does", async () => {
    expect(await address("generated")).toMatchObject({ fault: "", ok: true, changed: true })
    const { current = "" } = await lab.login("LAB-web")
    expect(current).not.toBe((await lab.login(routerName)).current)
    expect([letsIn("10.7.10.10", current), letsIn("10.7.10.10", templates)]).toEqual([true, false])
    expect(await address("generated")).toMatchObject({ fault: "", ok: true, changed: false })
    await lab.addRole("knows", {
      "tasks/main.yml": "- ansible.builtin.copy: {dest: /root/known, content: '{{ ansible_password }}', mode: '0600'}\n",
    })
    const role = await lab.perform(lab.task("LAB-web", "role", { role: "knows", vars: {} }))
    expect(role).toMatchObject({ fault: "", ok: true })
    expect(readFileSync(join(lab.host("LAB-web").root, "root/known"), "utf8")).toBe(current)
    expect(role.log).not.toContain(current)

    expect(await address(undefined)).toMatchObject({ fault: "", ok: true, changed: true })
    expect(letsIn("10.7.10.10", templates)).toBe(true)
    // a snapshot may have the other one, and so has the machine after a rollback
    expect(await lab.login("LAB-web")).toEqual({ pending: current })
    expect(await lab.host("LAB-web").run("sh", "-c", `echo root:${current} | chpasswd -c SHA512`)).toMatchObject({ code: 0 })
    expect(await packages("LAB-web")).toMatchObject({ fault: "", ok: true })
    expect(await address(undefined)).toMatchObject({ fault: "", ok: true, changed: true })
  })

  it("a stage interrupted between storing and setting a password, or between setting and confirming it, is repaired", async () => {
    await lab.keepLogin("LAB-web", { pending: "Rw1-before-it-was-set" })
    expect(await address("generated")).toMatchObject({ fault: "", ok: true, changed: true })
    expect(await lab.login("LAB-web")).toEqual({ current: "Rw1-before-it-was-set" })
    expect(letsIn("10.7.10.10", "Rw1-before-it-was-set")).toBe(true)

    await lab.keepLogin("LAB-web", { pending: "Rw1-before-it-was-set" })
    expect(await address("generated")).toMatchObject({ fault: "", ok: true, changed: false })
    expect(await lab.login("LAB-web")).toEqual({ current: "Rw1-before-it-was-set" })

    await lab.keepLogin("LAB-web", { pending: "Rw1-before-it-was-set" })
    expect(await packages("LAB-web")).toMatchObject({ fault: "", ok: true })
    expect(await lab.login("LAB-web")).toEqual({ current: "Rw1-before-it-was-set" })
  })

  it("a machine that was rolled back has its template's again, until the stage gives it its own", async () => {
    await lab.keepLogin("LAB-web", { current: "Rw1-of-a-later-day" })
    expect(await lab.host("LAB-web").run("sh", "-c", `echo root:${templates} | chpasswd -c SHA512`)).toMatchObject({ code: 0 })
    expect(await packages("LAB-web")).toMatchObject({ fault: "", ok: true })
    expect(await lab.login("LAB-web")).toEqual({ pending: "Rw1-of-a-later-day" })
    expect(await address("generated")).toMatchObject({ fault: "", ok: true, changed: true })
    expect(await lab.login("LAB-web")).toEqual({ current: "Rw1-of-a-later-day" })
  })

  it("a machine that refuses all known logins fails at once, and no others are tried", async () => {
    expect(await lab.host("LAB-web").run("sh", "-c", "echo root:somebody-else | chpasswd -c SHA512")).toMatchObject({ code: 0 })
    for (const refused of [await address("generated"), await packages("LAB-web")]) {
      expect(refused).toMatchObject({ ok: false, reason: "failed" })
      expect(refused.fault).toContain("the login was refused")
    }
    expect(await lab.login("LAB-web")).toEqual({ current: "Rw1-of-a-later-day" })
  })
})
