import { describe, expect, test } from "vitest"
import { readQuery } from "../src/decode/url.ts"

describe("a query parameter", () => {
  test("without a sign is true, and without a value absent", () => {
    expect({ ...readQuery("dryRun&userID=&x=1") }).toEqual({ dryRun: "true", x: "1" })
    expect({ ...readQuery("&&dryRun=true&") }).toEqual({ dryRun: "true" })
    expect(() => readQuery("dryRun&dryRun=false")).toThrow("dryRun is given twice, with different values")
  })
})
