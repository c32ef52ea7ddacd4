import { natHost, vpnAddress, vpnServer } from "@rangewright/domain"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Internet, openInternet, type Seen } from "../../packages/adapter-ansible/test/playbook/support/internet.ts"
import { obstacle, patience, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { flows, kinds, local, openPorts, prober, question } from "../../packages/adapter-ansible/test/playbook/support/probes.ts"
import type { ApiClient, StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, follow, rangeOf } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { openRealLab, type RealLab } from "./support/real-lab.ts"
import type { ServiceProcess } from "./support/service.ts"
import { machine } from "./support/shop-lab.ts"

const rangeId = "TEST"
const [good, bad] = ["198.18.0.1", "198.18.0.2"]
/** A name that will be allowed, and its addresses one after another, which the service takes for public. */
const [name, named, moved] = ["moving.example", "8.8.4.4", "8.8.4.5"]
const twenty = Array.from({ length: 20 }, (_, i) => `8.8.8.${i + 1}`)
/** A VPN address of a user without this range. */
const stranger = vpnAddress(200)
const config = `ludus:
${machine("web", 10)}${machine("spared", 30, "    testing: {snapshot: false, block_internet: true}\n")}${machine("free", 20, "    testing: {snapshot: false, block_internet: false}\n")}network:
  inter_vlan_default: REJECT
  rules:
    - {name: web to the free one, vlan_src: 10, vlan_dst: 20, protocol: tcp, ports: 22, action: ACCEPT}
`

/** Sends to these addresses forever, each time from another port: a datagram, and data over a new connection. */
const knocker = `
import socket, sys, threading, time
def knock(to):
    while True:
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:knock;", (to, 80))
            with socket.create_connection((to, 80), 1) as c: c.sendall(b"rw:knock;")
        except OSError: pass
        time.sleep(0.01)
for to in sys.argv[1:]: threading.Thread(target=knock, args=(to,)).start()
`
/** Events that a journal has once, however often the service is restarted. */
const isMoment = ({ type }: StreamEvent): boolean => /^(?:Planned|Step(?:Started|Dispatched|Settled))$/u.test(type)

describe.skipIf(obstacle !== undefined)(`testing mode on real hosts${skipNote(obstacle)}`, { timeout: 2 * patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string
  let user: ApiClient
  let internet: Internet
  let second: number
  let resolver: string
  /** The user's own VPN address. */
  let member: string
  const at = (vlan: number): string => `10.${second}.${vlan}.11`
  const python = (code: string): string => `python3 -c '${code}'`
  const send = (vlan: number, mark: string, goals: readonly string[] = [good, bad]) =>
    lab.on(
      at(vlan),
      python(
        `import socket; [socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:${mark};", (a, 80)) for a in ${JSON.stringify(goals)}]`,
      ),
    )
  /** The packets that arrived; complete once packets of the machine that keeps its internet access have followed. */
  const drained = async (): Promise<Seen> => {
    const mark = `drain${Math.random()}`
    await eventually(
      "a packet of the machine that keeps its way out",
      async () => (await send(20, mark), internet.seen()),
      (seen) => `${mark} ${bad}` in seen,
    )
    return internet.take()
  }
  const reachable = (what: string) =>
    eventually(
      what,
      () => lab.on(at(10), "true"),
      ({ code }) => code === 0,
    )
  /** The addresses that a machine reaches. */
  const reached = async (mark: string, goals: readonly string[] = [good, bad]): Promise<readonly string[]> => {
    // a router that loads its rules may end the connection to the machine
    await eventually(
      "packets of the machine",
      () => send(10, mark, goals),
      ({ code }) => code === 0,
    )
    const seen = await drained()
    return goals.filter(
      (to) => `${mark} ${to}` in seen || ["flow-busy-udp", "flow-busy-tcp", "flood"].some((kind) => `${kind} ${to}` in seen),
    )
  }
  /** Whether a machine can connect to the SSH server of another. */
  const crosses = async (from: number, to: number): Promise<boolean> =>
    (await lab.on(at(from), python(`import socket; socket.create_connection(("${at(to)}", 22), 10).recv(3)`))).code === 0
  /** What a machine's router resolves the name to, once it is this. */
  const answered = (addresses: readonly string[]) =>
    eventually(
      `the answer ${addresses.join(" ")}`,
      async () =>
        (await lab.on(at(10), `${python(question)} ${at(10).slice(0, -2)}254 ${name}`)).output.trim().split(",").toSorted(),
      (told) => told.join() === addresses.toSorted().join(),
    )
  /** Of all kinds of packets and connections, those that get from a machine to each address, including spoofed sources. */
  const probed = async (phase: string) => {
    await internet.take()
    const pretended = JSON.stringify([at(20), at(30), natHost, "198.51.100.4", "10.99.10.11"])
    const goals = JSON.stringify([good, bad, natHost])
    const line = `echo debian | sudo -S -p '' ${python(prober)} ${phase} ${at(10)} ${at(10).slice(0, -2)}254 '${pretended}' '${goals}'`
    const { code, output, errors } = await lab.on(at(10), line)
    expect([code, errors]).toEqual([0, ""])
    const seen = await drained()
    const ofPhase = Object.keys(seen).filter((what) => what.includes(`.${phase} `) && !what.startsWith("asked "))
    const said = JSON.parse(output) as Readonly<Record<string, string>>
    // in every phase: nothing reaches the service's host or stays on a link, the router offers only DHCP, and between VLANs only
    // the rules pass
    expect(ofPhase.filter((what) => what.endsWith(` ${natHost}`) || local.includes(what.split(".")[0] ?? ""))).toEqual([])
    expect(openPorts(said)).toEqual(["router udp 67"])
    expect([await crosses(10, 20), await crosses(20, 10)]).toEqual([true, false])
    // the range's own user gets in through the VPN, and nobody else
    expect([member, stranger].map((source) => internet.enters(source, at(10)))).toEqual([true, false])
    const [toGood, toBad] = [good, bad].map((to) => kinds.filter((kind) => `${kind}.${phase} ${to}` in seen))
    return { toGood, toBad, said, seen, got: ofPhase }
  }
  const change = (what: string, body: unknown = {}) =>
    user.ask(what.startsWith("st") ? "PUT" : "POST", `/testing/${what}?rangeID=${rangeId}`, body)

  const state = async () => (await user.get<{ readonly testingState: string }>(`/range?rangeID=${rangeId}`)).testingState

  beforeAll(async () => {
    lab = await openRealLab(30)
    // the service resolves names at the outside world, too
    resolver = join("/etc/netns", `${lab.id}-outside`)
    await mkdir(resolver, { recursive: true })
    await writeFile(join(resolver, "resolv.conf"), `nameserver ${natHost}\n`)
    service = await lab.start()
    key = await addUser(service.root, rangeId)
    user = service.as(key)
    second = (await rangeOf(user, rangeId)).rangeNumber
    expect(await user.upload(`/range/config?rangeID=${rangeId}`, config)).toMatchObject({ status: 200 })
    const [{ userNumber }] = await user.get<readonly [{ readonly userNumber: number }]>("/user")
    member = vpnAddress(userNumber)
    internet = await openInternet(lab.place.launcher, [good, bad, member, stranger])
    await internet.answer(name, [named])
    const run = await deploy(user, rangeId)
    await follow(user, run, [])
    await expectSuccess(user, run)
  }, 2 * patience)
  afterAll(async () => {
    internet?.close()
    if (resolver !== undefined) await rm(resolver, { recursive: true })
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  it("blocks when it is started, passes what is allowed until it is denied, and opens after a stop that a crash interrupts", async () => {
    expect(await reached("before")).toEqual([good, bad])
    expect(await probed("open")).toMatchObject({
      toGood: kinds,
      toBad: kinds,
      seen: { "asked t16.open.evil.example 16": expect.any(Number) },
      said: { "notallowed.example 1": `0 ${bad}` },
    })
    const busy = `echo debian | sudo -S -p '' setsid --fork ${python(flows)} busy ${at(10)} ${bad} ${good} >/dev/null 2>&1`
    expect(await lab.on(at(10), busy)).toMatchObject({ code: 0 })
    await eventually(
      "a busy connection, and a flood",
      internet.seen,
      (seen) => `flow-busy-tcp ${bad}` in seen && `flood ${bad}` in seen,
    )

    expect(await change("start")).toMatchObject({ status: 200 })
    await internet.take()
    expect(await reached("started")).toEqual([])
    const closed = await probed("closed")
    expect(closed).toMatchObject({
      got: [],
      said: { "t16.closed.evil.example 16": "5 ", "tcp.closed.evil.example 16 tcp": "5 ", "secretclosed 16": "5 " },
    })
    expect(Object.keys(closed.seen).filter((what) => what.startsWith("asked "))).toEqual([])
    expect(await reached("vpn", [member, stranger, vpnServer])).toEqual([])
    expect(await user.get(`/testing/blocked?rangeID=${rangeId}&refresh=true`)).toMatchObject({
      testingState: "on",
      rules: "as-loaded",
      blocked: expect.arrayContaining([
        expect.objectContaining({ machine: `${rangeId}-web`, destination: bad, protocol: "udp", port: 80 }),
      ]),
      names: expect.arrayContaining([
        expect.objectContaining({ machine: `${rangeId}-web`, name: "t16.closed.evil.example", queries: 1 }),
      ]),
    })
    expect(await change("allow", { ips: [good] })).toMatchObject({ status: 200, body: { allowed: [good] } })
    expect(await reached("allowed")).toEqual([good])
    expect(await probed("allowed")).toMatchObject({ toGood: kinds, toBad: [] })

    expect(await change("allow", { domains: [name] })).toMatchObject({ status: 200, body: { allowed: [name] } })
    const byName = await probed("named")
    expect(byName).toMatchObject({
      toGood: kinds,
      toBad: [],
      said: { [`${name} 1`]: `0 ${named}`, "notallowed.example 1": "5 " },
    })
    expect(Object.keys(byName.seen).filter((what) => what.startsWith("asked "))).toEqual([`asked ${name} 1`])
    expect(await reached("byname", [named, moved])).toEqual([named])
    await internet.answer(name, [moved])
    await answered([moved])
    expect(await reached("moved", [named, moved])).toEqual([named, moved])
    await internet.answer(name, twenty)
    await answered(twenty)
    expect(await reached("twenty", twenty)).toEqual(twenty)
    await internet.answer(name, [natHost])
    await answered([""])
    expect(await change("deny", { domains: [name] })).toMatchObject({ status: 200 })
    expect(await reached("unnamed", [named])).toEqual([])
    expect(await change("deny", { ips: [good] })).toMatchObject({ status: 200, body: { denied: [good] } })
    await internet.take()
    expect(await reached("denied")).toEqual([])
    expect(await probed("denied")).toMatchObject({ got: [] })

    const { VMs } = await user.get<{ readonly VMs: readonly { readonly proxmoxID: number; readonly isRouter: boolean }[] }>(
      `/range?rangeID=${rangeId}`,
    )
    const router = VMs.find(({ isRouter }) => isRouter)?.proxmoxID
    expect(await user.ask("PUT", `/range/reboot?rangeID=${rangeId}`, { machines: [router] })).toMatchObject({ status: 200 })
    await reachable("the machine behind the router that boots")
    expect(await reached("rebooted")).toEqual([])
    expect(await probed("rebooted")).toMatchObject({ got: [] })

    expect(await lab.on(at(10), "touch infected")).toMatchObject({ code: 0 })
    const stopping = change("stop").catch(() => undefined)
    await eventually("a stop under way", state, (is) => is === "leaving")
    await service.crash()
    await stopping
    service = await lab.start()
    user = service.as(key)
    await eventually("the end of testing mode", state, (is) => is === "off")
    // the machine was started, and boots
    await reachable("the machine that was rolled back")
    expect(await lab.on(at(10), "ls infected")).not.toMatchObject({ code: 0 })
    // the state is noted before the router opens
    await eventually(
      "an open router",
      () => reached("stopped"),
      ({ length }) => length === 2,
    )
    expect(await probed("over")).toMatchObject({ toGood: kinds, toBad: kinds })
  })

  /** Requests this, and kills the service after each entry of its run; each time the packets that arrived must be right. */
  const killedEverywhere = async (what: "start" | "stop", holds: (moment: string) => Promise<void>): Promise<number> => {
    const running = async () =>
      (await user.get<readonly { readonly id: string; readonly kind: string; readonly status: string }[]>("/runs")).filter(
        ({ status }) => status === "running",
      )
    await eventually("the end of what runs", running, ({ length }) => length === 0)
    const asked = change(what).catch(() => undefined)
    const runId = await eventually("the run", running, (runs) => runs.find(({ kind }) => kind === `testing-${what}`)?.id)
    const seen: StreamEvent[] = []
    const moments = new Set<string>()
    const isNext = (event: StreamEvent): boolean => {
      const moment = `${event.type} ${event.data.key ?? ""}`
      return isMoment(event) && !moments.has(moment) && moments.add(moment).has(moment)
    }
    while (await follow(user, runId, seen, isNext)) {
      await service.crash()
      await asked
      service = await lab.start()
      user = service.as(key)
      await holds([...moments].at(-1) ?? "")
    }
    await expectSuccess(user, runId)
    return moments.size
  }
  /** Packets that arrived from the machine that keeps sending, and from its open connections. */
  const leaks = (seen: Seen): readonly string[] => Object.keys(seen).filter((what) => /^(?:knock|flow-)/u.test(what))

  it("lets nothing out once it is closed, and opens only after everything is rolled back, wherever the service is killed", async () => {
    for (const line of [`${python(knocker)} ${good} ${bad}`, `${python(flows)} kept - ${good} ${bad}`])
      expect(await lab.on(at(30), `setsid nohup ${line} >/dev/null 2>&1 &`)).toMatchObject({ code: 0 })
    await eventually("what knocks", internet.seen, (seen) => `knock ${bad}` in seen && `flow-kept-tcp ${bad}` in seen)
    let isClosed = false
    const kills = await killedEverywhere("start", async (moment) => {
      const wasClosed = isClosed
      if ((await state()) === "on" || moment.startsWith("StepSettled firewall")) isClosed = true
      if (isClosed && !wasClosed) await internet.take()
      if (isClosed) expect([moment, leaks(await drained())]).toEqual([moment, []])
    })
    expect([await state(), isClosed]).toEqual(["on", true])
    expect(kills).toBeGreaterThan(10)

    expect(await lab.on(at(10), "touch infected")).toMatchObject({ code: 0 })
    await internet.take()
    const more = await killedEverywhere("stop", async (moment) => {
      const arrived = leaks(await internet.take())
      // the state is noted before the router opens
      if (arrived.length > 0) expect([moment, await state()]).toEqual([moment, "off"])
    })
    expect(more).toBeGreaterThan(10)
    expect(await state()).toBe("off")
    await eventually("an open router", internet.seen, (seen) => `knock ${bad}` in seen)
    expect(await lab.on(at(10), "ls infected")).not.toMatchObject({ code: 0 })
  })
})
