import { expect, test } from "vitest"
import { toolOptions } from "../src/compose/tools.ts"
import { loadConfig } from "../src/config/config.ts"

test("tools avoid every protected address, and protected networks whole", async () => {
  const environment = { RANGEWRIGHT_PROTECTED_ADDRESSES: "203.0.114.5, 203.0.115.0/24, 2001:db8::/32, localhost" }
  const avoided = await toolOptions(loadConfig({ file: undefined, environment })).never?.()
  expect(avoided).toEqual(expect.arrayContaining(["203.0.114.5", "203.0.115.0/24", "2001:db8::/32", "127.0.0.1"]))
})
