import { openLicense } from "@rangewright/adapter-memory"
import type { Json } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { mkdir, readdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { type Lab, openLab, userId } from "./support/lab.ts"
import { obstacle, patience, sandboxObstacle, skipNote } from "./support/obstacle.ts"

const config = `ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 10
    ram_gb: 2
    cpus: 2
    linux: true
global_role_vars:
  team: blue
`

const withLab = async (options: Parameters<typeof openLab>[0] = {}): Promise<Lab> => {
  const lab = await openLab(options)
  opened.push(lab)
  await lab.addMachine({ name: "LAB-web", vlan: "near", octet: 10, first: "10.7.10.161/24" })
  await lab.setConfig(config)
  return lab
}
const opened: Lab[] = []
afterEach(async () => {
  for (const lab of opened.splice(0)) await lab.close()
}, patience)

const roleInput = (role: string, more: Readonly<Record<string, Json>> = {}): Json => ({
  role,
  range_id: "LAB",
  range_second_octet: 7,
  ludus_dns_server: "10.7.10.254",
  ...more,
})

const processesWith = (words: string): string => {
  try {
    return execFileSync("pgrep", ["-fa", words]).toString()
  } catch {
    return ""
  }
}

/** Looks until it is so; the test's own time is the limit. */
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

describe.skipIf(obstacle !== undefined)(
  `roles with ansible-playbook on real hosts${skipNote(obstacle)}`,
  { timeout: patience },
  () => {
    it("a role has the variables that it may rely on, those of the configuration win over its own, and a second run changes nothing", async () => {
      const lab = await withLab()
      await lab.addRole("greeting", {
        "defaults/main.yml": "team: default\nsize: 1\n",
        "vars/main.yml": "size: 2\n",
        "tasks/main.yml": `- name: Write what is known
  ansible.builtin.copy:
    dest: /root/known
    content: "{{ team }} {{ size }} {{ both }} {{ ludus_dns_server }} {{ range_id }} {{ ludus[0].vlan }} {{ username }} {{ defaults.timezone }} {{ groups['LAB_linux_endpoints'] | join(',') }}"
`,
      })
      const task = lab.task(
        "LAB-web",
        "role",
        roleInput("greeting", { vars: { team: "blue", size: 3, both: "{{ team }}-team" } }),
      )
      const first = await lab.perform(task)
      expect(first).toMatchObject({ fault: "", ok: true, changed: true })
      expect((await lab.host("LAB-web").run("cat", "/root/known")).output).toBe(
        "blue 3 blue-team 10.7.10.254 LAB 10 alice America/New_York LAB-web",
      )
      expect(first.log).toContain("TASK [greeting : Write what is known]")
      expect(await lab.perform(task)).toMatchObject({ fault: "", changed: false })
    })

    it("a role knows the installation, the sections of the configuration and the service's host, and a variable of its own changes none of them", async () => {
      const lab = await withLab({ variables: { proxmox_url: "https://pve.example:8006", port: 8080 } })
      await lab.setConfig(`${config}notify: {urls: ["https://hooks.example/deploy"]}\nludus_extensions: {ui: {layout: [1, 2]}}\n`)
      const told = {
        entitlements: "{{ ludus_entitlements | join(',') }}",
        hook: "{{ notify.urls[0] }}",
        layout: "{{ ludus_extensions.ui.layout[1] }}",
        port: "{{ port }}",
        bridge: "{{ hostvars['localhost']['range_bridge_name'] }}",
        api: "{{ hostvars['localhost']['api_host'] }}",
        node: "{{ lookup('env', 'PROXMOX_NODE') }}",
        range: "{{ lookup('env', 'LUDUS_RANGE_NUMBER') }}",
        credentials: "{{ lookup('env', 'PROXMOX_TOKEN') }}{{ lookup('env', 'PROXMOX_SECRET') }}",
        hosts: "{{ groups['all'] | join(',') }}",
      }
      await lab.addRole("knows", {
        "tasks/main.yml": JSON.stringify([
          { "ansible.builtin.copy": { dest: "/root/known", content: "{{ told | to_json }}" }, vars: { told } },
        ]),
      })
      const task = lab.task("LAB-web", "role", roleInput("knows", { vars: { port: 1, ludus_entitlements: [] } }))
      expect(await lab.perform(task)).toMatchObject({ fault: "", ok: true })
      const known: unknown = JSON.parse((await lab.host("LAB-web").run("cat", "/root/known")).output)
      expect(known).toEqual({
        entitlements: openLicense.entitlements.join(","),
        hook: "https://hooks.example/deploy",
        layout: "2",
        port: 8080,
        bridge: "vmbr1007",
        api: "pve.example",
        node: "node1",
        range: "7",
        credentials: "",
        hosts: "LAB-web",
      })
    })

    it("a user's own role comes before the global one of its name, and other users' are not found", async () => {
      const lab = await withLab()
      const writes = (words: string) => ({
        "tasks/main.yml": `- ansible.builtin.copy: {dest: /root/whose, content: "${words}"}\n`,
      })
      await lab.addRole("whose", writes("global"), "global")
      await lab.addRole("whose", writes("alice"))
      await lab.addRole("bobs", writes("bob"), "users/bob")
      expect(await lab.perform(lab.task("LAB-web", "role", roleInput("whose")))).toMatchObject({ fault: "" })
      expect((await lab.host("LAB-web").run("cat", "/root/whose")).output).toBe("alice")
      const missing = await lab.perform(lab.task("LAB-web", "role", roleInput("bobs")))
      expect(missing.reason).toBe("failed")
      expect(missing.fault).toContain("the role 'bobs' was not found")
    })

    it("secrets among a role's variables appear neither in the log nor in the failure", async () => {
      const lab = await withLab({ environment: { LUDUS_SECRET_API: "from-the-environment" } })
      await lab.addRole("tells", {
        "tasks/main.yml": `- ansible.builtin.debug:
    msg: "{{ app_password }} {{ lookup('env', 'LUDUS_SECRET_API') }}"
- ansible.builtin.fail:
    msg: "cannot log in with {{ app_password }}\\n{{ app_private_key }}"
`,
      })
      const vars = { app_password: 'hunter2"hunter2', app_private_key: "BEGIN KEY\nc2VjcmV0IGtleQ==\nEND KEY" }
      const { fault, log } = await lab.perform(lab.task("LAB-web", "role", roleInput("tells", { vars })))
      expect(fault).toContain("cannot log in with ***")
      expect(log).toContain("fatal: [LAB-web]: FAILED!")
      for (const text of [fault, log]) {
        expect(text).not.toContain("hunter2")
        expect(text).not.toContain("c2VjcmV0")
        expect(text).not.toContain("from-the-environment")
      }
    })

    it("a role that hangs ends at its time, with everything that it started", async () => {
      const lab = await withLab({ stageSeconds: { role: 20 } })
      await lab.addRole("hangs", { "tasks/main.yml": "- name: Wait for nothing\n  ansible.builtin.command: sleep 98765\n" })
      const { reason, fault } = await lab.perform(lab.task("LAB-web", "role", roleInput("hangs")))
      expect(reason).toBe("timeout")
      expect(fault).toContain('it did not end within 1 min; its last task was "hangs : Wait for nothing"')
      await until(() => processesWith(`${lab.folder}/automation/runs`) === "")
      expect(await readdir(join(lab.folder, "automation", "runs"))).toEqual([])
    })

    it("whoever waits for a role may leave, and the whole process group ends", async () => {
      const lab = await withLab()
      await lab.addRole("hangs", { "tasks/main.yml": "- ansible.builtin.command: sleep 98765\n" })
      const leave = new AbortController()
      const running = lab.perform(lab.task("LAB-web", "role", roleInput("hangs")), leave.signal)
      await until(async () => (await lab.host("LAB-web").run("pgrep", "-f", "sleep 98765")).code === 0)
      leave.abort()
      expect((await running).reason).toBe("interrupted")
      expect(processesWith(`${lab.folder}/automation/runs`)).toBe("")
      expect(await readdir(join(lab.folder, "automation", "runs"))).toEqual([])
    })

    it("a role ends when its run is aborted", async () => {
      const lab = await withLab()
      await lab.addRole("hangs", { "tasks/main.yml": "- ansible.builtin.command: sleep 98765\n" })
      const abort = Effect.runSync(Deferred.make<void>())
      const running = lab.perform(lab.task("LAB-web", "role", roleInput("hangs"), { cancelled: Deferred.await(abort) }))
      await until(async () => (await lab.host("LAB-web").run("pgrep", "-f", "sleep 98765")).code === 0)
      Effect.runSync(Deferred.succeed(abort, undefined))
      const { reason, fault } = await running
      expect(reason).toBe("failed")
      expect(fault).toContain('the run was aborted; its last task was "hangs : ansible.builtin.command"')
      expect(processesWith(`${lab.folder}/automation/runs`)).toBe("")
    })

    it("a role that floods the log is ended, and says so", async () => {
      const lab = await withLab({ outputBytes: 1024 * 1024 })
      await lab.addRole("floods", {
        "tasks/main.yml": "- name: Print a lot\n  ansible.builtin.command: seq 1 400000\n  failed_when: true\n",
      })
      const { reason, fault, log } = await lab.perform(lab.task("LAB-web", "role", roleInput("floods")))
      expect(reason).toBe("failed")
      expect(fault).toContain('it printed more than 1 MiB; its last task was "floods : Print a lot"')
      expect(log.length).toBeLessThan(1024 * 1024)
    })
  },
)

describe.skipIf(sandboxObstacle !== undefined)(`the sandbox of roles${skipNote(sandboxObstacle)}`, { timeout: patience }, () => {
  it("a role finds nothing of the service's on the service's host", async () => {
    const lab = await withLab()
    const secrets = {
      "secret-key": "the service's key",
      "rangewright.db": "the database",
      [`library/users/bob/roles/his/vars/main.yml`]: "bobs: role",
      "automation/workspaces/range-lab000000000000/bob/note": "bob's note",
      [`automation/workspaces/range-other0000000000/${userId}/note`]:
        "kept by a role that ran for the same user in another range",
      [`automation/workspaces/${userId}/note`]: "kept by any role that ran for the same user",
      "automation/facts/LAB/bob/host": "bob's facts",
    }
    for (const [path, text] of Object.entries(secrets)) {
      await mkdir(dirname(join(lab.folder, path)), { recursive: true })
      await writeFile(join(lab.folder, path), text)
    }
    const paths = [
      ...Object.keys(secrets).map((path) => join(lab.folder, path)),
      "/etc/shadow",
      "/root/.ssh",
      "/var/lib",
      `/proc/${process.pid}/environ`,
      "/opt/ludus/note",
    ]
    await lab.addRole("spy", {
      "tasks/main.yml": `- name: Look around on the service's host
  ansible.builtin.shell: "ls -d {{ item }} || cat {{ item }}"
  loop: ${JSON.stringify(paths)}
  delegate_to: localhost
  register: seen
  ignore_errors: true
- name: Try to become more than it is
  ansible.builtin.shell: "mknod /tmp/disk b 254 0 || mount -t tmpfs none /mnt || kill -0 ${process.pid} || hostname other"
  delegate_to: localhost
  register: power
  ignore_errors: true
- name: Tell
  ansible.builtin.copy:
    dest: /root/seen
    content: "{{ {'seen': seen.results | selectattr('rc', 'equalto', 0) | map(attribute='item') | list, 'power': power.rc == 0, 'env': lookup('env', 'RW_TEST_SECRET')} | to_json }}"
- name: Keep something for the next run
  ansible.builtin.lineinfile:
    path: "{{ ludus_install_path }}/resources/kept"
    line: kept
    create: true
    mode: "0600"
  delegate_to: localhost
  failed_when: false
- name: Keep something in the workspace itself
  ansible.builtin.copy: {dest: "{{ ludus_install_path }}/kept", content: kept, mode: "0600"}
  delegate_to: localhost
`,
    })
    process.env["RW_TEST_SECRET"] = "of the service"
    const { fault } = await lab.perform(lab.task("LAB-web", "role", roleInput("spy")))
    delete process.env["RW_TEST_SECRET"]
    expect(fault).toBe("")
    const seen: unknown = JSON.parse((await lab.host("LAB-web").run("cat", "/root/seen")).output)
    expect(seen).toEqual({ seen: [], power: false, env: "" })
    expect(await readdir(join(lab.folder, "automation", "workspaces", "range-lab000000000000", userId))).toContain("kept")
  })
})
