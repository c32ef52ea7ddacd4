import { parseCidr, rangeNetwork } from "@rangewright/domain"
import { Resolver } from "node:dns/promises"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type Reach, permission, resolvePublic, type Surroundings } from "../src/reach.ts"

const names: Readonly<Record<string, readonly string[]>> = {
  "mirror.example": ["93.184.216.34", "2606:2800:220:1::1"],
  "half.example": ["93.184.216.34", "10.8.0.1"],
  "inner.example": ["192.168.1.10"],
  "own.example": ["10.7.10.11"],
  "galaxy.lab": ["192.168.1.20"],
  "hypervisor.example": ["203.0.114.5"],
}
const resolve = (host: string) => Promise.resolve(names[host] ?? [])
const surroundings: Surroundings = {
  never: () => Promise.resolve(["203.0.114.5", "10.7.0.9", "2606:2800:220:2:0::5"]),
  resolve,
  resolveNamed: resolve,
}
/** The same, with networks among what no tool may connect to. */
const closing = (...never: readonly string[]): Surroundings => ({ ...surroundings, never: () => Promise.resolve(never) })
const router = parseCidr("192.0.2.107")
const reach: Reach = { networks: [rangeNetwork(7), ...(router === undefined ? [] : [router])], servers: [], internet: true }

const ask = async (host: string, port = 22, given = reach, around = surroundings): Promise<readonly string[] | string> => {
  const answer = await permission(given, around, host, port)
  return "because" in answer ? answer.because : answer.addresses
}

describe("what a run may connect to", () => {
  it("is its range, its router, and public addresses", async () => {
    expect(await ask("10.7.10.11")).toEqual(["10.7.10.11"])
    expect(await ask("192.0.2.107")).toEqual(["192.0.2.107"])
    expect(await ask("93.184.216.34", 443)).toEqual(["93.184.216.34"])
    expect(await ask("Mirror.Example", 443)).toEqual(names["mirror.example"])
    expect(await ask("own.example", 443)).toEqual(["10.7.10.11"])
  })

  it("is limited to the given ports of machines, but to no ports of public addresses", async () => {
    const given: Reach = { ...reach, ports: [22, 5986] }
    expect(await ask("10.7.10.11", 5986, given)).toEqual(["10.7.10.11"])
    for (const host of ["10.7.10.11", "own.example"])
      expect(await ask(host, 8006, given)).toBe(
        `${host}:8006 may not be reached from here: only the ports 22, 5986 of machines may be reached`,
      )
    expect(await ask("93.184.216.34", 443, given)).toEqual(["93.184.216.34"])
  })

  it("is no address of a network that is closed, in any spelling", async () => {
    const around = closing("203.0.114.0/24", "10.7.0.9/29", "2606:2800:220:2::/64")
    for (const host of [
      "203.0.114.77",
      "hypervisor.example",
      "::ffff:203.0.114.77",
      "10.7.0.8",
      "10.7.0.15",
      "2606:2800:220:2::9",
    ])
      expect(await ask(host, 443, reach, around)).toMatch(/belongs to the service or the hypervisor$/u)
    for (const host of ["203.0.115.1", "10.7.0.16", "2606:2800:220:3::9"])
      expect(await ask(host, 443, reach, around)).toEqual([host])
  })

  it("is its range also where a closed network is around all ranges", async () => {
    const around = closing("10.0.0.0/8", "192.0.2.0/24", "10.7.0.9")
    expect(await ask("10.7.10.11", 22, reach, around)).toEqual(["10.7.10.11"])
    expect(await ask("192.0.2.107", 22, reach, around)).toEqual(["192.0.2.107"])
    for (const host of ["10.8.10.11", "10.7.0.9", "192.0.2.108"])
      expect(await ask(host, 22, reach, around)).toMatch(/belongs to the service or the hypervisor$/u)
  })

  it("is nothing else, however it is spelled", async () => {
    for (const host of [
      "10.8.10.11",
      "10.70.0.1",
      "192.0.2.108",
      "192.0.2.254",
      "198.51.100.1",
      "127.0.0.1",
      "0.0.0.0",
      "169.254.169.254",
      "100.64.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "::",
      "::ffff:127.0.0.1",
      "::ffff:10.8.10.11",
      "::ffff:7f00:1",
      "64:ff9b::a08:a0b",
      "2002:a08:a0b::1",
      "fe80::1",
      "fe80::1%eth0",
      "fd00::1",
      "localhost",
      "10.8.2571",
      "0x0a080a0b",
      "167905803",
      "012.010.012.013",
      "10.8.10.11.",
      "inner.example",
      "half.example",
      "no.such.name",
      "",
      " 10.7.10.11",
      "10.7.10.11 ",
      "10.7.10.11\0",
      "10.7.10.11@127.0.0.1",
    ])
      expect(await ask(host), host).toMatch(/may not be reached from here/u)
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) expect(await ask("10.7.10.11", port)).toMatch("there is no such port")
  })

  it("is never the service or the hypervisor, wherever their addresses are", async () => {
    for (const host of [
      "203.0.114.5",
      "::ffff:203.0.114.5",
      "hypervisor.example",
      "10.7.0.9",
      "2606:2800:220:2::5",
      "2606:2800:0220:0002:0:0:0:5",
    ])
      expect(await ask(host), host).toMatch("it belongs to the service or the hypervisor")
  })

  it("is only the range when the internet is switched off", async () => {
    const kept = { ...reach, internet: false }
    expect(await ask("10.7.10.11", 22, kept)).toEqual(["10.7.10.11"])
    for (const host of ["93.184.216.34", "mirror.example"])
      expect(await ask(host, 443, kept)).toMatch("this run may not use the internet")
    const asked: string[] = []
    const watched = { ...surroundings, resolve: (host: string) => (asked.push(host), resolve(host)) }
    await permission(kept, watched, "secret.in.a.name.example", 443)
    expect(asked).toEqual([])
  })

  it("is a private server that the operator named, at its port only", async () => {
    const named = { networks: [], internet: false, servers: [{ host: "galaxy.lab", port: 8443 }] }
    expect(await ask("GALAXY.lab", 8443, named)).toEqual(["192.168.1.20"])
    expect(await ask("galaxy.lab", 22, named)).toMatch("may not use the internet")
    expect(await ask("192.168.1.20", 8443, named)).toMatch("neither in this range nor public")
    const pinned = { ...named, servers: [{ host: "mirror.example", port: 443, addresses: ["93.184.216.34"] }] }
    expect(await ask("mirror.example", 443, pinned)).toEqual(["93.184.216.34"])
    expect(await ask("mirror.example", 80, pinned)).toMatch("may not use the internet")
  })
})

describe("a name that a tool asks for", () => {
  it("is resolved by the name servers that the host has then, not by those at the start of the service", async () => {
    const asked = new Set<Resolver>()
    const noted = function (this: Resolver) {
      asked.add(this)
      return Promise.resolve(["93.184.216.34"])
    }
    const spies = [
      vi.spyOn(Resolver.prototype, "resolve4").mockImplementation(noted as never),
      vi.spyOn(Resolver.prototype, "resolve6").mockImplementation(noted as never),
    ]
    onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
    await resolvePublic("mirror.example")
    await resolvePublic("mirror.example")
    expect(asked.size).toBe(2)
  })
})
