import { describe, expect, it } from "vitest"
import { readRouterReport } from "../src/index.ts"

const line = (packets: number, more: object = {}): string =>
  JSON.stringify({ source: "10.7.10.10", destination: "198.18.0.2", protocol: 17, port: 53, packets, ...more })
const total = (packets: number, full = false): string => JSON.stringify({ packets, full })
const report = (...lines: readonly string[]): string => lines.join("\r\n")

describe("what a router tells of its rules", () => {
  it("is what it did not let out, most packets first, and whether its rules are those that were loaded", () => {
    expect(readRouterReport(report("check 0", line(1), line(3, { protocol: 1, port: undefined }), total(4), ""))).toEqual({
      rules: "as-loaded",
      packets: 4,
      isComplete: true,
      refused: [
        { source: "10.7.10.10", destination: "198.18.0.2", protocol: 1, packets: 3 },
        { source: "10.7.10.10", destination: "198.18.0.2", protocol: 17, port: 53, packets: 1 },
      ],
    })
    expect(readRouterReport(report("check 3", total(0)))?.rules).toBe("changed")
    // a program or the script is missing
    expect(readRouterReport(report("check 127"))).toEqual({ rules: "changed", packets: 0, isComplete: false, refused: [] })
  })

  it("is nothing where it does not begin with the check", () => {
    for (const text of ["", total(0), "check", "check -1", "check 99999", "no check 0", `${line(1)}\ncheck 0`])
      expect(readRouterReport(text)).toBeUndefined()
  })

  it("is incomplete where it was cut, was full, or holds what is no destination", () => {
    const odd = [
      "{",
      "[]",
      "null",
      line(-1),
      line(1.5),
      line(1, { destination: "<script>" }),
      line(1, { source: "10.7.10.10 " + "x".repeat(5000) }),
      line(1, { protocol: 256 }),
      line(1, { port: "53; rm -rf /" }),
      line(Number.MAX_VALUE),
    ]
    for (const one of odd)
      expect(readRouterReport(report("check 0", one, line(2), total(2))), one).toMatchObject({
        isComplete: false,
        refused: [{ packets: 2 }],
      })
    expect(readRouterReport(report("check 0", line(2)))?.isComplete).toBe(false)
    expect(readRouterReport(report("check 0", line(2), total(2, true)))?.isComplete).toBe(false)
  })

  it("keeps the destinations with most packets of a router that tells very many", () => {
    const many = Array.from({ length: 5000 }, (_, packets) => line(packets))
    const { refused = [], isComplete } = readRouterReport(report("check 0", ...many, total(1))) ?? {}
    expect([refused.length, refused[0]?.packets, isComplete]).toEqual([1000, 4999, false])
  })
})
