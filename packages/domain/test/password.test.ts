import { afterWrong, noWrongAttempts, passwordProblem, type Patience } from "@rangewright/domain"
import { describe, expect, it, test } from "vitest"

const own = ["JD", "Jane Doe", "jane.doe@lab.example"]

describe("a password", () => {
  it.each([
    ["too short", "Xk29-qf", "at least 8"],
    ["too short in bytes", "", "at least 8"],
    ["too long", "aB3-".repeat(17), "at most 64"],
    ["with control characters", "Xk29-qf\u0007Lw", "control characters"],
    ["of one character", "aaaaaaaaaa", "repetition or a sequence"],
    ["of a few characters", "1212121212", "repetition or a sequence"],
    ["that counts up", "12345678", "repetition or a sequence"],
    ["that counts down", "hgfedcba", "repetition or a sequence"],
    ["that is a date", "19841224", "short number"],
    ["that everybody has", "password", "common"],
    ["that everybody has, in capitals", "PASSWORD1", "common"],
    ["that everybody has, with a year", "Welcome2026!", "common"],
    ["that everybody has, in look-alikes", "P@ssw0rd!", "common"],
    ["along the keyboard", "1q2w3e4r", "common"],
    ["of signs and a common word", "!!!admin!!!", "common"],
    ["of the own id", "jd-2026-jd", "own names"],
    ["of the own id alone", "JD123456", "own names"],
    ["of the own name", "JaneDoe99", "own names"],
    ["of a part of the own name", "jane1984", "own names"],
    ["of the own address", "jane.doe@lab.example", "own names"],
    ["of two common words", "admin-Password-1", "common"],
  ])("%s is refused", (_what, password, reason) => {
    expect(passwordProblem(password, own)).toContain(reason)
  })

  it.each([
    "correct horse battery",
    "another long one",
    "Tr0ub4dor&3",
    "hT7vQ2mXz9Lp4Rw",
    "8f!2#x9Z",
    "пароль-длинный",
    "my password is long",
    "dragon soccer winter lovely",
  ])("that is not guessed first is taken: %s", (password) => {
    expect(passwordProblem(password, own)).toBeUndefined()
  })
})

test("has delays that double after the free attempts up to the longest, and mistakes are forgotten over time", () => {
  const patience: Patience = { free: 3, first: 1000, longest: 8000, forgets: 60_000 }
  let attempts = noWrongAttempts
  let now = 1_000_000
  const waits = Array.from({ length: 8 }, () => {
    attempts = afterWrong(attempts, now, patience)
    const wait = attempts.openAt - now
    now = attempts.openAt
    return wait
  })
  expect(waits).toEqual([0, 0, 0, 1000, 2000, 4000, 8000, 8000])
  now += 60_000 * 8
  expect(afterWrong(attempts, now, patience).openAt).toBe(now)
})
