import { NameFault, NameLookup } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { networkInterfaces } from "node:os"
import { expect, test } from "vitest"
import { type InternetOptions, nameLookupLayer } from "../src/index.ts"

const resolve = (name: string, options: InternetOptions): Promise<string | NameFault> =>
  Effect.runPromise(
    NameLookup.pipe(
      Effect.flatMap((lookup) => lookup.resolve(name)),
      Effect.catch((fault) => Effect.succeed(fault)),
      Effect.provide(nameLookupLayer(options)),
    ),
  )
const answering =
  (...addresses: readonly string[]) =>
  () =>
    Promise.resolve(addresses)
const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))
const reasonOf = (answer: string | NameFault) => (answer instanceof NameFault ? answer.facts.reason : answer)

test("gives the first public address", async () => {
  expect(await resolve("www.example.org", { resolve4: answering("93.184.215.14", "8.8.8.8") })).toBe("93.184.215.14")
})

test("leaves out addresses that are not public, of this host, or kept by the operator", async () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address))
  const inside = [
    "10.2.10.11",
    "127.0.0.1",
    "169.254.169.254",
    "192.0.2.254",
    "198.51.100.7",
    "224.0.0.1",
    "0.0.0.0",
    "100.64.0.1",
  ]
  const resolve4 = answering(...own, ...inside, "::ffff:8.8.4.4", "1.1.1.1", "8.8.8.8")
  expect(await resolve("www.example.org", { resolve4, never: answering("1.1.1.1") })).toBe("8.8.8.8")
})

test("refuses a name that has inner addresses only, without telling them", async () => {
  const answer = await resolve("inside.example.org", {
    resolve4: answering("10.2.10.11", "1.1.1.1"),
    never: answering("1.1.1.1"),
  })
  expect(reasonOf(answer)).toBe("not-public")
  expect(String(answer)).not.toContain("10.2.10.11")
})

test.each([
  ["ENOTFOUND", "not-found"],
  ["ENODATA", "not-found"],
  ["ETIMEOUT", "timeout"],
  ["ESERVFAIL", "unavailable"],
  ["ECONNREFUSED", "unavailable"],
])("name servers that answer %s: %s", async (code, reason) => {
  expect(reasonOf(await resolve("www.example.org", { resolve4: failing(code) }))).toBe(reason)
})

test("a name without an IPv4 address is not found", async () => {
  expect(reasonOf(await resolve("v6.example.org", { resolve4: answering() }))).toBe("not-found")
})

test("does not wait for name servers that never answer, and lets them go", async () => {
  let gone = false
  const resolve4 = (_: string, signal: AbortSignal) =>
    new Promise<never>(() => signal.addEventListener("abort", () => (gone = true)))
  expect(reasonOf(await resolve("slow.example.org", { resolve4, timeoutMillis: 20 }))).toBe("timeout")
  expect(gone).toBe(true)
})

test.each([
  "",
  "localhost",
  "127.0.0.1",
  "0x7f.1",
  "[::1]",
  "www.example.org.",
  ".example.org",
  "a..example.org",
  "*.example.org",
  "-a.example.org",
  "a-.example.org",
  "www.exa mple.org",
  "www.example.org\n",
  "www.example.org/x",
  "www.example.org:443",
  "user@example.org",
  "exämple.org",
  `${"a".repeat(64)}.example.org`,
  `${"a.".repeat(126)}org`,
])("asks nobody for %j, which is no name", async (name) => {
  let asked = 0
  const resolve4 = () => Promise.resolve([`8.8.8.${++asked}`])
  expect(reasonOf(await resolve(name, { resolve4 }))).toBe("invalid")
  expect(asked).toBe(0)
})
