import type { Json, RangeHost, Vmid } from "@rangewright/domain"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { connections } from "../../src/playbook/connection.ts"
import { rolePlay, roleProblem } from "../../src/playbook/role-play.ts"
import { sameMachineCommand } from "../../src/playbook/same-machine.ts"
import { unsafeYaml } from "../../src/playbook/unsafe-yaml.ts"

const strip = { customTags: [{ tag: "!unsafe", resolve: (text: string) => text }] }

describe("the files for the tool", () => {
  it("any input is read back unchanged, and each of its strings is marked as literal", () => {
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
    const others = new Map([
      ["LAB-b", { range_id: "LAB", vars: { port: 80 } }],
      ["LAB-c", { vars: {} }],
    ])
    const play = { host: "LAB-a", role: "web", input, begins: true, others }
    expect(parse(rolePlay(play))).toEqual([
      {
        name: "Set the variables of the roles on LAB-b",
        hosts: "LAB-b",
        gather_facts: false,
        vars: { port: 80 },
        tasks: [expect.objectContaining({ "ansible.builtin.set_fact": { port: 80 }, ignore_errors: true }) as unknown],
      },
      {
        name: "Run role web on LAB-a",
        hosts: "LAB-a",
        vars: { ludus_dns_server: "10.7.10.254", yes: "no", n: [1] },
        pre_tasks: [
          {
            name: "Set the variables of the role",
            "ansible.builtin.set_fact": { ludus_dns_server: "10.7.10.254", yes: "no", n: [1] },
          },
          expect.objectContaining({
            "ansible.builtin.raw": "{{ rangewright_same_machine }}",
            vars: { rangewright_role_follows: true },
          }) as unknown,
        ],
        roles: [{ role: "web" }],
      },
    ])
    // Ansible reads YAML 1.1, where a bare no is false
    expect(rolePlay(play)).toContain('"no"')
    // what a host began with is not set again: a role may have changed it
    const later: unknown = parse(rolePlay({ ...play, begins: false, others: new Map() }))
    expect(Object(later)).toMatchObject([{ pre_tasks: [{ name: "Make sure that this is the machine" }] }])
  })

  it("role names are not paths or options, and variable names are valid for Ansible", () => {
    for (const role of ["web", "geerlingguy.docker", "ansible.windows.thing", "_x-1"])
      expect(roleProblem(role, { role })).toBeUndefined()
    for (const role of ["", "..", "../bob/roles/x", "/etc", "-x", "a b", "a\n", "{{ x }}", "a..b", ".a"])
      expect(roleProblem(role, { role }), role).toContain("is not a valid role name")
    expect(roleProblem(undefined, {})).toContain("is not a valid role name")
    expect(roleProblem("web", { vars: { "my-var": 1 } })).toContain('its variable "my-var" does not have a valid Ansible name')
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

  it("SSH goes over the relay; Windows machines need nothing but their own address", () => {
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
    const written = (windows: "winrm" | "psrp") => {
      const text = connections({ logins: new Map(), windows }, hosts)
      return (JSON.parse(text) as { all: { hosts: Record<string, Record<string, unknown>> } }).all.hosts
    }
    expect(written("winrm")["dc"]).toEqual({ ansible_host: "10.7.10.11" })
    expect(written("winrm")["web"]).toMatchObject({
      ansible_host: "10.7.10.13",
      ansible_ssh_common_args: expect.stringMatching(
        /ProxyUseFdpass=yes .*ProxyCommand=".*reach.py' relay %h %p pass"/u,
      ) as string,
    })
    expect(written("psrp")["dc"]).toMatchObject({ ansible_connection: "psrp", ansible_host: "10.7.10.11" })
  })
})
