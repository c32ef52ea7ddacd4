import { type JumpHost, jumpFindings } from "@rangewright/adapter-ansible"
import { macOf, type Vmid } from "@rangewright/domain"
import type { RealHost } from "@rangewright/pve-simulator"
import { reachCommand } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { dialFrom, type Lab, openLab, password } from "./support/lab.ts"
import { obstacle, patience, sandboxObstacle, skipNote } from "./support/obstacle.ts"

const address = "192.0.2.70"
const login = { type: "password", password: Redacted.make(password) } as const

describe.skipIf(obstacle !== undefined)(`machines behind a jump host${skipNote(obstacle)}`, { timeout: patience }, () => {
  let lab: Lab
  let jump: RealHost
  let hostKey: string
  let byKey: JumpHost
  /** The lab reads it for each run: what is known of the jump host when there is one comes later. */
  const route: { -readonly [K in keyof JumpHost]: JumpHost[K] } & { type: "jump" } = {
    type: "jump",
    host: address,
    user: "root",
    login,
  }

  beforeAll(async () => {
    lab = await openLab({ route }, false)
    await lab.setConfig(`ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
`)
    jump = await lab.hosts.add({
      name: "jump",
      nics: [
        { vlan: 1, mac: macOf(29_000 as Vmid, 0), address: `${address}/24` },
        { vlan: 10, mac: macOf(29_000 as Vmid, 1), address: "10.7.10.200/24" },
      ],
    })
    hostKey = (await jump.run("ssh-keygen", "-y", "-f", "/etc/ssh/host_key")).output.trim()
    const file = join(lab.folder, "jump-key")
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file])
    const authorized = readFileSync(`${file}.pub`, "utf8").trim()
    await jump.run(
      "sh",
      "-c",
      `mkdir -m 700 /root/.ssh && echo 'restrict,port-forwarding ${authorized}' > /root/.ssh/authorized_keys`,
    )
    byKey = { host: address, port: 22, user: "root", hostKey, login: { type: "key", file } }
    await lab.addMachine({ name: "LAB-web", vlan: 10, octet: 10 })
    route.hostKey = hostKey
  }, patience)
  afterAll(() => lab?.close(), patience)

  const packages = () => lab.perform(lab.task("LAB-web", "packages", { packages: [] }))

  it("are reached with its password", async () => {
    route.login = login
    expect(await packages()).toMatchObject({ fault: "", ok: true, changed: false })
  })

  it("are reached with a key that may do nothing but forward, also at the address that a stage gives them", async () => {
    route.login = byKey.login
    const given = {
      interface: 0,
      address: "10.7.10.11/24",
      gateway: "10.7.10.254",
      dns: ["10.7.10.254"],
      hostname: "LAB-web",
      timezone: "Europe/Berlin",
    }
    expect(await lab.perform(lab.task("LAB-web", "address", given))).toMatchObject({ fault: "", ok: true, address: "10.7.10.11" })
    expect(await lab.host("LAB-web").addresses()).toEqual(["10.7.10.11"])
  })

  it("are unreachable, with the reason, while it has another host key, refuses or does not answer", async () => {
    const other = join(lab.folder, "other")
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", other])
    const tried = async (more: Partial<JumpHost>) => {
      Object.assign(route, byKey, more)
      const { reason, fault } = await packages()
      Object.assign(route, byKey)
      expect(reason).toBe("away")
      return fault
    }
    const named = `the jump host root@${address}:22 cannot be used: `
    const pinned = readFileSync(`${other}.pub`, "utf8").split(" ").slice(0, 2).join(" ")
    expect(await tried({ hostKey: pinned })).toContain(`${named}`)
    expect(await tried({ hostKey: pinned })).toContain("Host key verification failed")
    expect(await tried({ login: { type: "key", file: other } })).toContain("Permission denied")
    const wrong = await tried({ login: { type: "password", password: Redacted.make("not the password") } })
    expect(wrong).toContain(named)
    expect(wrong).not.toContain("not the password")
    expect(await tried({ port: 23 })).toContain("connection refused")
  })

  it("share one connection, which is reopened when it was lost", async () => {
    Object.assign(route, byKey)
    const open = () => readdirSync(join(lab.folder, "automation", "runs"))
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const lose = async () => {
      await jump.run("pkill", "-f", "^sshd: root")
      await until(() => open().length === 0)
    }
    await lose()
    for (const result of await Promise.all([packages(), packages(), packages()])) expect(result).toMatchObject({ fault: "" })
    const [way] = open()
    expect(open()).toHaveLength(1)
    expect(await packages()).toMatchObject({ fault: "" })
    expect(open()).toEqual([way])
    await lose()
    expect(await packages()).toMatchObject({ fault: "" })
  })

  it("whether it answers can be asked beforehand", async () => {
    const options = { folder: lab.folder, library: lab.library, tools: { dial: dialFrom(lab.hosts.outside) } }
    const look = (given: JumpHost) => Effect.runPromise(jumpFindings({ ...options, route: { type: "jump", ...given } }))
    expect(await look(byKey)).toMatchObject([{ level: "ok", what: "jump host" }])
    expect(await look({ ...byKey, port: 23 })).toMatchObject([
      { level: "fail", detail: expect.stringContaining("refused") as string },
    ])
    expect(await Effect.runPromise(jumpFindings(options))).toEqual([])
  })

  it.skipIf(sandboxObstacle !== undefined)(
    `its credentials are out of reach of roles, which reach other machines through it${skipNote(sandboxObstacle)}`,
    async () => {
      Object.assign(route, byKey, { login })
      const [own = ""] = await lab.host("LAB-web").addresses()
      const asked = [own, "127.0.0.1", "10.8.10.1"].map((to) => `${reachCommand(to, "22")} </dev/null | head -c 4`)
      await lab.addRole("curious", {
        "tasks/main.yml": `- name: Look for credentials on the service's host, and speak to what is no machine of the range
  ansible.builtin.shell: "{{ item }}"
  loop:
    - "grep -rsl -e '${password.replace("-", "[-]")}' -e 'PRIVATE [K]EY' .. ~ /tmp; cat ${join(lab.folder, "jump-key")}; ls ../*/password"
    - "ls .. | wc -l"
    - "${asked.join("; ")}"
  delegate_to: localhost
  register: found
  failed_when: false
- name: Tell
  ansible.builtin.copy: {dest: /root/found, content: "{{ found.results | map(attribute='stdout') | to_json }}", mode: "0600"}
`,
      })
      expect(await lab.perform(lab.task("LAB-web", "role", { role: "curious", vars: {} }))).toMatchObject({ fault: "" })
      const told = JSON.parse((await lab.host("LAB-web").run("cat", "/root/found")).output) as readonly string[]
      const [files = "", folders, said] = told
      // the lab's machines have the same password as the jump host: the inventory of their own range is what a role may see
      expect(files.split("\n").filter((line) => !line.endsWith("/connections.json") && line !== "")).toEqual([])
      expect(folders).toBe("1")
      expect(said).toBe("SSH-")
      expect(existsSync(join(lab.folder, "jump-key"))).toBe(true)
    },
  )
})
