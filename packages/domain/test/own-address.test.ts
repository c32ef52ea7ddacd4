import {
  foreignAddressNote,
  judgeAddresses,
  parseRangeConfig,
  type RangeConfig,
  type RangeId,
  rangeHosts,
} from "@rangewright/domain"
import type { Vmid } from "@rangewright/domain"
import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const range = { id: "LAB" as RangeId, number: 7 }
const machine = (name: string, vlan: number, octet: number): string =>
  `  - {vm_name: "{{ range_id }}-${name}", hostname: ${name}, template: debian-12-x64-server-template, vlan: ${vlan}, ip_last_octet: ${octet}, ram_gb: 2, cpus: 2, linux: true}\n`
const config = ((): RangeConfig => {
  const parsed = parseRangeConfig(`ludus:\n${machine("web", 10, 11)}${machine("db", 20, 120)}`)
  if (Result.isFailure(parsed)) throw new Error(JSON.stringify(parsed.failure))
  return parsed.success.config
})()
const judge = judgeAddresses(range, config)
const web = { name: "LAB-web", isRouter: false }
const router = { name: "LAB-router-debian11-x64", isRouter: true }

describe("the addresses that a machine reports", () => {
  it("are its own inside its range: the configured one before one of its VLAN's pool before any other", () => {
    expect(judge(web, ["10.7.99.5", "10.7.10.130", "10.7.10.11"])).toEqual({ own: "10.7.10.11", foreign: [] })
    expect(judge(web, ["10.7.99.5", "10.7.10.130"]).own).toBe("10.7.10.130")
    expect(judge(web, ["10.7.99.5"]).own).toBe("10.7.99.5")
    expect(judge({ name: "LAB-unknown", isRouter: false }, ["10.7.99.5"]).own).toBe("10.7.99.5")
  })

  it("are never those of another range, of the outer network or of the VPN, alone or beside its own", () => {
    for (const address of [
      "10.3.10.11",
      "10.70.10.11",
      "10.77.0.1",
      "192.0.2.107",
      "192.0.2.60",
      "192.0.2.254",
      "198.51.100.1",
    ]) {
      expect(judge(web, [address]), address).toEqual({ own: undefined, foreign: [address] })
      expect(judge(web, [address, "10.7.10.11"]), address).toEqual({ own: "10.7.10.11", foreign: [address] })
    }
  })

  it("are never the router's or another machine's", () => {
    for (const address of ["10.7.10.254", "10.7.20.254", "10.7.10.255", "10.7.10.0", "10.7.20.120"])
      expect(judge(web, [address]), address).toEqual({ own: undefined, foreign: [address] })
    expect(judge({ name: undefined, isRouter: false }, ["10.7.10.11"]).own).toBeUndefined()
  })

  it("in networks inside the machine are ignored while it has an address in its range", () => {
    expect(judge(web, ["172.17.0.1", "10.7.10.11", "192.168.1.1"])).toEqual({ own: "10.7.10.11", foreign: [] })
    expect(judge(web, ["172.17.0.1"])).toEqual({ own: undefined, foreign: ["172.17.0.1"] })
  })

  it("of a router are its outer one and its legs, and one of the outer network's pool until it has them", () => {
    expect(judge(router, ["10.7.10.254", "192.0.2.107"])).toEqual({ own: "192.0.2.107", foreign: [] })
    expect(judge(router, ["10.7.10.254"]).own).toBe("10.7.10.254")
    for (const address of ["192.0.2.60", "192.0.2.108", "192.0.2.254", "10.8.10.254", "10.7.10.11"])
      expect(judge(router, [address]), address).toEqual({ own: undefined, foreign: [address] })
    const atFirst = judgeAddresses(range, config, { firstBoot: true })
    expect(atFirst(router, ["192.0.2.60"]).own).toBe("192.0.2.60")
    expect(atFirst(router, ["192.0.2.60", "192.0.2.107"]).own).toBe("192.0.2.107")
    for (const address of ["192.0.2.49", "192.0.2.101", "192.0.2.108", "192.0.2.254", "10.8.10.254"])
      expect(atFirst(router, [address]).own, address).toBeUndefined()
    expect(atFirst(web, ["192.0.2.60"]).own).toBeUndefined()
  })

  it("whatever they are, lead nowhere but into the range or to its router", () => {
    const octet = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(10, 7, 70, 107, 254))
    const address = fc.oneof(
      fc.tuple(octet, octet, octet, octet).map((parts) => parts.join(".")),
      fc.tuple(octet, octet).map(([a, b]) => `10.7.${a}.${b}`),
      fc.string(),
      fc.constantFrom("10.7.1.1; id", " 10.7.1.1", "010.7.1.1", "10.7.1.1/16", "::ffff:10.7.1.1", "10.7.1"),
    )
    fc.assert(
      fc.property(fc.array(address), fc.boolean(), fc.boolean(), (reported, isRouter, known) => {
        const judged = judgeAddresses(range, known ? config : undefined)({ name: "LAB-web", isRouter }, reported)
        if (judged.own !== undefined)
          expect(judged.own).toMatch(isRouter ? /^(?:192\.0\.2\.107|10\.7\.\d+\.254)$/u : /^10\.7\.\d{1,3}\.\d{1,3}$/u)
        expect(judged.foreign).not.toContain(judged.own)
      }),
    )
  })

  it("that were kept before are judged again where hosts are shown", () => {
    const seen = {
      vmid: 141 as Vmid,
      node: "nodea",
      name: "LAB-web",
      power: "running",
      template: false,
      pool: "LAB",
      cpus: 2,
      memoryMiB: 2048,
      tags: [],
      address: "10.3.10.11",
      isRouter: false,
    } as const
    expect(rangeHosts(range, config, [seen])[0]?.address).toBeUndefined()
    expect(rangeHosts(range, undefined, [seen])[0]?.address).toBeUndefined()
  })

  it("that are not its own are shown", () => {
    expect(foreignAddressNote("LAB-web", ["10.3.10.11"])).toBe(
      "LAB-web reports the address 10.3.10.11, which does not belong to it, so it is not used",
    )
    expect(
      foreignAddressNote(
        "LAB-web",
        Array.from({ length: 10 }, (_, i) => `10.3.10.${i}`),
      ),
    ).toContain("10.3.10.7, 2 more, which do not")
  })
})
