import { RunEngine, type RunRequest } from "@rangewright/application"
import type { RunHead } from "@rangewright/domain"
import { execFileSync } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { collections, obstacle, patience, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { openRealRange, type RealRange } from "./support/real-range.ts"

/** A web server, its database, and a machine of somebody else, each in a VLAN of its own. */
const machine = (name: string, vlan: number, more = ""): string => `  - vm_name: "{{ range_id }}-${name}"
    hostname: "{{ range_id }}-${name}"
    template: debian-12-x64-server-template
    vlan: ${vlan}
    ip_last_octet: 11
    ram_gb: 1
    cpus: 1
    linux: true
${more}`
const config = `ludus:
${machine(
  "web",
  10,
  `    roles:
      - name: shop
        depends_on: [{vm_name: "{{ range_id }}-db", role: database}]
    role_vars: {greeting: "hello from {{ range_id }}"}
`,
)}${machine("db", 20, "    roles: [database]\n    dns_rewrites: ['*.data.example']\n")}${machine("other", 30)}network:
  inter_vlan_default: REJECT
  rules:
    - {name: shop asks its database, vlan_src: 10, vlan_dst: 20, protocol: tcp, ports: 5432, action: ACCEPT}
`

/** Roles of the machine that is described last. */
const machineRoles = "    roles: [picky]\n"

const database = {
  "tasks/main.yml": `- name: Have data
  ansible.builtin.copy: {dest: /srv/data, content: "42 {{ ludus_dns_server }}", mode: "0644"}
- name: Serve it
  ansible.builtin.shell:
    cmd: |
      for port in 5432 6000; do setsid nohup python3 -m http.server $port --directory /srv >/dev/null 2>&1 & done
      touch /run/serving
    creates: /run/serving
`,
}
const shop = {
  "tasks/main.yml": `- name: Ask the database by its name
  ansible.builtin.uri:
    url: http://{{ range_id | lower }}-db.home.arpa:5432/data
    return_content: true
  register: data
- name: Open the shop
  ansible.builtin.copy: {dest: /srv/shop, content: "{{ greeting }}: {{ data.content }}", mode: "0644"}
`,
}

const deploy: RunRequest = {
  kind: "deploy",
  options: { tags: [], limit: "", onlyRoles: [], force: false, verbose: false },
}

/** Looks until it is so; the test's own time is the limit. */
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100))
}

const playbooksRunning = (): boolean => {
  try {
    return execFileSync("pgrep", ["-fa", "ansible-playbook.*rw-range-"]).length > 0
  } catch {
    return false
  }
}

describe.skipIf(obstacle !== undefined)(`a range on real hosts${skipNote(obstacle)}`, { timeout: 2 * patience }, () => {
  let lab: RealRange
  let service: ReturnType<RealRange["process"]>
  let head: RunHead
  beforeAll(async () => {
    lab = await openRealRange(config, collections)
    await lab.addRole("database", database)
    await lab.addRole("shop", shop)
    service = lab.process()
  }, patience)
  afterAll(async () => {
    await service?.dispose()
    await lab?.close()
  }, patience)

  it("a service that ends in the middle of a deploy leaves no tool running, and the next one goes on with it", async () => {
    head = await lab.start(service, deploy)
    await until(async () => /TASK \[|^Ended /mu.test(await lab.log(service, head)))
    expect(await lab.log(service, head)).not.toMatch(/^Ended /mu)
    await service.dispose()
    expect(playbooksRunning()).toBe(false)

    service = lab.process()
    expect(await service.runPromise(RunEngine.use((engine) => engine.recover))).toBe(1)
    const { status } = await lab.wait(service, head)
    expect(status, await lab.log(service, head)).toBe("success")
  })

  it("every machine has its address and name", async () => {
    for (const [name, vlan] of [
      ["web", 10],
      ["db", 20],
      ["other", 30],
    ] as const) {
      const host = await lab.host(`LAB-${name}`)
      expect(await host.addresses()).toEqual([`10.7.${vlan}.11`])
      expect((await host.run("hostname")).output).toBe(`LAB-${name}\n`)
    }
  })

  it("roles ran in the order of their dependencies, with their variables", async () => {
    expect((await (await lab.host("LAB-db")).run("cat", "/srv/data")).output).toBe("42 10.7.20.254")
    expect((await (await lab.host("LAB-web")).run("cat", "/srv/shop")).output).toBe("hello from LAB: 42 10.7.20.254")
    const log = await lab.log(service, head)
    expect(log.lastIndexOf("TASK [database : Have data]")).toBeLessThan(
      log.lastIndexOf("TASK [shop : Ask the database by its name]"),
    )
  })

  it("names are answered by the router", async () => {
    const look = async (name: string) =>
      (
        await (await lab.host("LAB-other")).run("python3", "-c", `import socket; print(socket.gethostbyname("${name}"))`)
      ).output.trim()
    expect(await look("LAB-web")).toBe("10.7.10.11")
    expect(await look("db.home.arpa")).toBe("10.7.20.11")
    expect(await look("any.data.example")).toBe("10.7.20.11")
  })

  it("the firewall lets pass what its rules allow, and nothing else", async () => {
    const reaches = async (from: string, port: number) => {
      const connect = `import socket; socket.create_connection(("10.7.20.11", ${port}), 5)`
      return (await (await lab.host(from)).run("python3", "-c", connect)).code === 0
    }
    expect(await reaches("LAB-web", 5432)).toBe(true)
    expect(await reaches("LAB-web", 6000)).toBe(false)
    expect(await reaches("LAB-other", 5432)).toBe(false)
    expect(await reaches("LAB-db", 6000)).toBe(true)
  })

  it("a second deploy has nothing to do, and stages that are run again change nothing", async () => {
    const plan = await service.runPromise(RunEngine.use((engine) => engine.preview(lab.range, deploy, head.by)))
    expect(plan.steps).toEqual([])
    const again = await lab.start(service, {
      kind: "deploy",
      options: { ...deploy.options, force: true, tags: ["network", "dns-rewrites", "assign-ip", "user-defined-roles"] },
    })
    const { status, steps } = await lab.wait(service, again)
    const log = await lab.log(service, again)
    expect(status, log).toBe("success")
    expect([...steps.values()].filter(({ step }) => step.action.kind === "guest").length).toBeGreaterThan(5)
    expect(
      [...steps.values()].filter(({ step, facts }) => step.action.kind === "guest" && facts?.changed !== false),
      log,
    ).toEqual([])
  })

  it("a resumed deploy repeats the role that failed, and no other", async () => {
    await lab.addRole("picky", {
      "tasks/main.yml": `- name: Want a file
  ansible.builtin.command: test -e /srv/wanted
  changed_when: false
`,
    })
    await lab.setConfig(service, config.replace("network:\n", `${machineRoles}network:\n`))
    const failed = await lab.start(service, deploy)
    const before = await lab.wait(service, failed)
    expect(before.status).toBe("failure")
    expect(before.message).toContain('task "picky : Want a file" failed')

    await (await lab.host("LAB-other")).run("touch", "/srv/wanted")
    const resumed = await service.runPromise(RunEngine.use((engine) => engine.resume(failed.id, failed.by)))
    const { status, steps } = await lab.wait(service, resumed)
    expect(status, await lab.log(service, resumed)).toBe("success")
    expect([...steps.values()].map(({ step }) => step.key)).toEqual(["role:LAB-other:picky"])
  })
})
