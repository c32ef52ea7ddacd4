import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { factsOf, finishedOf, linesOf } from "../src/guest/stage-output.ts"

const input = { domain: "corp.example", domain_admin_password: "Tr0ub4dor&3", vars: { api_key: "s3cr3t-key", size: "big" } }

describe("what a stage prints", () => {
  it("as its result becomes facts, and no line for people, because it repeats the input", () => {
    const output = JSON.stringify({ changed: true, state: { ...input, address: "10.1.10.11/24" }, warnings: ["slow"] })
    expect(factsOf(output)).toEqual({ changed: true, address: "10.1.10.11", warnings: ["slow"] })
    expect(linesOf(output, input)).toBe("")
  })

  it("else is for people, with every secret of its input covered", () => {
    const output = "set password Tr0ub4dor&3 for corp.example\nkey s3cr3t-key\n"
    expect(linesOf(output, input)).toBe("set password *** for corp.example\nkey ***\n")
    expect(factsOf(output)).toEqual({})
  })

  it("of any sort is read without a crash", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (output) => {
        expect(typeof factsOf(output)).toBe("object")
        expect(typeof linesOf(output, input)).toBe("string")
      }),
    )
  })
})

describe("the end of a program in a guest", () => {
  it("is not there while it runs", () => {
    expect(finishedOf({ exited: 0 })).toBeUndefined()
    expect(finishedOf({})).toBeUndefined()
  })

  it("has an exit code, whichever way numbers and booleans come", () => {
    expect(finishedOf({ exited: true, exitcode: 0, "out-data": "x" })).toEqual({ exitCode: 0, output: "x", errors: "" })
    expect(finishedOf({ exited: "1", exitcode: "3", "err-data": "no" })).toEqual({ exitCode: 3, output: "", errors: "no" })
  })

  it("by a signal is a failure", () => {
    expect(finishedOf({ exited: 1, signal: 9 })?.exitCode).toBe(128)
  })
})
