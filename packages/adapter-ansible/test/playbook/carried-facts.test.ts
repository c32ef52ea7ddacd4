import type { Json, RunId } from "@rangewright/domain"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Lab, openLab } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

const machine = (name: string, octet: number, vars: string, roles: string) => `  - vm_name: "{{ range_id }}-${name}"
    hostname: ${name}
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 2
    cpus: 2
    linux: true
    roles: [${roles}]
    role_vars: ${vars}
`
const config = `ludus:
${machine("one", 10, '{port: 80, drawn: "{{ 1000000000 | random }}", own_name: "{{ ansible_hostname }}"}', "sets, again, reads")}${machine("two", 11, '{port: 443, here: "{{ range_id }}-{{ port }}"}', "reads, fails")}
`

describe.skipIf(obstacle !== undefined)(`facts of roles on real hosts${skipNote(obstacle)}`, { timeout: 2 * patience }, () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await openLab()
    await lab.addMachine({ name: "LAB-one", vlan: "near", octet: 10, first: "10.7.10.10/24" })
    await lab.addMachine({ name: "LAB-two", vlan: "near", octet: 11, first: "10.7.10.11/24" })
    await lab.setConfig(config)
    await lab.addRole("sets", {
      "tasks/main.yml": `- name: Print what could be a template
  ansible.builtin.command: echo {{ '{{' }} 6 * 7 {{ '}}' }}
  register: printed
- ansible.builtin.set_fact:
    cluster_token: s3cret-of-the-cluster
    port: 8080
    seen_port: "{{ port }}"
    joined: [1, {two: "{{ drawn }}"}]
- ansible.builtin.set_fact: {given: from one, ansible_connection: local}
  delegate_to: LAB-two
  delegate_facts: true
`,
    })
    await lab.addRole("reads", {
      "tasks/main.yml": `- ansible.builtin.copy:
    dest: /root/read
    content: "{{ told | to_json }}"
  vars:
    one: "{{ hostvars['LAB-one'] }}"
    two: "{{ hostvars['LAB-two'] }}"
    told:
      token: "{{ one.cluster_token | default('none') }}"
      printed: "{{ one.printed.stdout | default('none') }}"
      worked: "{{ one.printed.rc | default(-1) | string }}"
      port: "{{ one.port | default('none') | string }}"
      seen: "{{ one.seen_port | default('none') | string }}"
      drawn: "{{ one.drawn | default('none') }}"
      joined: "{{ one.joined | default('none') }}"
      given: "{{ two.given | default('none') }}"
      dns: "{{ two.ludus_dns_server | default('none') }}"
      here: "{{ two.here | default('none') }}"
- ansible.builtin.debug: {msg: "the token is {{ hostvars['LAB-one'].cluster_token | default('none') }}"}
`,
    })
    await lab.addRole("fails", {
      "tasks/main.yml": "- ansible.builtin.set_fact: {before_failure: 1}\n- ansible.builtin.fail: {msg: no}\n",
    })
  }, patience)
  afterAll(() => lab?.close(), patience)

  const input = (name: string, role: string): Json => ({
    role,
    range_id: "LAB",
    range_second_octet: 7,
    ludus_dns_server: "10.7.10.254",
    vars:
      name === "LAB-one"
        ? { port: 80, drawn: "{{ 1000000000 | random }}", own_name: "{{ ansible_hostname }}" }
        : { port: 443, here: "{{ range_id }}-{{ port }}" },
  })
  /** Runs roles, each `<machine>:<role>`, of one run that has these steps. */
  const runOf = (id: string, steps: readonly string[]) => (at: string) => {
    const [name = "", role = ""] = at.split(":")
    const run = { id: id as RunId, steps: new Set(steps.map((key) => `role:${key}`)) }
    return lab.perform(lab.task(name, "role", input(name, role), { run }))
  }
  const read = async (name: string) =>
    JSON.parse((await lab.host(name).run("cat", "/root/read")).output) as Readonly<Record<string, unknown>>

  it("reach the next role of the machine and those of others, with the rank that they have in a run, and no value is a template", async () => {
    const run = runOf("first", ["LAB-one:sets", "LAB-one:reads", "LAB-two:reads"])
    const set = await run("LAB-one:sets")
    expect(set).toMatchObject({ fault: "", ok: true })
    expect(set.log).toContain("later roles do not get Ansible's own variables from this one: ansible_connection")
    const own = await run("LAB-one:reads")
    expect(own).toMatchObject({ fault: "", ok: true })
    const seen = await read("LAB-one")
    expect(seen).toEqual({
      token: "s3cret-of-the-cluster",
      printed: "{{ 6 * 7 }}",
      worked: "0",
      port: "8080",
      seen: "80",
      drawn: expect.anything(),
      joined: [1, { two: expect.anything() }],
      given: "from one",
      dns: "10.7.10.254",
      here: "LAB-443",
    })
    expect(String(Object(seen["joined"])[1].two)).toBe(String(seen["drawn"]))
    expect(await run("LAB-two:reads")).toMatchObject({ fault: "", ok: true })
    // what is drawn is drawn once in a run
    expect(await read("LAB-two")).toEqual(seen)
  })

  it("that are secret are in no log, and lie in no file that others read", async () => {
    const { log } = await runOf("first", ["LAB-one:sets", "LAB-two:reads"])("LAB-two:reads")
    expect(log).toContain("the token is ***")
    expect(log).not.toContain("s3cret-of-the-cluster")
  })

  it("end with their run, but for those of roles that are done and are left out of the next one", async () => {
    expect(await runOf("second", ["LAB-two:reads"])("LAB-two:reads")).toMatchObject({ fault: "", ok: true })
    expect(await read("LAB-two")).toMatchObject({ token: "none", port: "80", given: "none", dns: "10.7.10.254" })
    const third = runOf("third", ["LAB-one:sets", "LAB-two:reads"])
    expect(await third("LAB-one:sets")).toMatchObject({ fault: "" })
    await lab.recordDone("LAB-one", "role:LAB-one:sets")
    expect(await runOf("fourth", ["LAB-two:reads"])("LAB-two:reads")).toMatchObject({ fault: "" })
    expect(await read("LAB-two")).toMatchObject({ token: "s3cret-of-the-cluster", port: "8080", given: "from one" })
    // a role that is to run again has set nothing yet
    expect(await runOf("fifth", ["LAB-one:sets", "LAB-two:reads"])("LAB-two:reads")).toMatchObject({ fault: "" })
    expect(await read("LAB-two")).toMatchObject({ token: "none" })
  })

  it("of a role that failed are there for the others of its run", async () => {
    expect((await runOf("sixth", ["LAB-two:fails"])("LAB-two:fails")).reason).toBe("failed")
    const folder = join(lab.folder, "automation", "role-facts", "LAB")
    const kept = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")))
    expect(kept.some((text) => text.includes("before_failure"))).toBe(true)
  })
})
