import {
  allowedDomain,
  closedNames,
  type Json,
  natHost,
  packetFilter,
  parseRangeConfig,
  readRouterReport,
  renderGuard,
  renderIptablesRestore,
  vpnServer,
} from "@rangewright/domain"
import type { RealHost } from "@rangewright/pve-simulator"
import * as Result from "effect/Result"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { type Internet, openInternet, type Seen } from "./support/internet.ts"
import { type Lab, openLab, rangeNumber, routerInput, routerName } from "./support/lab.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"
import { flows, forger, kinds, local, misdirector, openPorts, prober, question } from "./support/probes.ts"

const config = `ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 10, ram_gb: 2, cpus: 2, linux: true}
  - {vm_name: "{{ range_id }}-free", hostname: free, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 12, ram_gb: 2, cpus: 2, linux: true, testing: {snapshot: false, block_internet: false}}
  - {vm_name: "{{ range_id }}-far", hostname: far, template: debian-12-x64-server-template, vlan: 20, ip_last_octet: 20, ram_gb: 2, cpus: 2, linux: true}
network:
  inter_vlan_default: REJECT
  rules:
    - {name: far to the web, vlan_src: 20, vlan_dst: public, protocol: tcp, ports: 443, action: ACCEPT}
    - {name: web to the far, vlan_src: 10, vlan_dst: 20, protocol: tcp, ports: 22, action: ACCEPT}
`
const [web, free, far]: readonly [string, string, string] = ["10.7.10.10", "10.7.10.12", "10.7.20.20"]
/** Outside: one that becomes allowed, one that never is, those that names have, a member of the VPN, one without a grant. */
const [good, bad, named, moved, client, stranger] = [
  "198.18.0.1",
  "198.18.0.2",
  "198.18.0.5",
  "198.18.0.6",
  "198.51.100.4",
  "198.51.100.5",
] as const

interface Testing {
  readonly ips: readonly string[]
  readonly domains: readonly string[]
}

/** What the stages of the router are given: open, or closed but for what is allowed. */
const inputs = (macOfFree: string, testing?: Testing): { readonly firewall: Json; readonly dns: Json } => {
  const parsed = parseRangeConfig(config)
  if (Result.isFailure(parsed)) throw new Error(JSON.stringify(parsed.failure))
  const domains = (testing?.domains ?? []).flatMap((entry) => allowedDomain(entry) ?? [])
  const filter = {
    rangeNumber,
    network: parsed.success.config.network,
    grants: [{ userId: "bob", userNumber: 4 }],
    hostAddresses: [],
    testing:
      testing === undefined
        ? undefined
        : {
            exempt: [{ address: free, macs: [macOfFree] }],
            allowed: [...testing.ips, ...domains.flatMap(({ address }) => address ?? [])],
            names: domains.map(({ name }) => name),
          },
  }
  const rules = renderIptablesRestore(packetFilter(filter), "outside") ?? ""
  return {
    firewall: { interface: 0, placeholder: "outside", rules, guard: renderGuard(filter) },
    dns: {
      records: [{ name: "web", address: web }],
      ...(testing === undefined ? {} : { closed: closedNames(rangeNumber, [10, 20], domains) }),
    },
  }
}

/** Asks the router for names of the outside, again and again. */
const asker = `
import itertools, socket, struct, time  # def storm
for n in itertools.count():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in ("n%d" % n, "kill", "example")) + b"\\0\\0\\x10\\0\\1", ("10.7.10.254", 53))
    time.sleep(0.01)
`

/** Asks the router for more names than it remembers. */
const many = `
import socket, struct
for n in range(600):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    s.sendto(struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in ("m%d" % n, "many", "example")) + b"\\0\\0\\1\\0\\1", ("10.7.10.254", 53))
    s.recv(4096)
`

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

