import { type GitUrl, parseGitUrl, parseNetwork } from "@rangewright/domain"
import { ownAddresses } from "@rangewright/host-tools"
import * as Result from "effect/Result"
import { expect, test } from "vitest"
import { destinationOf } from "../src/network/destination.ts"
import { settingsOf } from "../src/options.ts"

const names: Readonly<Record<string, readonly string[]>> = {
  "git.example": ["93.184.216.34"],
  "hypervisor.example": ["203.0.114.5"],
  "both.example": ["93.184.216.34", "203.0.114.5"],
  "lab.example": ["10.20.0.9"],
  "inner.example": ["10.20.0.5"],
  "local.example": ["127.0.0.1"],
}

const urlOf = (host: string): GitUrl => Result.getOrThrow(parseGitUrl(`https://${host}/labs.git`))

/** The addresses that are used, or why none are. */
const ask = async (host: string, networks: readonly string[] = []): Promise<unknown> => {
  const settings = settingsOf({
    folder: "/nonexistent",
    networks: networks.flatMap((text) => parseNetwork(text) ?? []),
    lookup: async (name) => names[name] ?? [name],
    tools: { never: async () => ["203.0.114.5", "203.0.116.0/24", "10.20.0.5", "127.0.0.1"] },
  })
  return destinationOf("fetch", urlOf(host), settings).then(
    ({ addresses }) => addresses,
    ({ facts, message }: { readonly facts: { readonly rule?: string }; readonly message: string }) => `${facts.rule}: ${message}`,
  )
}
const refusal = /^address: .*an address of the service or the hypervisor/u
const notPublic = /^address: .*an address that is not public/u

test("a source comes neither from the hypervisor nor from another protected address, public or in an allowed network", async () => {
  expect(await ask("git.example")).toEqual(["93.184.216.34"])
  expect(await ask("lab.example", ["10.20.0.0/16"])).toEqual(["10.20.0.9"])
  for (const host of ["hypervisor.example", "both.example", "203.0.114.5", "[::ffff:203.0.114.5]", "203.0.116.9"])
    expect(await ask(host), host).toMatch(refusal)
  expect(await ask("inner.example", ["10.20.0.0/16"])).toMatch(refusal)
  expect(await ask("hypervisor.example", ["203.0.114.0/24"])).toMatch(refusal)
  expect(await ask("local.example", ["0.0.0.0/0"])).toMatch(refusal)
  // whose private address it is stays unknown
  for (const host of ["inner.example", "10.20.0.6", "local.example"]) expect(await ask(host), host).toMatch(notPublic)
})

test("an operator who names the address alone, or the loopback, gets it", async () => {
  expect(await ask("inner.example", ["10.20.0.5/32"])).toEqual(["10.20.0.5"])
  expect(await ask("local.example", ["127.0.0.0/8"])).toEqual(["127.0.0.1"])
})

const own = ownAddresses().find((address) => /^\d/u.test(address) && !address.startsWith("127."))

test.skipIf(own === undefined)("this host's own address is not part of an allowed network either", async () => {
  expect(await ask(own ?? "", [`${own}/16`])).toMatch(refusal)
  expect(await ask(own ?? "", [`${own}/32`])).toEqual([own])
})
