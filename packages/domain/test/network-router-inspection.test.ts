import { describe, expect, it } from "vitest"
import { readRouterReport } from "../src/index.ts"

const line = (packets: number, more: object = {}): string =>
  JSON.stringify({ source: "10.7.10.10", destination: "198.18.0.2", protocol: 17, port: 53, packets, ...more })
const name = (queries: number, more: object = {}): string =>
  JSON.stringify({ source: "10.7.10.10", name: "c2.evil.example", queries, ...more })
const total = (packets: number, full = false): string => JSON.stringify({ packets, full })
const report = (...lines: readonly string[]): string => lines.join("\r\n")

describe("what a router tells of its rules", () => {
  it("is the traffic it refused, most packets first, and whether its rules are the ones loaded", () => {
    const lines = [
      line(1),
      line(3, { protocol: 1, port: undefined }),
      name(1),
      name(7, { name: "<name unprintable>" }),
      total(4),
      "",
    ]
    expect(readRouterReport(report("check 0", ...lines))).toEqual({
      rules: "as-loaded",
      packets: 4,
      isComplete: true,
      refused: [
        { source: "10.7.10.10", destination: "198.18.0.2", protocol: 1, packets: 3 },
        { source: "10.7.10.10", destination: "198.18.0.2", protocol: 17, port: 53, packets: 1 },
      ],
      refusedNames: [
        { source: "10.7.10.10", name: "<name unprintable>", queries: 7 },
        { source: "10.7.10.10", name: "c2.evil.example", queries: 1 },
      ],
    })
    expect(readRouterReport(report("check 3", total(0)))?.rules).toBe("changed")
    // a program or the script is missing
    const nothing = { packets: 0, isComplete: false, refused: [], refusedNames: [] }
    expect(readRouterReport(report("check 127"))).toEqual({ rules: "changed", ...nothing })
  })

  it("is undefined if it does not begin with the check", () => {
    for (const text of ["", total(0), "check", "check -1", "check 99999", "no check 0", `${line(1)}\ncheck 0`])
      expect(readRouterReport(text)).toBeUndefined()
  })

  it("is incomplete if it was cut, full, or has lines that are neither a destination nor a name", () => {
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
      name(-1),
      name(1, { name: "x".repeat(2000) }),
      name(1, { name: 7 }),
      name(1, { source: "<script>" }),
    ]
    for (const one of odd)
      expect(readRouterReport(report("check 0", one, line(2), total(2))), one).toMatchObject({
        isComplete: false,
        refused: [{ packets: 2 }],
        refusedNames: [],
      })
    expect(readRouterReport(report("check 0", line(2)))?.isComplete).toBe(false)
    expect(readRouterReport(report("check 0", line(2), total(2, true)))?.isComplete).toBe(false)
  })

  it("keeps the destinations with most packets, and the names that were asked for most, of a router that tells very many", () => {
    const many = Array.from({ length: 5000 }, (_, n) => [line(n), name(n)]).flat()
    const { refused = [], refusedNames = [], isComplete } = readRouterReport(report("check 0", ...many, total(1))) ?? {}
    expect([refused.length, refused[0]?.packets, isComplete]).toEqual([1000, 4999, false])
    expect([refusedNames.length, refusedNames[0]?.queries]).toEqual([1000, 4999])
  })
})
