import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { obstacle, patience, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { tarGz } from "../contracts/content/support/archives.ts"
import type { ApiClient, StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, expectWholeStream, follow, rangeOf, runEnd } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { orderLab, orderOfRoles, orderRoles } from "./support/order-lab.ts"
import { atRest, openRealLab, type RealLab, run, tracesOf } from "./support/real-lab.ts"
import type { ServiceProcess } from "./support/service.ts"
import { database, firstRule, picky, secondRule, shop, shopLab } from "./support/shop-lab.ts"

const rangeId = "LAB"

interface Step {
  readonly key: string
  readonly action: string
  readonly changed?: boolean
}

interface Credentials {
  readonly machines: readonly {
    readonly name: string
    readonly ip: string
    readonly accounts: readonly { readonly username: string; readonly password: string }[]
  }[]
}

const isDispatchOf =
  (key: string) =>
  ({ type, data }: StreamEvent): boolean =>
    type === "StepDispatched" && data.key === key

describe.skipIf(obstacle !== undefined)(`a range on real hosts${skipNote(obstacle)}`, { timeout: 2 * patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string
  let second: number
  let runId: string
  const user = (): ApiClient => service.as(key)
  const at = (vlan: number, octet = 11): string => `10.${second}.${vlan}.${octet}`
  const web = (line: string) => lab.on(at(10), line)
  const db = (line: string) => lab.on(at(20), line)
  const other = (line: string) => lab.on(at(30), line)
  const python = (code: string): string => `python3 -c '${code}'`

  const addRole = async (name: string, tasks: string): Promise<void> => {
    const archive = tarGz([
      { name: `${name}/meta/main.yml`, content: "galaxy_info: {author: lab}\n" },
      { name: `${name}/tasks/main.yml`, content: tasks },
    ])
    const form = new FormData()
    form.set("file", new File([new Uint8Array(archive)], `${name}.tar.gz`))
    form.set("force", "false")
    const headers = { "X-API-KEY": key }
    const answer = await fetch(`${service.url}/api/v2/ansible/role/fromtar`, { method: "PUT", headers, body: form })
    expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)])
  }
  const setConfig = async (text: string): Promise<void> => {
    const answer = await user().upload(`/range/config?rangeID=${rangeId}`, text)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
  const stepsOf = async (run: string): Promise<readonly Step[]> =>
    (await user().get<{ readonly steps: readonly Step[] }>(`/runs/${run}`)).steps
  const log = async (): Promise<string> =>
    (await user().get<{ readonly result: string }>(`/range/logs?rangeID=${rangeId}`)).result
  /** Waits for the end of the run, however long it takes. */
  const over = async (run: string): Promise<void> => void (await follow(user(), run, []))
  const whole = async (run: string): Promise<void> => {
    await over(run)
    await expectSuccess(user(), run)
  }

  beforeAll(async () => {
    lab = await openRealLab(30)
    service = await lab.start()
    key = await addUser(service.root, rangeId)
    second = (await rangeOf(user(), rangeId)).rangeNumber
    await addRole("database", database)
    await addRole("shop", shop)
    await setConfig(shopLab())
  }, patience)
  afterAll(async () => {
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  const killInRole = async (waits = "/tmp/waits"): Promise<void> => {
    // polled inside the machine: each login takes as long as many polls
    await eventually(
      "a role in its middle",
      () => db(`until rm ${waits} 2>/dev/null; do sleep 0.1; done`),
      ({ code }) => code === 0,
    )
    await service.crash()
    await atRest(lab)
  }

  it("a service killed while machines boot and while a role runs leaves no tool running, and resumes the deploy", async () => {
    runId = await deploy(user(), rangeId)
    const seen: StreamEvent[] = []
    expect(await follow(user(), runId, seen, isDispatchOf(`start:${rangeId}-db`))).toBe(true)
    await service.crash()
    service = await lab.start({ RANGEWRIGHT_ANSIBLE_SANDBOX: "off" })
    expect(await follow(user(), runId, seen, isDispatchOf(`role:${rangeId}-db:database`))).toBe(true)
    await killInRole()
    service = await lab.start({ RANGEWRIGHT_ANSIBLE_SANDBOX: "auto" })
    await killInRole()
    expect((await db("touch /tmp/go")).code).toBe(0)
    service = await lab.start()
    await follow(user(), runId, seen)
    await expectSuccess(user(), runId)
    await expectWholeStream(user(), runId, seen)
  })

  it("every machine got its first address from the range's router, and has its own address and name by now", async () => {
    const { VMs } = await rangeOf(user(), rangeId)
    for (const [name, vlan] of [
      ["web", 10],
      ["db", 20],
      ["other", 30],
    ] as const) {
      const shown = await lab.on(at(vlan), "hostname; ip -4 -oneline address show dev eth0; cat /var/log/dhclient.log")
      expect(shown.output.split("\n")[0]).toBe(`${rangeId}-${name}`)
      expect(shown.output.match(/inet \S+/gu)).toEqual([`inet ${at(vlan)}/24`])
      expect(shown.output).toMatch(new RegExp(`^BOUND 10\\.${second}\\.${vlan}\\.(1|2)\\d\\d from ${at(vlan, 254)}$`, "mu"))
      expect(VMs.find((vm) => vm.name === `${rangeId}-${name}`)?.ip).toBe(at(vlan))
    }
  })

  it("roles ran in the order of their dependencies, with their variables", async () => {
    expect((await db("cat /srv/data")).output).toBe(`42 ${at(20, 254)}`)
    expect((await web("cat /srv/shop")).output).toBe(`hello from ${rangeId}: 42 ${at(20, 254)}`)
    const text = await log()
    expect(text.lastIndexOf("TASK [database : Have data]")).toBeLessThan(
      text.lastIndexOf("TASK [shop : Ask the database by its name]"),
    )
  })

  const namesAndPackets = async (): Promise<void> => {
    const resolve = async (name: string) =>
      (await other(python(`import socket; print(socket.gethostbyname("${name}"))`))).output.trim()
    expect(await resolve(`${rangeId}-web`)).toBe(at(10))
    expect(await resolve("db.home.arpa")).toBe(at(20))
    expect(await resolve("any.data.example")).toBe(at(20))
    expect(await reaches(web, 5432)).toBe(true)
    expect(await reaches(web, 6000)).toBe(false)
    expect(await reaches(other, 5432)).toBe(false)
    expect(await reaches(db, 6000)).toBe(true)
    // the service's host and the router serve DNS and SSH; machines of the range reach only the DNS of their own router
    expect(await reaches(web, 53, "192.0.2.254")).toBe(false)
    expect(await reaches(web, 22, at(10, 254))).toBe(false)
    expect(await reaches(web, 53, at(10, 254))).toBe(true)
  }
  const reaches = async (from: typeof web, port: number, to = at(20)): Promise<boolean> =>
    (await from(python(`import socket; socket.create_connection(("${to}", ${port}), 5)`))).code === 0

  it("the router resolves names, and passes what its rules allow and nothing else", namesAndPackets)

  it("the router does the same after it was off", async () => {
    const router = (await rangeOf(user(), rangeId)).VMs.find(({ name }) => name.includes("router"))?.name
    const machines = [router]
    await user().send("PUT", `/range/poweroff?rangeID=${rangeId}`, { machines })
    expect((await other("true")).code).not.toBe(0)
    // the cluster's list, from which changes are planned, lags a few seconds
    await eventually("a router that is seen to be off", lab.simulator.guests, (guests) =>
      guests.some(({ name, status }) => name === router && status === "stopped"),
    )
    await user().send("PUT", `/range/poweron?rangeID=${rangeId}`, { machines })
    await eventually(
      "a machine behind the router",
      () => other("true"),
      ({ code }) => code === 0,
    )
    await namesAndPackets()
  })

  it("every login in the range's credentials works, and the template's password opens no router", async () => {
    const { machines } = await user().get<Credentials>(`/range/credentials?rangeID=${rangeId}`)
    expect(machines.map(({ accounts }) => accounts.length)).toEqual([1, 1, 1, 1])
    for (const { ip, accounts } of machines)
      for (const login of accounts) expect((await lab.on(ip, "whoami", login)).output).toBe(`${login.username}\n`)
    const router = machines.find(({ name }) => name.includes("router"))
    expect((await lab.on(router?.ip ?? "", "true")).code).toBe(5)
  })

  it("a second deploy has nothing to do, and repeating stages changes nothing", async () => {
    expect((await user().get<{ readonly steps: unknown }>(`/range/plan?rangeID=${rangeId}`)).steps).toEqual([])
    const { runID } = await user().send<{ readonly runID: string }>("POST", `/range/deploy?rangeID=${rangeId}`, {
      force: true,
      tags: ["network", "dns-rewrites", "assign-ip", "user-defined-roles"],
    })
    await whole(runID)
    const inside = (await stepsOf(runID)).filter(({ action }) => action.startsWith("guest "))
    expect(inside.length).toBeGreaterThan(5)
    expect(inside.flatMap(({ key: step, changed }) => (changed === false ? [] : [step]))).toEqual([])
  })

  it("changed rules take effect all at once: open connections stay open, and closed ones never open", async () => {
    const held = `import socket, os, time
c = socket.create_connection(("${at(20)}", 5432), 5)
open("/tmp/held", "w").close()
while not os.path.exists("/tmp/ask"): time.sleep(0.05)
c.sendall(b"GET /data HTTP/1.0\\r\\n\\r\\n")
print(b"".join(iter(lambda: c.recv(4096), b"")).decode()[-20:])`
    const probe = `import socket, os, time
tries = opened = 0
while not os.path.exists("/tmp/enough"):
    tries += 1
    time.sleep(0.02)
    try: opened += socket.create_connection(("${at(20)}", 5432), 1) is not None
    except OSError: open("/tmp/probed", "w").close()
print(tries > 1, opened)`
    const [answer, probes] = [web(python(held)), other(python(probe))]
    await eventually(
      "an open connection",
      () => web("test -e /tmp/held"),
      ({ code }) => code === 0,
    )
    await eventually(
      "a refused one",
      () => other("test -e /tmp/probed"),
      ({ code }) => code === 0,
    )
    expect(await reaches(other, 6000)).toBe(false)

    await setConfig(shopLab("", firstRule + secondRule))
    const changed = await deploy(user(), rangeId)
    await whole(changed)
    expect((await stepsOf(changed)).map(({ key: step }) => step)).toEqual([expect.stringMatching(/^firewall:/u)])

    expect(await reaches(other, 6000)).toBe(true)
    await Promise.all([web("touch /tmp/ask"), other("touch /tmp/enough")])
    expect((await answer).output).toContain(`42 ${at(20, 254)}`)
    expect((await probes).output).toBe("True 0\n")
  })

  it("a resumed deploy repeats only the role that failed", async () => {
    await addRole("picky", picky)
    await setConfig(shopLab("    roles: [picky]\n", firstRule + secondRule))
    const failed = await deploy(user(), rangeId)
    await over(failed)
    const { status, message } = await runEnd(user(), failed)
    expect([status, message]).toEqual(["failure", expect.stringContaining('task "picky : Want a file" failed')])

    expect((await other("touch /tmp/wanted")).code).toBe(0)
    const { runID } = await user().send<{ readonly runID: string }>("POST", `/runs/${failed}/resume`)
    await whole(runID)
    expect((await stepsOf(runID)).map(({ key: step }) => step)).toEqual([`role:${rangeId}-other:picky`])
  })

  it("labs that rely on the order of their file are deployed in that order, and later roles see what earlier ones set, even after a crash", async () => {
    for (const [name, tasks] of Object.entries(orderRoles)) await addRole(name, tasks)
    await setConfig(orderLab)
    expect((await other("touch /tmp/agent-goes")).code).toBe(0)
    const ordered = await deploy(user(), rangeId)
    const waiting = isDispatchOf(`role:${rangeId}-db:cluster_agent`)
    // if the run has already ended, this shows why
    if (!(await follow(user(), ordered, [], waiting))) await expectSuccess(user(), ordered)
    await killInRole("/tmp/agent-waits")
    expect((await db("touch /tmp/agent-goes")).code).toBe(0)
    service = await lab.start()
    await whole(ordered)
    expect((await rangeOf(user(), rangeId)).rangeState).toBe("SUCCESS")
    const steps = await user().get<{ readonly steps: readonly (Step & { readonly startedAt: string })[] }>(`/runs/${ordered}`)
    const roles = steps.steps.filter((step) => step.key.startsWith("role:"))
    const begun = roles.toSorted((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt))
    expect(begun.map((step) => step.key)).toEqual(orderOfRoles(rangeId))
    expect((await other("cat /tmp/federation")).output).toBe(
      "child.forest.example in forest.example, certificate of forest.example, child.forest.example",
    )
    expect((await web("cat /tmp/cluster/nodes")).output).toBe(`${rangeId}-db\n${rangeId}-other\n`)
    const token = (await web("ls -d /tmp/cluster/*/")).output.split("/").at(-2) ?? ""
    expect(token).toMatch(/^[0-9a-f]{16}$/u)
    // nothing that a role sets is kept where it can be read
    expect((await run("grep", "-rlF", token, lab.data)).output).toBe("")
  })

  it("hosts end with a killed simulator, and the next one removes their remains", async () => {
    await service.crash()
    const own = (await run("ip", "netns", "list")).output.split("\n").flatMap((line) => line.split(" ").slice(0, 1))
    const hosts = own.filter((name) => name.startsWith(`${lab.id}-`))
    expect(hosts.length).toBeGreaterThan(4)
    lab.simulator.program.signal("SIGKILL")
    await lab.simulator.program.ended
    const left = async () => (await Promise.all(hosts.map((name) => run("ip", "netns", "pids", name)))).map((each) => each.output)
    await eventually("the end of all hosts", left, (pids) => pids.every((each) => each === ""))
    expect(await tracesOf(lab)).not.toEqual([])

    const next = await openRealLab(30)
    expect(await tracesOf(lab)).toEqual([])
    next.simulator.program.signal("SIGTERM")
    expect(await next.simulator.program.ended).toEqual({ code: 0, signal: null })
    expect(await tracesOf(next)).toEqual([])
  })
})
