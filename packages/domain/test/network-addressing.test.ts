import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  addressNumber,
  bridgeName,
  dhcpRange,
  gatewayAddress,
  machineAddress,
  machineOctets,
  natHost,
  natLeases,
  natNetwork,
  overlaps,
  parseCidr,
  rangeNetwork,
  rangeNumberProblem,
  rangeNumbers,
  vlanNetwork,
  vlans,
  vnetName,
  vpnAddress,
  vpnNetwork,
  wanAddress,
} from "../src/network/index.ts"

const within = ({ first, last }: { readonly first: number; readonly last: number }): fc.Arbitrary<number> =>
  fc.integer({ min: first, max: last })
const rangeNumber = within(rangeNumbers)
const contains = (network: { readonly first: number; readonly last: number }, address: string): boolean => {
  const number = addressNumber(address)
  return number !== undefined && number >= network.first && number <= network.last
}

test("the DHCP pool of the NAT network is exactly .50 to .100, and contains neither the host nor a router", () => {
  const handedOut = (octet: number) => natLeases.some((network) => contains(network, `192.0.2.${octet}`))
  const octets = Array.from({ length: 256 }, (_, octet) => octet).filter(handedOut)
  expect([octets[0], octets.at(-1), octets.length]).toEqual([50, 100, 51])
  expect(natLeases.map(({ text }) => parseCidr(text))).toEqual(natLeases)
  for (const address of [natHost, wanAddress(rangeNumbers.first), wanAddress(rangeNumbers.last)])
    expect(natLeases.some((network) => contains(network, address))).toBe(false)
})

test("range 7 has these addresses and names", () => {
  expect({
    network: rangeNetwork(7).text,
    vlan: vlanNetwork(7, 30).text,
    machine: machineAddress(7, 30, 5),
    gateway: gatewayAddress(7, 30),
    dhcp: dhcpRange(7, 30),
    wan: wanAddress(7),
    vpn: vpnAddress(7),
    bridge: bridgeName(7),
    vnet: vnetName(7),
  }).toEqual({
    network: "10.7.0.0/16",
    vlan: "10.7.30.0/24",
    machine: "10.7.30.5",
    gateway: "10.7.30.254",
    dhcp: { first: "10.7.30.100", last: "10.7.30.253" },
    wan: "192.0.2.107",
    vpn: "198.51.100.7",
    bridge: "vmbr1007",
    vnet: "r7",
  })
})

test("a range number is refused when its router would have no address, and the reason is told", () => {
  expect([1, 7, 153].map(rangeNumberProblem)).toEqual([undefined, undefined, undefined])
  for (const number of [0, -1, 1.5, 154, Number.NaN]) expect(rangeNumberProblem(number)).toContain("192.0.2.253")
})

describe("for every range", () => {
  test("all of its addresses are in its networks, and the router's is in the outside network", () => {
    fc.assert(
      fc.property(rangeNumber, within(vlans), within(machineOctets), (number, vlan, octet) => {
        const address = machineAddress(number, vlan, octet)
        expect(contains(vlanNetwork(number, vlan), address)).toBe(true)
        expect(contains(rangeNetwork(number), address)).toBe(true)
        expect(contains(vlanNetwork(number, vlan), gatewayAddress(number, vlan))).toBe(true)
        expect(address).not.toBe(gatewayAddress(number, vlan))
        expect(contains(natNetwork, wanAddress(number))).toBe(true)
        expect(wanAddress(number)).not.toBe("192.0.2.254")
      }),
    )
  })

  test("no other range shares an address or a name", () => {
    fc.assert(
      fc.property(rangeNumber, rangeNumber, (one, other) => {
        fc.pre(one !== other)
        expect(overlaps(rangeNetwork(one), rangeNetwork(other))).toBe(false)
        expect(wanAddress(one)).not.toBe(wanAddress(other))
        expect(bridgeName(one)).not.toBe(bridgeName(other))
        expect(vnetName(one)).not.toBe(vnetName(other))
      }),
    )
  })

  test("names fit what Linux and the hypervisor allow", () => {
    fc.assert(fc.property(rangeNumber, (number) => bridgeName(number).length <= 15 && vnetName(number).length <= 8))
  })
})

describe("networks", () => {
  test("are read with their host bits cleared", () => {
    expect(parseCidr("10.7.30.99/24")).toEqual(vlanNetwork(7, 30))
    expect(parseCidr("198.51.100.1/24")).toEqual(vpnNetwork)
    expect(parseCidr("10.0.0.1")?.text).toBe("10.0.0.1/32")
    expect(parseCidr("255.255.255.255/0")).toEqual({ text: "0.0.0.0/0", first: 0, last: 2 ** 32 - 1 })
  })

  test.each([
    "",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0/8",
    "10.0.0.256/8",
    "010.0.0.0/8",
    "0x0a.0.0.0/8",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "::/0",
    " 10.0.0.0/8",
  ])("%j is none", (text) => {
    expect(parseCidr(text)).toBeUndefined()
  })
})
