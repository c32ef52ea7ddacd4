import { expect, it } from "vitest"
import { dialOver } from "../../src/playbook/jump.ts"

it("a connection over a way that has ended closes, and the service goes on", async () => {
  const connection = await dialOver("/nonexistent/way")("192.0.2.1", 22)
  await new Promise((resolve) => connection.once("close", resolve))
  expect(connection.destroyed).toBe(true)
})
