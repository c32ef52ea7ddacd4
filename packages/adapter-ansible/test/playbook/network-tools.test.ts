import type { GuestLogin } from "@rangewright/domain"
import type { RealHost } from "@rangewright/pve-simulator"
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { type Lab, openLab, password } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

/** Does with the file what the real program does, as far as a static address goes: a file that it cannot read is an error. */
const netplan = `#!/usr/bin/python3
import glob, subprocess, sys, yaml
if sys.argv[1:] != ["apply"]: sys.exit("netplan " + " ".join(sys.argv[1:]))
for name in sorted(glob.glob("/etc/netplan/*.yaml")):
    for card, settings in yaml.safe_load(open(name))["network"]["ethernets"].items():
        if settings["dhcp4"]: sys.exit(card + " asks for an address")
        subprocess.run(["ip", "-4", "address", "flush", "dev", card, "scope", "global"], check=True)
        for address in settings["addresses"]: subprocess.run(["ip", "address", "add", address, "dev", card], check=True)
        subprocess.run(["ip", "link", "set", card, "up"], check=True)
        for route in settings.get("routes", []): subprocess.run(["ip", "route", "replace", route["to"], "via", route["via"]], check=True)
`
const nmcli = `#!/usr/bin/python3
import configparser, os, subprocess, sys
with open("/root/nmcli", "a") as heard: heard.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1:] == ["connection", "up", "rangewright"]:
    name = "/etc/NetworkManager/system-connections/rangewright.nmconnection"
    if os.stat(name).st_mode & 0o77: sys.exit("others can read " + name)
    profile = configparser.ConfigParser()
    profile.read_file(open(name))
    card, ipv4 = profile["connection"]["interface-name"], profile["ipv4"]
    address, gateway = ipv4["address1"].split(",")
    subprocess.run(["ip", "-4", "address", "flush", "dev", card, "scope", "global"], check=True)
    subprocess.run(["ip", "address", "add", address, "dev", card], check=True)
    subprocess.run(["ip", "route", "replace", "default", "via", gateway], check=True)
`

interface System {
  readonly template: string
  readonly osId: string
  readonly program: readonly [name: string, text: string]
  readonly files: Readonly<Record<string, string>>
}

const ubuntu: System = {
  template: "ubuntu-22.04-x64-server-template",
  osId: "ubuntu",
  program: ["netplan", netplan],
  files: {
    "etc/os-release": 'ID=ubuntu\nID_LIKE=debian\nNAME="Ubuntu"\nVERSION="22.04 LTS (Jammy Jellyfish)"\nVERSION_ID="22.04"\n',
    "etc/netplan/50-cloud-init.yaml": "network: {version: 2, ethernets: {eth0: {dhcp4: true}}}\n",
    "etc/cloud/cloud.cfg.d/.keep": "",
  },
}
const centos: System = {
  template: "centos-9-x64-server-template",
  osId: "centos",
  program: ["nmcli", nmcli],
  files: {
    "etc/os-release": 'ID="centos"\nID_LIKE="rhel fedora"\nNAME="CentOS Stream"\nVERSION_ID="9"\n',
    "etc/redhat-release": "CentOS Stream release 9\n",
    // where such a system without systemd has its name
    "etc/sysconfig/network": "HOSTNAME=template\n",
    "etc/NetworkManager/system-connections/.keep": "",
  },
}

/** Makes of a host what Ansible takes for this system, with stand-ins for programs that its kind has. */
const become = async (host: RealHost, { program: [name, text], files }: System): Promise<void> => {
  await rm(join(host.root, "etc/debian_version"))
  const all = { ...files, [`opt/bin/${name}`]: text }
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(host.root, path)), { recursive: true })
    await writeFile(join(host.root, path), content, { mode: 0o755 })
  }
  const path = "/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  await appendFile(join(host.root, "etc/ssh/sshd_config"), `SetEnv PATH=${path}\n`)
  await host.stop()
  await host.start()
}

const opened: Lab[] = []
afterEach(async () => {
  for (const lab of opened.splice(0)) await lab.close()
}, patience)

const machineOf = async (system: System) => {
  const login: GuestLogin = { connection: "ssh", user: "root", password }
  const lab = await openLab({ logins: new Map([[system.osId, login]]) })
  opened.push(lab)
  const host = await lab.addMachine({ name: "LAB-web", vlan: "near", octet: 10, first: "10.7.10.161/24" })
  await lab.setConfig(`ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: ${system.template}, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
`)
  await become(host, system)
  const address = {
    interface: 0,
    address: "10.7.10.10/24",
    gateway: "10.7.10.254",
    dns: ["10.7.10.254"],
    search: "home.arpa",
    hostname: "LAB-web",
    timezone: "Europe/Berlin",
  }
  const set = () => lab.perform(lab.task("LAB-web", "address", address))
  return { host, set }
}

describe.skipIf(obstacle !== undefined)(
  `addresses of systems whose network tool is simulated${skipNote(obstacle)}`,
  { timeout: patience },
  () => {
    it("are set by netplan if the system has it, replacing a DHCP configuration", async () => {
      const { host, set } = await machineOf(ubuntu)
      expect(await set()).toMatchObject({ fault: "", ok: true, changed: true, address: "10.7.10.10" })
      expect(await host.addresses()).toEqual(["10.7.10.10"])
      expect((await host.run("ip", "route", "show", "default")).output).toContain("via 10.7.10.254")
      expect((await host.run("ls", "/etc/netplan")).output).toBe("90-rangewright.yaml\n")
      expect((await host.run("stat", "-c", "%a", "/etc/netplan/90-rangewright.yaml")).output).toBe("600\n")
      expect((await host.run("cat", "/etc/cloud/cloud.cfg.d/99-rangewright.cfg")).output).toContain("disabled")
      expect(await set()).toMatchObject({ fault: "", changed: false })
    })

    it("are set by NetworkManager in the Red Hat family", async () => {
      const { host, set } = await machineOf(centos)
      expect(await set()).toMatchObject({ fault: "", ok: true, changed: true, address: "10.7.10.10" })
      expect(await host.addresses()).toEqual(["10.7.10.10"])
      expect((await host.run("ip", "route", "show", "default")).output).toContain("via 10.7.10.254")
      expect((await host.run("cat", "/root/nmcli")).output).toBe("connection reload\nconnection up rangewright\n")
      expect(await set()).toMatchObject({ fault: "", changed: false })
    })
  },
)
