import type { Step } from "@rangewright/domain"
import { expect, test } from "vitest"
import { redacted } from "../src/worker/redacted.ts"

test("tool output is shown without the step's secrets; its input is searched for them once, however many lines there are", () => {
  let searched = 0
  const input = {
    api_token: "s3cret-token",
    get roles() {
      searched++
      return ["acme.web"]
    },
  }
  const stepOf = (input: object) => ({ key: "roles", action: { kind: "work", name: "install", input } }) as unknown as Step
  const step = stepOf(input)
  for (let line = 0; line < 50; line++) expect(redacted("using s3cret-token", step)).toBe("using ***")
  expect(searched).toBe(1)
  expect(redacted("using s3cret-token", stepOf({ api_token: "another" }))).toBe("using s3cret-token")
})
