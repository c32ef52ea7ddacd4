import type { Step } from "@rangewright/domain"
import { expect, test } from "vitest"
import { redacted } from "../src/worker/redacted.ts"

const stepOf = (input: object) => ({ key: "roles", action: { kind: "work", name: "install", input } }) as unknown as Step

test("what a tool prints is told without the step's secrets, however many lines there are and however large the input is", () => {
  const roles = Array.from({ length: 2000 }, (_, i) => ({ name: `acme.role_${i}`, version: "1.0.0", declared: [{ blueprint: "b" }] }))
  const step = stepOf({ roles, api_token: "s3cret-token" })
  const begin = performance.now()
  for (let line = 0; line < 5000; line++) expect(redacted("using s3cret-token", step)).toBe("using ***")
  expect(performance.now() - begin).toBeLessThan(2000)
  expect(redacted("using s3cret-token", stepOf({ api_token: "another" }))).toBe("using s3cret-token")
})
