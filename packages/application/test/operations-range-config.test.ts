import type { ObservedMachine, Range, User, Vmid } from "@rangewright/domain"
import { operations } from "@rangewright/application"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { beforeEach, describe, expect, it } from "vitest"
import { BooleanText, commaList, WholeNumberText } from "../src/wire/parameters.ts"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let ada: User
let range: Range
beforeEach(async () => {
  app = makeTestApp()
  ada = await app.addUser("Ada")
  range = await app.addRange("LAB", [ada])
})

const upload = (text: string | Uint8Array) => ({
  filename: "file",
  contentType: "application/octet-stream",
  bytes: typeof text === "string" ? new TextEncoder().encode(text) : text,
})
const put = (text: string | Uint8Array, more: object = {}) => ({ range, body: {}, file: upload(text), ...more })
const stored = async () => ((await app.call("getConfig", ada, { range })) as { readonly result: string }).result
const machine = (more: string) =>
  `ludus:\n  - {vm_name: LAB-w, hostname: w, template: debian-12-x64-server-template, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, linux: true${more}}\n`
const testing = { mode: "on" as const, allowedDomains: [], allowedIps: [] }

describe("uploading a configuration", () => {
  it("brings the bytes back as they were, mark, comments and line ends included", async () => {
    const text = `\uFEFF# my lab — ünïcode\r\n${machine("").replaceAll("\n", "\r\n")}# end`
    await app.call("putConfig", ada, put(text))
    expect(await stored()).toBe(text)
  })

  it("refuses a wrong one with every finding and its place, and keeps the stored one and the range's state", async () => {
    const before = await stored()
    const fault = await app.fails("putConfig", ada, put("ludus:\n  - {vm_name: LAB-w, vlan: 9999}\nnonsense: 1\n"))
    expect(fault.kind).toBe("invalid")
    expect(fault.message).toMatch(/^Configuration error:/u)
    expect(fault.issues.length).toBeGreaterThan(2)
    expect(fault.issues).toContainEqual(expect.objectContaining({ path: "ludus[0].vlan", line: 2 }))
    expect(await stored()).toBe(before)
    expect((await app.range("LAB")).state).toBe("NEVER DEPLOYED")
  })

  it.each([
    ["no UTF-8", new Uint8Array([0x6c, 0xff, 0xfe])],
    ["empty", ""],
    ["a picture", new Uint8Array([0x89, 0x50, 0x4e, 0x47])],
  ])("refuses a file that is %s", async (_, bytes) => {
    expect(await app.fails("putConfig", ada, put(bytes))).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^Configuration error/u),
    })
  })

  it("names every template that is not built, once the installation is known", async () => {
    const template: ObservedMachine = {
      vmid: 100 as Vmid,
      node: "node1",
      name: "kali-x64-desktop-template",
      power: "stopped",
      template: true,
      pool: "SHARED",
      cpus: 2,
      memoryMiB: 2048,
      tags: [],
    }
    await app.observe([template])
    expect((await app.fails("putConfig", ada, put(machine("")))).message).toContain("debian-12-x64-server-template")
  })

  it("refuses roles that are not installed", async () => {
    app.world.roles = new Set(["geerlingguy.docker"])
    const fault = await app.fails("putConfig", ada, put(machine(", roles: [no.such_role]")))
    expect(fault.message).toContain("no.such_role")
    await app.call("putConfig", ada, put(machine(", roles: [geerlingguy.docker]")))
    expect(await stored()).toContain("geerlingguy.docker")
  })

  it("does not ask which roles are installed where it names none", async () => {
    let asked = 0
    Object.defineProperty(app.world, "roles", { get: () => ((asked += 1), new Set(["geerlingguy.docker"])) })
    await app.call("putConfig", ada, put(machine("")))
    expect(asked).toBe(0)
    await app.call("putConfig", ada, put(machine(", roles: [geerlingguy.docker]")))
    expect(asked).toBe(1)
  })

  it("waits for the end of testing unless it is forced", async () => {
    const held = await app.run(Effect.flatMap(Ranges, (ranges) => ranges.change(range.id, { testing })))
    expect(await app.fails("putConfig", ada, put(machine(""), { range: held }))).toMatchObject({ kind: "conflict" })
    await app.call("putConfig", ada, put(machine(""), { range: held, query: { force: true } }))
    await app.call("putConfig", ada, put(machine(""), { range: held, body: { force: true } }))
    expect(await stored()).toBe(machine(""))
  })

  it("says that a run under way keeps what it was planned from", async () => {
    app.runs.ending = () => "running"
    const { runID } = (await app.call("deployRange", ada, { range })) as { readonly runID: string }
    expect(await app.call("putConfig", ada, put(machine("")))).toMatchObject({ result: expect.stringContaining(runID) })
  })

  it("is limited to a size of the file", () => {
    const limit = operations.find((operation) => operation.id === "putConfig")?.input.body
    expect(limit).toMatchObject({ type: "multipart", file: "file", maxBytes: 1_048_576 })
  })
})

describe("checking a configuration", () => {
  it("lists what is wrong and stores nothing", async () => {
    const before = await stored()
    const report = await app.call("validateConfig", ada, put("ludus:\n  - {vm_name: LAB-w, vlan: 9999}\n"))
    expect(report).toMatchObject({ valid: false })
    expect(await app.call("validateConfig", ada, put(machine("")))).toMatchObject({ valid: true })
    expect(await stored()).toBe(before)
  })
})

describe("the schema of configurations", () => {
  it("is a JSON Schema that knows the machines' keys", async () => {
    const schema = JSON.parse(String(await app.call("getConfigSchema", ada))) as Record<string, unknown>
    expect(schema).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" })
    expect(JSON.stringify(schema)).toContain("ip_last_octet")
  })
})

describe("parameters as text", () => {
  const read = (schema: typeof BooleanText | typeof WholeNumberText, text: string) =>
    Result.getOrElse(Schema.decodeUnknownResult(schema as Schema.Codec<unknown, string>)(text), () => "refused")

  it.each([
    ["1", true],
    ["t", true],
    ["TRUE", true],
    ["True", true],
    ["0", false],
    ["f", false],
    ["False", false],
    ["yes", "refused"],
    ["tRUE", "refused"],
    ["2", "refused"],
  ])("reads the boolean %s as Go does", (text, value) => {
    expect(read(BooleanText, text)).toBe(value)
  })

  it.each([
    ["0", 0],
    ["120", 120],
    ["-1", "refused"],
    ["1.5", "refused"],
    ["1e3", "refused"],
    ["0x10", "refused"],
    ["9999999999", "refused"],
  ])("reads the number %s", (text, value) => {
    expect(read(WholeNumberText, text)).toBe(value)
  })

  it("splits comma lists, without blanks and empty items", () => {
    expect(commaList(" network, dns-rewrites ,,")).toEqual(["network", "dns-rewrites"])
    expect(commaList("")).toEqual([])
  })
})
