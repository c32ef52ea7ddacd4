import { expect, test } from "vitest"
import { dnsNames } from "../src/network/index.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

const variables = { rangeId: "LAB", rangeNumber: 7 }
const names = (...machines: ReadonlyArray<object>): ReadonlyArray<string> =>
  dnsNames(accepted({ ludus: machines }).config, variables).records.map(({ name, address }) => `${name} ${address}`)

test("a machine is known by its host name, without the part to the first hyphen, and both in home.arpa", () => {
  expect(names(machineKeys("a", { hostname: "{{ range_id }}-web-1", vlan: 30, ip_last_octet: 5 }))).toEqual([
    "LAB-web-1 10.7.30.5",
    "LAB-web-1.home.arpa 10.7.30.5",
    "web-1 10.7.30.5",
    "web-1.home.arpa 10.7.30.5",
  ])
  expect(names(machineKeys("a", { hostname: "web" }))).toEqual(["web 10.7.10.5", "web.home.arpa 10.7.10.5"])
  expect(names(machineKeys("a", { hostname: "web-" }))).toEqual(["web- 10.7.10.5", "web-.home.arpa 10.7.10.5"])
})

test("further names are answered with the address of their machine", () => {
  const machine = machineKeys("a", {
    hostname: "a",
    dns_rewrites: ["*.shop.example", "{{ range_id }}.example", "n{{ range_second_octet }}.example"],
  })
  expect(names(machine).slice(2)).toEqual(["*.shop.example 10.7.10.5", "LAB.example 10.7.10.5", "n7.example 10.7.10.5"])
})

test("a name is listed once for each address, whatever its case", () => {
  expect(names(machineKeys("x-a", { dns_rewrites: ["A", "a.HOME.arpa"] }), machineKeys("y-a", { ip_last_octet: 6 }))).toEqual([
    "x-a 10.7.10.5",
    "x-a.home.arpa 10.7.10.5",
    "a 10.7.10.5",
    "a.home.arpa 10.7.10.5",
    "y-a 10.7.10.6",
    "y-a.home.arpa 10.7.10.6",
    "a 10.7.10.6",
    "a.home.arpa 10.7.10.6",
  ])
})

test("names that only Ansible can evaluate are told apart", () => {
  const { config } = accepted({ ludus: [machineKeys("a", { dns_rewrites: ["{{ other }}.example", "ok.example"] })] })
  const { records, unresolved } = dnsNames(config, variables)
  expect(unresolved).toEqual([{ name: "{{ other }}.example", address: "10.7.10.5" }])
  expect(records.map(({ name }) => name)).toEqual(["a", "a.home.arpa", "ok.example"])
})
