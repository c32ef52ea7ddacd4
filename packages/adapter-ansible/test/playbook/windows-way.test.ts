import type { Route } from "@rangewright/adapter-ansible"
import { macOf, type Vmid } from "@rangewright/domain"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab, outerAddress, password, routerName } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

const address = "192.0.2.70"
const jump: Route = { type: "jump", host: address, user: "root", login: { type: "password", password: Redacted.make(password) } }

const addJumpHost = async (lab: Lab): Promise<void> => {
  await lab.hosts.add({
    name: "jump",
    nics: [
      { vlan: 1, mac: macOf(29_000 as Vmid, 0), address: `${address}/24` },
      { vlan: 10, mac: macOf(29_000 as Vmid, 1), address: "10.7.10.200/24" },
    ],
  })
}

const addRouter = async (lab: Lab): Promise<void> => {
  await lab.addRouter([10])
  const input = {
    interface: 0,
    address: `${outerAddress}/24`,
    gateway: "192.0.2.254",
    dns: ["192.0.2.254"],
    hostname: routerName,
    legs: [{ vlan: 10, address: "10.7.10.254/24" }],
  }
  expect(await lab.perform(lab.task(routerName, "router", input))).toMatchObject({ fault: "" })
}

/** TLS is spoken there, by something that says every line backwards: no Windows, and so no WinRM. */
const addWindows = async (lab: Lab): Promise<void> => {
  const host = await lab.addMachine({ name: "LAB-win", vlan: 10, octet: 30 })
  const files = ["-keyout", join(host.root, "root/key"), "-out", join(host.root, "root/cert")]
  const certificate = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=win", "-days", "2", ...files]
  execFileSync("openssl", certificate, { stdio: "ignore" })
  const server = "setsid openssl s_server -rev -quiet -accept 5986 -key key -cert cert"
  const listens = "until ss -Hltn sport = :5986 | grep -q .; do sleep 0.1; done"
  const { code, errors } = await host.run("sh", "-c", `cd /root && { ${server} >/dev/null 2>&1 & } && ${listens}`)
  if (code !== 0) throw new Error(errors)
}

/** Speaks TLS as Ansible's connection does: through the proxy that it finds in its environment. */
const speak = `import json, os, socket, ssl, sys, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
way = socket.create_connection((proxy.hostname, proxy.port))
way.sendall(f"CONNECT {sys.argv[1]}:5986 HTTP/1.1\\r\\n\\r\\n".encode())
head = way.recv(1000).decode().split("\\r\\n")[0]
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
with context.wrap_socket(way) as end:
    end.sendall(b"spoken\\n")
    print(json.dumps({"answer": end.recv(100).decode().strip(), "head": head}))
`
const tasks = `- name: Speak to the Windows machine
  ansible.builtin.script:
    cmd: "speak.py {{ hostvars['LAB-win'].ansible_host }}"
    executable: python3
  delegate_to: localhost
  register: spoken
- name: Tell
  ansible.builtin.copy: {dest: /root/spoken, content: "{{ spoken.stdout }}", mode: "0600"}
`

describe.skipIf(obstacle !== undefined).each([
  { what: "their range's router", protocol: "winrm", route: { type: "router" } satisfies Route, addHost: addRouter },
  { what: "a jump host", protocol: "psrp", route: jump, addHost: addJumpHost },
] as const)(
  `Windows machines behind $what, with $protocol, by what goes over the wire alone${skipNote(obstacle)}`,
  { timeout: patience },
  ({ protocol, route, addHost }) => {
    let lab: Lab
    beforeAll(async () => {
      lab = await openLab({ route, windows: protocol }, false)
      await lab.setConfig(`ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
  - {vm_name: "{{ range_id }}-win", hostname: win, template: win2022-server-x64-template, vlan: 10, ip_last_octet: 30, ram_gb: 4, cpus: 2, windows: {sysprep: false}, force_ip: true}
`)
      await addHost(lab)
      await lab.addMachine({ name: "LAB-web", vlan: 10, octet: 10 })
      await addWindows(lab)
    }, patience)
    afterAll(() => lab?.close(), patience)

    it("are reached through the proxy of the run", async () => {
      await lab.addRole("speaker", { "tasks/main.yml": tasks, "files/speak.py": speak })
      expect(await lab.perform(lab.task("LAB-web", "role", { role: "speaker", vars: {} }))).toMatchObject({ fault: "" })
      const told: unknown = JSON.parse((await lab.host("LAB-web").run("cat", "/root/spoken")).output)
      expect(told).toEqual({ answer: "nekops", head: "HTTP/1.1 200 Connected" })
    })
  },
)
