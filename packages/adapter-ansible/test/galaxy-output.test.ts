import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { generalMessages, readMessages, roleFailures, tidyReason } from "../src/installer/galaxy-output.ts"

/** Breaks a text as the tool does: at blanks where it can, else anywhere. */
const wrap = (text: string, width = 79): readonly string[] => {
  const lines: string[] = []
  for (let rest = text; rest !== "";) {
    const room = rest.slice(0, width + 1)
    const blank = rest.length <= width ? rest.length : room.lastIndexOf(" ")
    const end = blank <= 0 ? width : blank
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return lines
}

describe("a Galaxy server that cannot be reached", () => {
  const told = (cause: string) =>
    tidyReason(
      `Unknown error when attempting to call Galaxy at 'https://galaxy.ansible.com/api/': <urlopen error ${cause}>. <urlopen error ${cause}>`,
      "/tmp/x",
    )
  const advice = "An operator can check galaxy_url, or name a role_folder where there is no internet."

  test("is named once, with the cause and what an operator can do", () => {
    expect(told("[Errno 111] Connection refused")).toBe(
      `Galaxy at https://galaxy.ansible.com/api/ cannot be reached: [Errno 111] Connection refused. ${advice}`,
    )
    expect(
      told("Tunnel connection failed: 403 galaxy.ansible.com:443 may not be reached from here: its name cannot be resolved"),
    ).toBe(`Galaxy at https://galaxy.ansible.com/api/ cannot be reached: its name cannot be resolved. ${advice}`)
  })

  test("is not what another failure says", () => {
    expect(tidyReason("Unknown error when attempting to call Galaxy at 'x': the answer is no JSON", "/tmp/x")).toContain(
      "Unknown",
    )
  })
})

describe("the tool's messages", () => {
  test("a broken warning is one message, and ends where the next begins", () => {
    const lines = [
      "Starting galaxy role install process",
      ...wrap(
        "[WARNING]: - acme.web was NOT installed successfully: - sorry, acme.web was not found on http://127.0.0.1:8080/api/.",
      ),
      ...wrap(
        "[WARNING]: - acme.db was NOT installed successfully: - the specified version (9.9) of acme.db was not found in the list",
      ),
      "",
      "- acme.util (1.0) was installed successfully",
      "ERROR! - you can use --ignore-errors to skip failed roles and finish processing the list.",
    ]
    const messages = readMessages(lines)
    expect(messages).toHaveLength(2)
    expect(roleFailures(messages).get("acme.web")).toBe("sorry, acme.web was not found on http://127.0.0.1:8080/api/.")
    expect(roleFailures(messages).get("acme.db")).toBe("the specified version (9.9) of acme.db was not found in the list")
    expect(roleFailures(messages).get("acme.util")).toBeUndefined()
    expect(roleFailures(messages).get("acme.we")).toBeUndefined()
  })

  test("a message about one role does not apply to all of them", () => {
    const messages = ["- acme.web was NOT installed successfully: nobody knows", "the server cannot be reached", "- see above"]
    expect(generalMessages(messages)).toEqual(["the server cannot be reached", "- see above"])
  })

  test("errors of either spelling are messages; the advice to continue is not", () => {
    expect(readMessages(["ERROR! it failed", "because of x", "", "unrelated"])).toEqual(["it failed because of x"])
    expect(readMessages(["[ERROR]: it failed"])).toEqual(["it failed"])
    expect(
      readMessages(["[WARNING]: - web was NOT installed successfully.", "ERROR! - you can use --ignore-errors to go on"]),
    ).toHaveLength(1)
  })

  test("the reason is found wherever the tool breaks its lines", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,60}\.[a-z][a-z0-9_-]{0,120}$/u)
    fc.assert(
      fc.property(name, fc.integer({ min: 20, max: 120 }), (role, width) => {
        const messages = readMessages(wrap(`[WARNING]: - ${role} was NOT installed successfully: nobody knows`, width))
        expect(roleFailures(messages).get(role)?.replace(/\s/gu, "")).toBe("nobodyknows")
        expect(roleFailures(messages).get(`${role}x`)).toBeUndefined()
      }),
    )
  })

  test("the reasons of thousands of roles are read in one pass", () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `acme.role_${i}`)
    const messages = names.map((name) => `- ${name} was NOT installed successfully: nobody knows`)
    const reasons = roleFailures(messages)
    expect(names.every((name) => reasons.get(name) === "nobody knows")).toBe(true)
  })

  test.each([
    `the specified version (9.9.9) of acme.web was not found in the list of available versions ([{'name': '1.0.0', 'id': 7,
 'download_url': 'http://galaxy.example/x'}]).`,
    "the specified version (9.9.9) of acme.web was not found in the list of available versions ([]).",
  ])("a version that is not there is told in a sentence, without the server's records", (reason) => {
    expect(tidyReason(reason, "/data/run-1")).toBe(
      "the specified version (9.9.9) of acme.web was not found in the list of available versions",
    )
  })

  test("a reason for people is short, on one line and without the tool's folder", () => {
    expect(tidyReason("cannot write\n  /data/run-1/roles/x", "/data/run-1")).toBe("cannot write …/roles/x")
    expect(tidyReason("x".repeat(2000), "/data").length).toBeLessThan(600)
    expect(tidyReason(`no${" ".repeat(400_000)}x`, "/data")).toBe("no x")
  })

  test("a megabyte of beginnings of a reason is shortened", () => {
    const beginning = "Unknown error when attempting to call Galaxy at 'x': <urlopen error "
    const told = tidyReason(beginning.repeat(1_000_000 / beginning.length), "/data")
    expect(told).toBe(`${beginning.repeat(10).slice(0, 500)}…`)
    for (const other of ["([{", "( [ ", " ( ["])
      expect(tidyReason(other.repeat(300_000), "/data").length).toBeLessThanOrEqual(501)
  })
})
