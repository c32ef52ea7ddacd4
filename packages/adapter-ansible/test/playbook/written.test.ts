import type { Json, RangeHost, Vmid } from "@rangewright/domain"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { connections, type Through } from "../../src/playbook/connection.ts"
import { rolePlay, roleProblem } from "../../src/playbook/role-play.ts"
import { sameMachineCommand } from "../../src/playbook/same-machine.ts"
import { sandboxArguments } from "../../src/playbook/sandbox.ts"
import { unsafeYaml } from "../../src/playbook/unsafe-yaml.ts"

const strip = { customTags: [{ tag: "!unsafe", resolve: (text: string) => text }] }

describe("what is written for the tool", () => {
  it("any input is read back as it was, and each of its texts is marked as literal", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = unsafeYaml(value as Json)
        expect(parse(written, strip)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(unsafeYaml({ a: ["{{ x }}", 1, null, true], "b:c": "y\n" })).toBe(
      '{"a": [!unsafe "{{ x }}", 1, null, true], "b:c": !unsafe "y\\n"}',
    )
  })

  it("a role's play sets the range's facts and the role's variables, and runs the role", () => {
    const input = {
      role: "web",
      range_id: "LAB",
      range_second_octet: 7,
      ludus_dns_server: "10.7.10.254",
      vars: { yes: "no", n: [1] },
    }
    expect(parse(rolePlay("LAB-a", "web", input, "check"))).toEqual([
      {
        name: "Run role web on LAB-a",
        hosts: "LAB-a",
        vars: { ludus_dns_server: "10.7.10.254", yes: "no", n: [1] },
        pre_tasks: [
          expect.objectContaining({
            "ansible.builtin.raw": "{{ same_machine }}",
            vars: { same_machine: "check" },
          }) as unknown,
          {
            name: "Set the variables of the role",
            "ansible.builtin.set_fact": { ludus_dns_server: "10.7.10.254", yes: "no", n: [1] },
          },
        ],
        roles: [{ role: "web" }],
      },
    ])
    // Ansible reads YAML 1.1, where a bare no is false
    expect(rolePlay("LAB-a", "web", input, "check")).toContain('"no"')
  })

  it("names of roles are no paths or options, and variables have names that Ansible takes", () => {
    for (const role of ["web", "geerlingguy.docker", "ansible.windows.thing", "_x-1"])
      expect(roleProblem(role, { role })).toBeUndefined()
    for (const role of ["", "..", "../bob/roles/x", "/etc", "-x", "a b", "a\n", "{{ x }}", "a..b", ".a"])
      expect(roleProblem(role, { role }), role).toContain("is no name of a role")
    expect(roleProblem(undefined, {})).toContain("is no name of a role")
    expect(roleProblem("web", { vars: { "my-var": 1 } })).toContain('its variable "my-var" has no name that Ansible takes')
  })

  it("the command that tells a machine from others has nothing in it but hardware addresses", () => {
    const nic = (index: number, mac: string) => ({ index, mac, model: "virtio", bridge: "b", tag: 1, firewall: false })
    const nics = [nic(0, "02:00:00:00:4E:20"), nic(1, "$(reboot)"), nic(2, "02:00:00:00:4e:20'")]
    for (const os of ["linux", "windows", "macos"] as const) {
      const command = sameMachineCommand(os, { nics }, "10.7.10.5")
      expect(command).toContain("02:00:00:00:4e:20")
      expect(command).not.toContain("reboot")
      expect(command).not.toContain("4e:20''")
    }
    expect(sameMachineCommand("linux", { nics: [] }, "10.7.10.5")).toContain("-e none")
  })

  it("a Windows machine that is reached through a lent port keeps its own address as ansible_host, and the others have no port", () => {
    const host = (name: string, address: string, osId: string): RangeHost => ({
      seen: {
        vmid: 20_000 as Vmid,
        node: "node1",
        name,
        power: "running",
        template: false,
        pool: "LAB",
        cpus: 2,
        memoryMiB: 2048,
        tags: [],
        address,
        isRouter: false,
      },
      name,
      address,
      configuredAddress: address,
      osId,
      groups: [],
      machine: undefined,
    })
    const hosts = [host("dc", "10.7.10.11", "windows"), host("ws", "10.7.10.12", "windows"), host("web", "10.7.10.13", "debian")]
    const ports = new Map([
      ["10.7.10.11", 40_001],
      ["10.7.10.21", 40_002],
    ])
    const through: Through = { sshArguments: "-o ProxyCommand=x", ports, nextAddress: "10.7.10.21" }
    const written = (windows: "winrm" | "psrp", to: Through | undefined) => {
      const text = connections({ logins: new Map(), windows }, hosts, () => to)
      return (JSON.parse(text) as { all: { hosts: Record<string, Record<string, unknown>> } }).all.hosts
    }
    expect(written("winrm", through)).toMatchObject({
      dc: {
        ansible_host: "10.7.10.11",
        ansible_winrm_host: "127.0.0.1",
        ansible_winrm_port: 40_001,
        port_at_next_address: 40_002,
      },
      web: { ansible_host: "10.7.10.13", ansible_ssh_common_args: expect.stringContaining("ProxyCommand") as string },
    })
    expect(written("winrm", through)["ws"]).toEqual({ ansible_host: "10.7.10.12" })
    expect(written("psrp", through)["dc"]).toMatchObject({
      ansible_connection: "psrp",
      ansible_host: "10.7.10.11",
      ansible_psrp_host: "127.0.0.1",
      ansible_psrp_port: 40_001,
    })
    expect(written("winrm", undefined)["dc"]).toEqual({ ansible_host: "10.7.10.11" })
  })

  it("a sandbox has nothing of the host's but its programs and what it is given", () => {
    const args = sandboxArguments([
      { from: "/data/scratch", writable: true },
      { from: "/library", to: "/roles" },
    ])
    const pairs = args.flatMap((arg, at) => (arg.includes("bind") ? [[arg, args[at + 1], args[at + 2]]] : []))
    expect(pairs).toContainEqual(["--bind", "/data/scratch", "/data/scratch"])
    expect(pairs).toContainEqual(["--ro-bind-try", "/library", "/roles"])
    expect(pairs.filter(([how]) => how === "--bind")).toHaveLength(1)
    const sources = pairs.map(([, from = ""]) => from)
    for (const hidden of ["/", "/etc", "/home", "/root", "/var", "/run", "/etc/shadow", "/etc/ssl", "/etc/ssl/private"])
      expect(sources).not.toContain(hidden)
    expect(args).toContain("--die-with-parent")
    expect(args.join(" ")).toContain("--cap-drop ALL")
  })
})
