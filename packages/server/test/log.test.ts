import * as Effect from "effect/Effect"
import { afterEach, expect, test, vi } from "vitest"
import { effectLog, type Log, makeLog } from "../src/observe/log.ts"

afterEach(() => void vi.restoreAllMocks())

/** What is written to the log. */
const written = (write: (log: Log) => void): string => {
  const lines: string[] = []
  vi.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0)
  write(makeLog({ level: "info", format: "text" }))
  return lines.join("")
}
const logged = (facts: object): string => written((log) => log.error(facts, "told"))

const secret = "s3cret-of-ann"
const cyclic = () => {
  const one: Record<string, unknown> = { kept: "here" }
  one["itself"] = one
  one["password"] = secret
  return one
}
const failed = (cause: unknown) => Object.assign(new Error("it failed", { cause }), { kept: "here", apiKey: secret })

test.each<[string, unknown]>([
  ["itself", secret],
  ["three objects", { a: { b: { c: { kept: "here", password: secret } } } }],
  ["arrays", [[{ kept: "here", tokenSecret: secret }]]],
  [
    "a map",
    {
      map: new Map<string, unknown>([
        ["token", secret],
        ["kept", "here"],
      ]),
    },
  ],
  ["a set in a map", new Map([["set", new Set([{ kept: "here", cookie: secret }])]])],
  ["an error", failed(undefined)],
  ["causes of errors", failed(failed({ headers: { Authorization: secret, "X-API-KEY": secret } }))],
  ["errors of an error", new AggregateError([failed(undefined)], "several")],
  ["a value that says how it is written", { toJSON: () => ({ kept: "here", secret }) }],
  ["a cycle", cyclic()],
])("the log hides a secret within %s, and shows what is beside it", (what, value) => {
  const line = logged(what === "itself" ? { password: value, kept: "here" } : { value })
  expect(line).not.toContain(secret)
  expect(line).toContain("here")
})

test("an error is logged with its message, stack and causes", () => {
  const line = logged(new TypeError("no such thing", { cause: new Error("the disk is full") }))
  for (const part of ['"type":"TypeError"', "no such thing", "log.test.ts", "the disk is full"]) expect(line).toContain(part)
})

test("an error that an effect logs is not lost", () => {
  const told = Effect.logError("stopped", failed(undefined))
  const line = written((log) => Effect.runSync(Effect.provide(told, effectLog(log))))
  expect(line).toContain("it failed")
  expect(line).not.toContain(secret)
})

test("what is too deep, and what leads to itself on many ways, is cut", () => {
  const deep = Array.from({ length: 20_000 }).reduce<unknown>((inner) => ({ inner }), { password: secret })
  const crowd: object[] = Array.from({ length: 40 }, () => ({ password: secret }))
  for (const one of crowd) Object.assign(one, { crowd })
  expect(logged({ deep })).not.toContain(secret)
  expect(logged({ crowd })).not.toContain(secret)
})