describe.skipIf(obstacle !== undefined)(`testing mode${skipNote(obstacle)}`, { timeout: patience }, () => {
  let lab: Lab
  let router: RealHost
  let internet: Internet
  let mac: string
  const running: Promise<unknown>[] = []

  const loadBy = async (stage: "firewall" | "dns", testing?: Testing): Promise<void> => {
    const done = await lab.perform(lab.task(routerName, stage, inputs(mac, testing)[stage]))
    expect(done).toMatchObject({ fault: "", ok: true })
  }
  const load = async (testing?: Testing): Promise<void> => {
    await Promise.all([loadBy("firewall", testing), loadBy("dns", testing)])
  }
  /** Puts the files of the filter into the router without loading them. */
  const write = async (testing?: Testing): Promise<void> => {
    const { rules = "", guard = "" } = inputs(mac, testing).firewall as Readonly<Record<string, string>>
    await writeFile(join(router.root, "etc/rangewright/filter.rules"), rules.replaceAll("-i outside ", "-i eth0 "))
    await writeFile(join(router.root, "etc/rangewright/guard.nft"), guard)
  }
  const on = async (host: RealHost, ...command: readonly [string, ...string[]]): Promise<string> => {
    const { code, output, errors } = await host.run(...command)
    if (code !== 0) throw new Error(`${command.join(" ").slice(0, 80)} failed on ${host.name}: ${errors}`)
    return output
  }
  /** What the stage of the filter does where only rules change, without the tool. */
  const loadFilter = async (testing?: Testing): Promise<void> => {
    await write(testing)
    await on(router, "/etc/rangewright/load-rules", "load", "filter")
  }
  const probe = async (
    phase: string,
    from = "web",
    own = web,
    pretended: readonly string[] = [],
  ): Promise<Readonly<Record<string, string>>> =>
    JSON.parse(
      await on(
        lab.host(`LAB-${from}`),
        ...(["python3", "-c", prober, phase, own, `${own.slice(0, -2)}254`] as const),
        ...[pretended, [good, bad, natHost]].map((addresses) => JSON.stringify(addresses)),
      ),
    ) as Readonly<Record<string, string>>
  /** The machine that keeps its way out says something: whatever another machine sent before has arrived by then, or never will. */
  const drained = async (): Promise<Seen> => {
    const mark = `drain${Math.random()}`
    const send = `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:${mark};", ("${named}", 80))`
    await until(async () => {
      await on(lab.host("LAB-free"), "python3", "-c", send)
      return `${mark} ${named}` in (await internet.seen())
    })
    return internet.take()
  }
  const arrived = (seen: Seen, phase: string, to: string): readonly string[] =>
    kinds.filter((kind) => `${kind}.${phase} ${to}` in seen)
  /** Whether a machine gets a connection to the SSH server of another. */
  const crosses = async (from: string, to: string): Promise<boolean> =>
    (await lab.host(`LAB-${from}`).run("python3", "-c", `import socket; socket.create_connection(("${to}", 22), 30).recv(3)`))
      .code === 0
  const flow = (name: string, flood: string, ...goals: readonly string[]): void =>
    void running.push(lab.host("LAB-web").run("python3", "-c", flows, name, flood, ...goals))
  const stopFlows = async (): Promise<void> => {
    if (running.length === 0) return
    await lab.host("LAB-web").run("pkill", "-KILL", "-f", "def storm")
    await Promise.all(running.splice(0))
  }
  const refused = async () =>
    (await on(router, "/etc/rangewright/load-rules", "refused"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Readonly<Record<string, string | number | boolean>>)
  /** What the stage that inspects a router tells; without `byStage`, from the same lines without the tool, which takes seconds. */
  const inspected = async (byStage = false) => {
    if (!byStage) {
      const lines = "/etc/rangewright/load-rules check all >/dev/null 2>&1; echo check $?; /etc/rangewright/load-rules refused"
      return readRouterReport(await on(router, "sh", "-c", lines))
    }
    const told = await lab.perform(lab.task(routerName, "inspect-router", {}))
    expect(told).toMatchObject({ fault: "", changed: false })
    return readRouterReport(told.report ?? "")
  }
  const check = async (what: string): Promise<number> => (await router.run("/etc/rangewright/load-rules", "check", what)).code

  beforeAll(async () => {
    lab = await openLab()
    await lab.setConfig(config)
    internet = await openInternet(lab.hosts.outside, [good, bad, named, moved, client, stranger, vpnServer])
    await internet.answer("allowed.example", [named])
    await internet.answer("sub.allowed.example", [named])
    await internet.answer("moving.example", [good])
    await internet.answer("rebind.allowed.example", ["192.0.2.254"])
    await internet.answer("chain.allowed.example", ["first.cdn.example", "second.cdn.example", named])
    await internet.answer("inward.allowed.example", ["first.cdn.example", "192.0.2.254"])
    router = await lab.addRouter([10, 20])
    await lab.addMachine({ name: "LAB-web", vlan: 10, octet: 10 })
    await lab.addMachine({ name: "LAB-free", vlan: 10, octet: 12 })
    await lab.addMachine({ name: "LAB-far", vlan: 20, octet: 20 })
    mac = (await lab.host("LAB-free").cards())[0]?.mac ?? ""
    const legs = [10, 20].map((vlan) => ({ vlan, address: `10.7.${vlan}.254/24` }))
    const set = await lab.perform(lab.task(routerName, "router", { ...(routerInput as object), legs } as Json))
    expect(set).toMatchObject({ fault: "", ok: true })
  }, patience)
  afterEach(async () => {
    await stopFlows()
  })
  afterAll(async () => {
    internet?.close()
    await lab?.close()
  }, patience)

  /** What the router said to a machine of names. */
  const namesOf = (said: Readonly<Record<string, string>>) => Object.entries(said).filter(([what]) => !what.startsWith("router "))
  /** What arrived outside of what a machine sent to both addresses in every way there is, and what the router answered it. */
  const sendAll = async (phase: string, pretended: readonly string[] = []) => {
    await internet.take()
    const said = await probe(phase, "web", web, pretended)
    const seen = await drained()
    expect([natHost, client, stranger].map((source) => internet.enters(source, web))).toEqual([true, true, false])
    // whatever the phase: nothing for the service's host, and between VLANs what has a rule
    expect(Object.keys(seen).filter((what) => what.startsWith("port") && what.endsWith(` ${natHost}`))).toEqual([])
    expect(arrived(seen, phase, natHost)).toEqual([])
    expect(Object.keys(seen).filter((what) => local.some((kind) => what.startsWith(`${kind}.${phase} `)))).toEqual([])
    // whose addresses the router hands out, and nothing else of its own
    expect(openPorts(said)).toEqual(["router udp 67"])
    expect([await crosses("web", far), await crosses("far", web)]).toEqual([true, false])
    return { said, seen, good: arrived(seen, phase, good), bad: arrived(seen, phase, bad) }
  }
  /** Waits until the router has refused this many more packets. */
  const refuseMore = async (more: number): Promise<void> => {
    const before = Number((await refused()).at(-1)?.["packets"])
    await until(async () => Number((await refused()).at(-1)?.["packets"]) > before + more)
  }
  const toUs = (seen: Seen): Seen => Object.fromEntries(Object.entries(seen).filter(([key]) => !key.endsWith(` ${named}`)))
  const asked = (seen: Seen): readonly string[] => Object.keys(seen).filter((key) => key.startsWith("asked "))
  const answer = async (name: string): Promise<string> =>
    on(lab.host("LAB-web"), "python3", "-c", question, "10.7.10.254", name).then((text) => text.trim())

  it("begins on a router that forwards nothing, and resolves no names, before it has rules", async () => {
    await internet.take()
    const said = await probe("early")
    expect(namesOf(said).filter(([, how]) => how !== "none")).toEqual([])
    await load()
    const seen = await drained()
    expect([arrived(seen, "early", good), arrived(seen, "early", bad), asked(seen)]).toEqual([[], [], []])
  })

  it("lets everything out before it begins", async () => {
    const open = await sendAll("open")
    expect([open.good, open.bad]).toEqual([kinds, kinds])
    expect(open.said).toMatchObject({ "web 1": `0 ${web}`, "allowed.example 1": `0 ${named}` })
    expect(open.seen).toHaveProperty(["asked t16.open.evil.example 16"])
    expect([await check("all"), await refused()]).toEqual([0, [{ packets: 0, full: false }]])
  })

  it("blocks everything from its start, including open connections, even if connection tracking cannot be flushed", async () => {
    await internet.take()
    flow("old", "-", bad, good)
    for (const to of [bad, good])
      for (const protocol of ["tcp", "udp"]) await until(async () => `flow-old-${protocol} ${to}` in (await internet.seen()))
    await router.run("mount", "--bind", "/usr/bin/true", "/usr/sbin/conntrack")
    await load({ ips: [], domains: [] })
    await router.run("umount", "/usr/sbin/conntrack")
    const closed = await sendAll("closed", [free, far, "192.0.2.107", "192.0.2.254", client])
    expect(toUs(closed.seen)).toEqual({})
    const { "web 1": own, ...others } = closed.said
    expect(own).toBe(`0 ${web}`)
    expect(namesOf(others).filter(([, how]) => how !== "5 ")).toEqual([])
    await stopFlows()
    expect(await check("all")).toBe(0)
  })

  it("lets clients of the VPN in by their grants, and no machine out by the VPN", async () => {
    await internet.take()
    const goals = [client, stranger, vpnServer]
    for (const goal of goals)
      for (const port of [80, 51_820]) {
        const send = `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:vpn;", ("${goal}", ${port}))`
        // refused by the router, which the sender may learn
        await lab.host("LAB-web").run("python3", "-c", send)
      }
    const seen = await drained()
    expect(Object.keys(seen).filter((key) => goals.some((goal) => key.endsWith(` ${goal}`)))).toEqual([])
    expect([client, stranger].map((source) => internet.enters(source, web))).toEqual([true, false])
  })

  it("reports what it blocked", async () => {
    const all = await refused()
    const about = { source: web, destination: bad }
    expect(all).toContainEqual({ ...about, protocol: 6, port: 853, packets: expect.any(Number) })
    expect(all).toContainEqual({ ...about, protocol: 17, port: 123, packets: 1 })
    expect(all).toContainEqual({ ...about, protocol: 1, packets: 2 })
    expect(all).toContainEqual({ ...about, protocol: 47, packets: 1 })
    expect(all.at(-1)).toEqual({ packets: expect.any(Number), full: false })
    const name = { source: web, name: "t16.closed.evil.example", queries: 1 }
    await until(async () => (await inspected())?.refusedNames?.some((one) => one.name === name.name) === true)
    const told = await inspected(true)
    expect(told?.refusedNames).toContainEqual(name)
    // also by TCP, and not what the router itself answers
    expect(told?.refusedNames).toContainEqual({ ...name, name: "tcp.closed.evil.example" })
    expect(told?.refusedNames?.filter((one) => one.name === "web")).toEqual([])
    // one that asks without end fills its own part; a port that asked the open name service before gets no answer until that is forgotten
    await on(router, "conntrack", "-F")
    await on(lab.host("LAB-web"), "python3", "-c", many)
    await until(async () => (await inspected())?.isComplete === false)
    const ofOne = (await inspected())?.refusedNames?.filter(({ source }) => source === web)
    expect([ofOne?.length, ofOne?.find((one) => one.name === name.name)]).toEqual([512, name])
    expect(told).toMatchObject({ rules: "as-loaded", isComplete: true })
    expect(told?.refused).toContainEqual({ ...about, protocol: 17, port: 123, packets: 1 })
  })

  it("leaves their way and their names to machines that keep them, and to rules of the configuration", async () => {
    // the router cannot translate one protocol without ports for two machines at once
    await on(router, "conntrack", "-F")
    await internet.take()
    const said = await probe("kept", "free", free)
    const kept = await drained()
    expect([arrived(kept, "kept", good), arrived(kept, "kept", bad)]).toEqual([kinds, kinds])
    expect(kept).toHaveProperty(["asked t16.kept.evil.example 16"])
    expect(said).toMatchObject({ "web 1": `0 ${web}`, "notallowed.example 1": `0 ${bad}` })
    await probe("far", "far", far)
    const fromFar = await drained()
    expect([arrived(fromFar, "far", good), arrived(fromFar, "far", bad)]).toEqual([["tcp443"], ["tcp443"]])
    expect(asked(fromFar)).toEqual([])
  })

  it("answers nothing to made-up sources, and lends no machine's way to another VLAN", async () => {
    await internet.take()
    const nowhere = "198.18.0.9"
    await on(lab.host("LAB-web"), "python3", "-c", forger, nowhere, "192.0.2.107", "forged")
    await on(lab.host("LAB-web"), "python3", "-c", forger, nowhere, "10.7.10.254", "forged")
    const thief = lab.host("LAB-far")
    const own = (await thief.cards())[0]?.mac ?? ""
    await on(thief, "ip", "link", "set", "dev", "eth0", "address", mac)
    await on(thief, "python3", "-c", forger, free, bad, "stolen")
    await on(thief, "ip", "link", "set", "dev", "eth0", "address", own)
    const seen = await drained()
    expect(Object.keys(seen).filter((key) => key.endsWith(` ${nowhere}`) || key.startsWith("stolen"))).toEqual([])
  })

  it("lets answers to somebody outside go to nobody else", async () => {
    await internet.take()
    const ask = `import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("${natHost}", 7777)); s.sendto(b"x", ("${web}", 9999))`
    await until(async () => {
      internet.run("python3", "-c", ask)
      await on(lab.host("LAB-web"), "python3", "-c", misdirector, natHost, web, bad, stranger, natHost)
      return `late ${natHost}` in (await internet.seen())
    })
    expect(Object.keys(await drained()).filter((key) => key.startsWith("late "))).toEqual([`late ${natHost}`])
  })

  it("opens what is allowed, and at no moment anything else, under a flood", async () => {
    flow("new", web, bad, good)
    await refuseMore(2000)
    await internet.take()
    await load({ ips: [good], domains: [`allowed.example (${named})`] })
    await refuseMore(2000)
    const allowed = await sendAll("allowed")
    expect([allowed.good, allowed.bad]).toEqual([kinds, []])
    expect(Object.keys(allowed.seen).filter((key) => key.endsWith(` ${bad}`))).toEqual([])
    expect(asked(allowed.seen).toSorted()).toEqual([
      "asked allowed.example 1",
      "asked chain.allowed.example 1",
      "asked inward.allowed.example 1",
      "asked rebind.allowed.example 1",
      "asked sub.allowed.example 1",
    ])
    expect(allowed.said).toMatchObject({
      "allowed.example 1": `0 ${named}`,
      "sub.allowed.example 1": `0 ${named}`,
      "chain.allowed.example 1": `0 ${named}`,
      "notallowed.example 1": "5 ",
      "moving.example 1": "5 ",
      "t16.allowed.evil.example 16": "5 ",
    })
    for (const inside of ["rebind", "inward"]) expect(allowed.said[`${inside}.allowed.example 1`]).toMatch(/^\d+ $/u)
    await stopFlows()
    // refused before the name service was started anew, and since; what is allowed by now was refused once, before
    for (const [name, queries] of Object.entries({ "t16.closed.evil.example": 1, "notallowed.example": 2, "allowed.example": 1 }))
      expect((await inspected())?.refusedNames).toContainEqual({ source: web, name, queries })
  })

  it("follows the addresses of what is allowed", async () => {
    const send = (to: string) =>
      on(
        lab.host("LAB-web"),
        "python3",
        "-c",
        `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:follow;", ("${to}", 80))`,
      )
    await internet.take()
    await send(moved)
    expect(await drained()).not.toHaveProperty([`follow ${moved}`])
    await internet.answer("allowed.example", [moved])
    await until(async () => (await answer("allowed.example")) === moved)
    await send(moved)
    await send(named)
    expect(await drained()).toMatchObject({ [`follow ${moved}`]: 1, [`follow ${named}`]: 1 })
    const twenty = Array.from({ length: 20 }, (_, i) => `198.18.1.${i + 1}`)
    await internet.answer("allowed.example", twenty)
    await until(async () => (await answer("allowed.example")).split(",").length === twenty.length)
    for (const to of twenty) await send(to)
    expect(await drained()).toMatchObject(Object.fromEntries(twenty.map((to) => [`follow ${to}`, 1])))
    await internet.answer("allowed.example", [moved])
    await until(async () => (await answer("allowed.example")) === moved)
  })

  it("closes at once what is denied, also what is open", async () => {
    flow("denied", web, good)
    await until(async () => `flow-denied-tcp ${good}` in (await internet.seen()))
    await loadFilter({ ips: [], domains: [`allowed.example (${named})`] })
    await refuseMore(1000)
    const denied = await sendAll("denied")
    expect(Object.keys(denied.seen).filter((key) => key.endsWith(` ${good}`) || key.endsWith(` ${bad}`))).toEqual([])
    await stopFlows()
    // what a name was answered stays open while the name is allowed, and no longer
    const send = `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:denied;", ("${moved}", 80))`
    await on(lab.host("LAB-web"), "python3", "-c", send)
    expect(await drained()).toHaveProperty([`denied ${moved}`])
    await load({ ips: [], domains: [] })
    await on(lab.host("LAB-web"), "python3", "-c", send)
    expect(await drained()).not.toHaveProperty([`denied ${moved}`])
    expect(await answer("allowed.example")).toBe("")
  })

  it("is on in a router that comes up, from its first moment, under a flood", async () => {
    flow("rebooted", web, bad)
    await refuseMore(500)
    await internet.take()
    await router.stop()
    await router.start()
    await refuseMore(500)
    expect(Object.keys(await drained()).filter((what) => what.endsWith(` ${bad}`))).toEqual([])
    await stopFlows()
    const rebooted = await sendAll("rebooted")
    expect(toUs(rebooted.seen)).toEqual({})
    expect(rebooted.said).toMatchObject({ "web 1": `0 ${web}`, "allowed.example 1": "5 " })
    expect(await check("all")).toBe(0)
  })

  it("is either closed or unchanged wherever loading is killed, both at its start and at its end", async () => {
    const programs = ["nft", "iptables-restore"] as const
    for (const name of programs) {
      const real = name === "nft" ? "/root/real-nft" : "/usr/sbin/iptables-nft-restore"
      const text = `#!/bin/sh\necho >>/run/calls\n[ ! -e /run/fatal ] || [ "$(wc -l </run/calls)" != "$(cat /run/fatal)" ] || kill -KILL 0\nexec ${real} "$@"\n`
      await writeFile(join(router.root, `root/${name}`), text, { mode: 0o755 })
    }
    await on(router, "cp", "/usr/sbin/nft", "/root/real-nft")
    await on(router, "ln", "-sf", "/root/iptables-restore", "/etc/alternatives/iptables-restore")
    await on(router, "mount", "--bind", "/root/nft", "/usr/sbin/nft")
    const killedAt = async (call: number): Promise<boolean> => {
      await on(router, "sh", "-c", `echo ${call} >/run/fatal; : >/run/calls`)
      const { code } = await router.run("setsid", "--wait", "/etc/rangewright/load-rules", "load", "filter")
      await on(router, "rm", "/run/fatal")
      return code !== 0
    }
    const none: Testing = { ips: [], domains: [] }
    /** What gets out: of a flow that is open, of new ones, and questions to the router. */
    const getsOut = async (): Promise<readonly boolean[]> => {
      await drained()
      let way = [false, false, false]
      // where one gets out, the others do, too, though perhaps not in the same moment
      for (let moment = 0; moment < 30 && (moment === 0 || (way.includes(true) && way.includes(false))); moment += 1) {
        const seen = await drained()
        const now = [`flow-kill-udp ${bad}` in seen, `flood ${bad}` in seen, asked(seen).some((name) => name.includes("kill"))]
        way = way.map((before, at) => before || now[at] === true)
      }
      return way
    }
    await loadFilter()
    flow("kill", web, bad)
    running.push(lab.host("LAB-web").run("python3", "-c", asker))
    const outcomes: string[] = []
    for (const [begin, end] of [
      [undefined, none],
      [none, undefined],
    ] as const) {
      let call = 1
      for (let isKilled = true; isKilled; call += 1) {
        await write(begin)
        await on(router, "/etc/rangewright/load-rules", "load", "filter")
        await write(end)
        isKilled = await killedAt(call)
        const way = await getsOut()
        expect(
          [
            [true, true, true],
            [false, false, false],
          ],
          `${begin === undefined ? "begin" : "end"} ${call}`,
        ).toContainEqual(way)
        outcomes.push(
          `${begin === undefined ? "begin" : "end"} ${isKilled ? "killed" : "whole"} ${way[0] === true ? "open" : "closed"}`,
        )
        if (isKilled) expect(await check("filter")).toBe(3)
      }
    }
    expect([...new Set(outcomes)]).toEqual([
      "begin killed open",
      "begin killed closed",
      "begin whole closed",
      "end killed closed",
      "end killed open",
      "end whole open",
    ])
    await stopFlows()
    await on(router, "ln", "-sf", "/usr/sbin/iptables-nft-restore", "/etc/alternatives/iptables-restore")
    await on(router, "umount", "--lazy", "/usr/sbin/nft")
    await loadFilter(none)
  })

  it("never passes IPv6 on, also where the kernel would", async () => {
    const give = (address: string, card: string) => ["-6", "address", "replace", address, "dev", card, "nodad"] as const
    const switchOn = "for f in all default eth0 eth1; do echo 0 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done"
    await on(router, "sh", "-c", `${switchOn}; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding`)
    await on(router, "ip", ...give("2001:db8:1::1/64", "eth0"))
    await on(router, "ip", ...give("2001:db8:2::1/64", "eth1"))
    await on(lab.host("LAB-web"), "ip", ...give("2001:db8:2::2/64", "eth0"))
    await on(lab.host("LAB-web"), "ip", "-6", "route", "replace", "default", "via", "2001:db8:2::1")
    internet.run("ip", ...give("2001:db8:1::2/64", "eth0"))
    const code = `import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"rw:six;", ("2001:db8:1::2", 80))`
    // nor does the router itself look for other routers: its kernel does that by itself, when it pleases
    const own = `import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"rw:own;", ("ff02::2", 80, 0, socket.if_nametoindex("eth0")))`
    const send = async () => {
      await on(lab.host("LAB-web"), "python3", "-c", code)
      await router.run("python3", "-c", own)
    }
    await send()
    expect(Object.keys(await drained()).filter((what) => /^six | ff02:/u.test(what))).toEqual([])
    await on(router, "nft", "delete", "table", "inet", "rangewright")
    await until(async () => {
      await send()
      const seen = await internet.seen()
      return "six 2001:db8:1::2" in seen && "own ff02::2" in seen
    })
    await loadFilter()
    await internet.take()
    await send()
    expect(await drained()).not.toHaveProperty(["six 2001:db8:1::2"])
    await loadFilter({ ips: [], domains: [] })
  })

  it("sees what was changed by hand, and restores it", async () => {
    for (const [program, ...words] of [
      ["nft", "insert", "rule", "inet", "rangewright", "out", "accept"],
      ["iptables", "-I", "FORWARD", "-j", "ACCEPT"],
      ["nft", "delete", "table", "inet", "rangewright"],
    ] as const) {
      await on(router, program, ...words)
      expect(await check("filter")).toBe(3)
      expect((await inspected())?.rules).toBe("changed")
      // one of them is enough
      expect(Object.keys(toUs(await drained())).filter((key) => key.endsWith(bad))).toEqual([])
      if (words[0] === "delete") await loadBy("firewall", { ips: [], domains: [] })
      else await on(router, "/etc/rangewright/load-rules", "load", "filter")
      expect(await check("all")).toBe(0)
    }
    expect(toUs((await sendAll("repaired")).seen)).toEqual({})
  })

  it("answers an allowed name with its pinned address where the name service cannot tell the guard what it answers", async () => {
    const older = `#!/bin/sh\n[ "$1" != --version ] || { echo "Compile time options: no-nftset"; exit; }\nexec /root/real-dnsmasq "$@"\n`
    await writeFile(join(router.root, "root/dnsmasq"), older, { mode: 0o755 })
    await on(router, "cp", "/usr/sbin/dnsmasq", "/root/real-dnsmasq")
    await on(router, "mount", "--bind", "/root/dnsmasq", "/usr/sbin/dnsmasq")
    await internet.answer("allowed.example", [moved])
    await loadBy("dns", { ips: [], domains: [`allowed.example (${named})`] })
    await on(router, "umount", "--lazy", "/usr/sbin/dnsmasq")
    expect([await answer("allowed.example"), await answer("sub.allowed.example")]).toEqual([named, named])
  })

  it("lets everything out when it ends, and forgets what it blocked", async () => {
    await load()
    const over = await sendAll("over")
    expect([over.good, over.bad]).toEqual([kinds, kinds])
    expect(over.said).toMatchObject({ "web 1": `0 ${web}`, "notallowed.example 1": `0 ${bad}` })
    expect([await check("all"), await refused()]).toEqual([0, [{ packets: 0, full: false }]])
  })
})
