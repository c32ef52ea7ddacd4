import { expect, test } from "vitest"
import { failureOf } from "../src/git/failures.ts"

test("an account without an entry in /etc/passwd is named as the reason why git over ssh failed, with what to do", () => {
  const said = "No user exists for uid 4321\r\nfatal: Could not read from remote repository.\n"
  const { message, facts } = failureOf("read the repository", 128, said)
  expect(facts).toMatchObject({ reason: "unavailable", rule: "account", hint: expect.stringContaining("/etc/passwd") as string })
  expect(message).toContain("the service's account has no entry in /etc/passwd")
})
