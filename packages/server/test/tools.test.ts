import { expect, test } from "vitest"
import { keptAddresses, toolOptions } from "../src/compose/tools.ts"
import { loadConfig } from "../src/config/config.ts"

test("tools avoid every protected address, and protected networks whole", async () => {
  const environment = { RANGEWRIGHT_PROTECTED_ADDRESSES: "203.0.114.5, 203.0.115.0/24, 2001:db8::/32, localhost" }
  const avoided = await toolOptions(loadConfig({ file: undefined, environment })).never?.()
  expect(avoided).toEqual(expect.arrayContaining(["203.0.114.5", "203.0.115.0/24", "2001:db8::/32", "127.0.0.1"]))
})

test("an address stays protected while its name cannot be resolved", async () => {
  const environment = { RANGEWRIGHT_PROTECTED_ADDRESSES: "pve.example, gone.example, 203.0.113.9" }
  let answer: () => Promise<readonly string[]> = () => Promise.resolve(["203.0.113.5"])
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))
  const find = (host: string) => (host === "pve.example" ? answer() : failing("ENOTFOUND")())
  const avoided = keptAddresses(loadConfig({ file: undefined, environment }), find)
  expect(await avoided()).toEqual(["203.0.113.5", "203.0.113.9"])
  answer = failing("EAI_AGAIN")
  expect(await avoided()).toEqual(["203.0.113.5", "203.0.113.9"])
  const fresh = keptAddresses(loadConfig({ file: undefined, environment }), find)
  // better nothing than what must not be reached; the message does not say whose name it is
  await expect(fresh()).rejects.toThrow(/^nothing can be reached now: the names of protected addresses cannot be resolved$/u)
})
