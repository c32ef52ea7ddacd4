import dns from "node:dns"
import { syncBuiltinESMExports } from "node:module"
import { afterAll, expect, test } from "vitest"
import { settingsOf } from "../src/options.ts"

// as if a few names whose servers never answer held up every name that Node.js resolves for the service
const own = dns.promises.lookup
dns.promises.lookup = (() => new Promise(() => {})) as unknown as typeof own
syncBuiltinESMExports()
afterAll(() => {
  dns.promises.lookup = own
  syncBuiltinESMExports()
})

const { lookup } = settingsOf({ folder: "/nonexistent" })

test("hosts of sources are resolved apart from the names that the service itself resolves", async () => {
  expect(await lookup("localhost")).toContainEqual(expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/u))
  expect(await lookup("192.0.2.7")).toEqual(["192.0.2.7"])
  expect(await lookup("2001:db8::7")).toEqual(["2001:db8::7"])
})

test("a host without an address is said to have none", async () => {
  await expect(lookup("no-such-host.invalid")).rejects.toMatchObject({ code: "ENOTFOUND" })
})
