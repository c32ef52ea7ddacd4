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

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const throwing = () => {
  throw new Error("not now")
}
const hostile: [string, object][] = [
  [
    "a getter that throws",
    {
      get name() {
        return throwing()
      },
    },
  ],
  ["a toJSON that throws", { toJSON: throwing }],
  ["a revoked proxy", revoked()],
  ["a map whose key has no text", new Map([[Object.create(null), 1]])],
]

test.each(hostile)("%s does not keep the rest from being logged", (_, value) => {
  for (const line of [logged({ value, beside: "here" }), logged({ list: [value], beside: "here" })]) {
    expect(line).toContain("told")
    expect(line).toContain("beside=here")
    expect(line).toContain("unloggable")
  }
})

test.each(hostile)("%s is logged, without its facts, where it is all there is", (_, value) => {
  expect(logged(value)).toContain("told")
  const told = Effect.logError("told", { value }, new Error("it failed"))
  expect(written((log) => Effect.runSync(Effect.provide(told, effectLog(log))))).toContain("it failed")
})

test("bytes are logged as their number", () => {
  const line = logged({ buffer: Buffer.alloc(7), floats: new Float64Array(2), plain: new ArrayBuffer(5) })
  for (const part of ["buffer=[7 bytes]", "floats=[16 bytes]", "plain=[5 bytes]"]) expect(line).toContain(part)
})

test("a value with many entries is cut, whatever holds them", () => {
  const many = Array.from({ length: 50_000 }, (_, i) => i)
  const values = [
    many,
    new Set(many),
    new Map(many.map((i) => [i, i])),
    Object.fromEntries(many.map((i) => [`n${i}`, i])),
    many.map((i) => [i]),
  ]
  for (const value of values) {
    const line = logged({ first: "here", value })
    expect(line.length).toBeLessThan(20_000)
    expect(line).toContain("first=here")
    expect(line).toContain("[…]")
  }
  expect(logged({ value: many.slice(0, 900) })).not.toContain("[…]")
})

test("what is logged for people begins no line of its own and steers no terminal", () => {
  const forged = "12:00:00 info  all is well"
  const hostile = `x\n${forged}\r${forged}\r\n${forged}\u2028${forged}\u001b[2K\u009b2K\u202e`
  const line = written((log) => log.warn({ text: hostile, inside: { [hostile]: hostile }, [hostile]: 1 }, hostile))
  const [first = "", ...more] = line.trimEnd().split(/[\n\r\u2028\u2029]/u)
  expect(first).toMatch(/^\d\d:\d\d:\d\d /u)
  expect(more.length).toBeGreaterThan(0)
  for (const one of more) expect(one).toMatch(/^ {4}/u)
  // our own colours
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(line.replaceAll(/\u001b\[(?:33|90|0)m/gu, "")).not.toMatch(/[\u001b\u009b\u202e]/u)
})
