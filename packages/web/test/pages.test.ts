import { operations, runKinds } from "@rangewright/application"
import type { NodeAnswer, Machine, QuotaOfUser, Range, Run, RunHead, SourceAnswer, Topology } from "@rangewright/application/wire"
import { howTo, knownCalls, type RangeId, rangeRunKinds, renderTopology, type SeenNow, topologyOf } from "@rangewright/domain"
import * as fc from "fast-check"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { h, render } from "preact"
import { needsOf } from "../src/pages/admin/needs.ts"
import { newUsers, withoutUsers } from "../src/pages/admin/roster.ts"
import { eventReader, follow } from "../src/api/events.ts"
import { useRead } from "../src/api/resource.ts"
import { httpsAddress } from "../src/links.ts"
import { bodyOf, curlOf } from "../src/parts/curl.ts"
import { withWays } from "../src/parts/ways.ts"
import { bytes, dayBegins, duration, longTime, plain, shortTime } from "../src/parts/format.ts"
import { isAddress, nameOf } from "../src/range/allowed-entry.ts"
import { patchClass, patchRange } from "../src/range/patch.ts"
import { rangeSentence } from "../src/range/sentence.ts"
import { patchTopology, pictureOf } from "../src/range/topology.ts"
import { ticks, timelineOf } from "../src/run/timeline.ts"
import { t } from "../src/texts.ts"

const source = fileURLToPath(new URL("../src/", import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/u.test(name))
const textOf = (name: string): string => readFileSync(`${source}${name}`, "utf8")

const machine = (name: string, ip: string, poweredOn: boolean, more: Partial<Machine> = {}): Machine => ({
  ID: 0,
  proxmoxID: 100 + name.length,
  rangeNumber: 2,
  name,
  poweredOn,
  ip,
  cpu: 2,
  ram: 4,
  ...more,
})

const range = (VMs: readonly Machine[], more: Partial<Range> = {}): Range => ({
  rangeState: "SUCCESS",
  rangeNumber: 2,
  rangeID: "UMA",
  name: "Uma's",
  lastDeployment: "2026-01-01T00:00:00.000Z",
  testingEnabled: false,
  testingState: "off",
  numberOfVMs: VMs.length,
  allowedIPs: [],
  allowedDomains: [],
  VMs,
  ...more,
})

describe("the sources of the page", () => {
  test("call operations that there are", () => {
    const known = new Set(operations.map(({ route }) => route.path))
    const call =
      /\b(?:useRead|usePart|read|fetchFile|send|changeText|change|text)(?:<[^;()]*?>)?\(\s*(?:"(?:GET|POST|PUT|PATCH|DELETE)",\s*)?(?:[^",()]*\? undefined : )?"(\/[^"]+)"/gu
    const called = files.flatMap((name) => [...textOf(name).matchAll(call)].map(([, path]) => path ?? ""))
    expect(called.length).toBeGreaterThan(25)
    expect(called.filter((path) => !known.has(path))).toEqual([])
  })

  test("name every kind of run, and no other", () => {
    const known = new Set<string>([...rangeRunKinds, ...runKinds.map(({ name }) => name)])
    expect(Object.keys(t.kinds).toSorted()).toEqual([...known].toSorted())
  })

  test("write no markup into the document, and evaluate no text", () => {
    const forbidden = /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|eval\(|new Function)/u
    expect(files.filter((name) => forbidden.test(textOf(name)))).toEqual([])
  })
})

describe("hints of the service", () => {
  const values = { sourceID: "lessons", blueprintID: "team/lesson-1", vmID: "101" }
  const hrefs = (hint: string) => withWays(hint, true).flatMap((part) => (typeof part === "string" ? [] : [part.href]))

  test("lead to the page that does what they name; a few calls have none", () => {
    const without = knownCalls.filter((call) => hrefs(`Do it: ${howTo(call, values, "LAB")}.`).length !== 1)
    expect(without).toEqual(["POST /user/default-range", "DELETE /vm/{vmID}"])
    expect(withWays(`Apply it: ${howTo("POST /blueprints/{blueprintID}/apply", values)}; or not.`, true)).toEqual([
      "Apply it: `ludus blueprint apply team/lesson-1` (",
      { href: "/ui/blueprints?id=team%2Flesson-1", text: "team/lesson-1" },
      "); or not.",
    ])
    expect(withWays(`Upload one: ${howTo("PUT /range/config", {}, "LAB")}.`, true)).toEqual([
      "Upload one: `ludus range config set -f FILE -r LAB` (",
      { href: "/ui/ranges/LAB/config", text: "LAB · Configuration" },
      ").",
    ])
    expect(withWays("Range TMP stays: DELETE /range?rangeID=TMP&force=true removes it", false)).toEqual([
      "Range TMP stays: DELETE /range?rangeID=TMP&force=true (",
      { href: "/ui/ranges/TMP", text: "TMP · Overview" },
      ") removes it",
    ])
    expect(hrefs("GET /runs/r1 shows more; POST /runs/r1/resume continues.")).toEqual(["/ui/runs/r1", "/ui/runs/r1"])
    for (const hint of [
      'Run "GET /runs/r1"',
      "Use `GET /runs/r1`, then wait",
      "Is it GET /runs/r1?",
      "(GET /runs/r1)",
      "“GET /runs/r1”.",
    ])
      expect(hrefs(hint)).toEqual(["/ui/runs/r1"])
  })

  test("stay as they are where no page is known, and link to no page that the user may not see", () => {
    for (const hint of [
      `List the groups: ${howTo("GET /groups")}.`,
      `Upload one: ${howTo("PUT /range/config")}.`,
      `Apply it: ${howTo("POST /blueprints/{blueprintID}/apply")}.`,
      "Write hours and minutes such as 2h.",
      // the name goes on after what was read
      "See GET /sources/a,b/catalog.",
      "See GET /runs/a(b.",
      "See `ludus x` (GET /sources/a)b/catalog).",
      'See GET /runs/a"b',
      "",
    ])
      expect(withWays(hint, false)).toEqual([hint].filter(Boolean))
  })

  test("lead nowhere but to pages of this service, whatever names are in them", () => {
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom("..", "//evil.example", 'x"><img src=x>', "javascript:alert(1)", "%2e%2e", "{id}"),
    )
    fc.assert(
      fc.property(fc.constantFrom(...knownCalls), names, (call, name) => {
        const hint = howTo(call, { sourceID: name, blueprintID: name, vmID: name }, name)
        for (const href of hrefs(hint)) {
          expect(href).toMatch(/^\/ui\/[\w%.~!*'()?=/-]+$/u)
          expect(new URL(href, "https://lab.example").pathname).toMatch(/^\/ui\//u)
          expect(new URL(href, "https://lab.example").host).toBe("lab.example")
        }
      }),
    )
  })
})

describe("links of others", () => {
  test.each([
    ["https://lab.example/a", "https://lab.example/a"],
    ["javascript:alert(1)", undefined],
    ["JaVaScRiPt:alert(1)", undefined],
    ["http://lab.example", undefined],
    ["https://user:word@lab.example/", undefined],
    ["data:text/html,x", undefined],
    ["//lab.example", undefined],
    [undefined, undefined],
  ])("%s", (text, expected) => {
    expect(httpsAddress(text)).toBe(expected)
  })
})

describe("texts", () => {
  test("show invisible characters as their numbers", () => {
    expect(plain("a\u202eb\u0000c\nd\r\ne")).toBe("a\\u202eb\\u0000c\nd\ne")
  })

  test.each([
    [3, "3 s"],
    [75, "1 min 15 s"],
    [1000, "16 min"],
    [7260, "2 h 1 min"],
  ])("say %i seconds as people do", (seconds, text) => {
    expect(duration(seconds)).toBe(text)
  })

  test.each([
    [new Date(2026, 10, 28, 7, 4, 9), "07:04"],
    [new Date(2026, 10, 27, 23, 59), "27 Nov, 23:59"],
    [new Date(2025, 10, 28, 7, 4), "28 Nov 2025, 07:04"],
  ])("name a time as short as it is clear: %s", (at, text) => {
    expect(shortTime(at, new Date(2026, 10, 28, 12))).toBe(text)
  })

  test("take a day for its beginning at the reader's place", () => {
    expect(dayBegins("2026-03-04")).toBe(new Date(2026, 2, 4).toISOString())
    expect([dayBegins("2026-13-44"), dayBegins("yesterday"), dayBegins(undefined)]).toEqual([
      "2026-13-44",
      "yesterday",
      undefined,
    ])
  })

  test("show a complete time, local and in UTC", () => {
    const at = new Date(2026, 0, 2, 7, 4, 9)
    expect(longTime(at)).toBe(`2 Jan 2026, 07:04:09 (${at.toISOString().slice(0, 19).replace("T", " ")} UTC)`)
  })
})

describe("what is allowed while testing", () => {
  test.each([
    ["10.1.2.3", true],
    ["10.0.0.0/8", true],
    ["2001:db8::1", true],
    ["fe80::/10", true],
    ["example.com", false],
    // all letters of these could be digits of an address
    ["abc.de", false],
    ["facade.cafe", false],
    ["4chan.be", false],
    ["dead.beef.ae (203.0.113.9)", false],
  ])("%s: is an address: %s", (entry, expected) => {
    expect(isAddress(nameOf(entry))).toBe(expected)
  })
})

describe("a change as a command for a shell", () => {
  test("quotes names given by others, and contains no secret", () => {
    const body = bodyOf(JSON.stringify({ machines: ["a'; rm -rf / #"], proxmoxPassword: "word", $: "`x`" }))
    expect(body).not.toContain(`"word"`)
    expect(curlOf({ method: "PUT", address: "/api/v2/range/poweron?rangeID=UMA", body }, "https://lab.example")).toBe(
      `curl -X PUT -H "X-API-KEY: $RANGEWRIGHT_API_KEY" -H 'Content-Type: application/json' ` +
        `-d '{"machines":["a'\\''; rm -rf / #"],"proxmoxPassword":"…","$":"\`x\`"}' 'https://lab.example/api/v2/range/poweron?rangeID=UMA'`,
    )
  })
  test("sends the file where one was sent", () => {
    const form = new FormData()
    form.set("type", "upload")
    form.set("id", "@me")
    form.set("token", "t0ken")
    form.set("archive", new File([], "lab's.zip"))
    expect(curlOf({ method: "POST", address: "/api/v2/sources", body: bodyOf(form) }, "https://lab.example")).toContain(
      `--form-string 'type=upload' --form-string 'id=@me' --form-string 'token=…' -F 'archive=@lab'\\''s.zip'`,
    )
  })
})

describe("the sentence about a range", () => {
  const now = new Date("2026-01-01T12:00:00.000Z")
  const two = [machine("UMA-dc01", "10.2.10.11", true), machine("UMA-ws01", "10.2.10.12", false)]
  test("names machines that are off", () => {
    expect(rangeSentence(range(two), undefined, now)).toBe("1 of 2 machines are on; ws01 is off.")
  })
  test("shows the progress of a run", () => {
    const run = {
      status: "running",
      kind: "deploy",
      progress: {
        total: 39,
        done: 12,
        running: 1,
        failed: 0,
        skipped: 0,
        percent: 30,
        remaining: "about 3 min left, a first guess",
      },
    } as Run
    expect(rangeSentence(range(two, { rangeState: "DEPLOYING" }), run, now)).toBe(
      "Deploy: 12 of 39 steps are done. About 3 min left, a first guess.",
    )
  })
  test("says that a run is being stopped, and not how long it would still take", () => {
    const progress = { total: 39, done: 12, running: 1, failed: 0, skipped: 0, percent: 30 }
    const run = { status: "running", cancelRequested: true, kind: "deploy", progress } as Run
    expect(rangeSentence(range(two, { rangeState: "ABORTED" }), run, now)).toBe(
      "Deploy: stopping. Tasks of the hypervisor finish first.",
    )
  })
  test("says before all else that the hypervisor is unreachable", () => {
    expect(rangeSentence(range(two, { awaySince: "2026-01-01T11:00:00.000Z" }), undefined, now)).toContain(
      "has not answered since",
    )
  })
})

describe("the picture", () => {
  const seen = (count: number): readonly SeenNow[] =>
    Array.from({ length: count }, (_, i) => ({
      vmid: 100 + i,
      name: `UMA-m${i}`,
      power: "running",
      address: `10.2.${i % 7}.${i % 250}`,
    }))
  const networkOf = (count: number): Topology => ({
    ...topologyOf(undefined, { id: "UMA" as RangeId, number: 2 }, seen(count)),
    rangeID: "UMA",
  })

  test("stays within its width, its boxes apart, and folds long networks", () => {
    for (const width of [300, 700, 1200]) {
      const { lanes } = pictureOf(networkOf(300), width)
      for (const box of lanes) {
        expect(box.x + box.width).toBeLessThanOrEqual(width)
        expect(box.shown.length).toBeLessThanOrEqual(12)
        expect(box.shown.length + box.folded).toBe(box.lane.machines.length)
        for (const other of lanes)
          expect(
            other === box ||
              other.x >= box.x + box.width ||
              box.x >= other.x + other.width ||
              other.y >= box.y + box.height ||
              box.y >= other.y + other.height,
          ).toBe(true)
      }
    }
  })

  test("has the machines that the text has, in the same networks and in the same order", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 260, max: 1600 }), (count, width) => {
        const topology = networkOf(count)
        const names = pictureOf(topology, width).lanes.map(({ shown }) => shown.map(({ name }) => name))
        const text = renderTopology(topology, 40)
        // boxes of 40 columns stand under each other, so that the text has them in this order
        expect([...text.matchAll(/UMA-m\d+/gu)].map(([name]) => name)).toEqual(names.flat())
        expect(text.match(/VLAN \d+/gu) ?? []).toEqual(topology.lanes.map(({ vlan }) => `VLAN ${vlan}`))
      }),
    )
  })

  test("updates one machine from an event, and is read again when more has changed", () => {
    const topology = networkOf(3)
    const data = { proxmoxID: 101, name: "UMA-m1", poweredOn: false, ip: "10.2.1.1" }
    const patched = patchTopology(topology, { topic: "machine", rangeID: "UMA", data })
    expect(patched?.lanes.flatMap(({ machines }) => machines.map(({ power }) => power))).toEqual([
      "running",
      "stopped",
      "running",
    ])
    for (const more of [{ ip: "10.2.1.9" }, { name: "other" }, { proxmoxID: 7 }, { missingSince: "2026-01-02T03:04:05Z" }])
      expect(patchTopology(topology, { topic: "machine", rangeID: "UMA", data: { ...data, ...more } })).toBeUndefined()
  })
})

describe("an event about a machine", () => {
  const shown = range([machine("UMA-dc01", "10.2.10.11", true, { proxmoxID: 7 })])
  test("changes only that machine", () => {
    const data = { rangeID: "UMA", proxmoxID: 7, name: "UMA-dc01", poweredOn: false, ip: "10.2.10.11", cpu: 3, ram: 2 }
    const patched = patchRange(shown, {
      topic: "machine",
      rangeID: "UMA",
      data: { ...data, missingSince: "2026-01-02T03:04:05Z" },
    })
    expect(patched?.VMs).toMatchObject([{ poweredOn: false, cpu: 3, ram: 2, missingSince: "2026-01-02T03:04:05Z" }])
    expect(patchRange(patched ?? shown, { topic: "machine", rangeID: "UMA", data })?.VMs[0]).not.toHaveProperty("missingSince")
  })
  test.each([[{ proxmoxID: 8, name: "x", poweredOn: true, ip: "null" }], [{ proxmoxID: 7, removed: true }]])(
    "that is new or gone has the range read again: %j",
    (data) => {
      expect(patchRange(shown, { topic: "machine", rangeID: "UMA", data })).toBeUndefined()
    },
  )
})

describe("the ranges of a class", () => {
  const uma = range([machine("UMA-dc01", "10.2.10.11", true, { proxmoxID: 7 })])
  const ranges = [uma, range([], { rangeID: "BO" })]
  test("stay as they are when something happens in other ranges", () => {
    const machineOfOther = { rangeID: "EVE", proxmoxID: 8, name: "EVE-a", poweredOn: true, ip: "null" }
    expect(patchClass(ranges, { topic: "machine", rangeID: "EVE", data: machineOfOther })).toBe(ranges)
    for (const data of [{ rangeState: "SUCCESS" }, { rangeState: "SUCCESS", accessType: "Direct" }, { removed: true }])
      expect(patchClass(ranges, { topic: "range", rangeID: "EVE", data })).toBe(ranges)
  })
  test("change with their machines, and are read again when they change or one may be new", () => {
    const off = { rangeID: "UMA", proxmoxID: 7, name: "UMA-dc01", poweredOn: false, ip: "10.2.10.11", cpu: 2, ram: 4 }
    expect(patchClass(ranges, { topic: "machine", rangeID: "UMA", data: off })?.[0]?.VMs[0]?.poweredOn).toBe(false)
    for (const [rangeID, data] of [
      ["UMA", { rangeState: "ERROR" }],
      ["NEW", { accessType: "Group" }],
    ] as const)
      expect(patchClass(ranges, { topic: "range", rangeID, data })).toBeUndefined()
  })
})

test("data of a component that never appears is not kept up to date", async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const asked: AbortSignal[] = []
  vi.stubGlobal("fetch", (_: string, { signal }: { readonly signal: AbortSignal }) => {
    asked.push(signal)
    return new Promise(() => undefined)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const Broken = () => {
    useRead("/range")
    throw new Error("this component never appears")
  }
  const parent = { nodeType: 1, childNodes: [], firstChild: null } as unknown as Element
  expect(() => render(h(Broken, null), parent)).toThrow("never appears")
  expect(asked.map(({ aborted }) => aborted)).toEqual([false])
  await vi.advanceTimersByTimeAsync(11_000)
  expect(asked.map(({ aborted }) => aborted)).toEqual([true])
})

describe("what needs an administrator", () => {
  const nothing = { ranges: [], runs: [], sources: [], access: undefined, quotas: [], nodes: [], findings: [] }
  test("is nothing where all is well", () => {
    expect(needsOf({ ...nothing, ranges: [range([machine("UMA-a", "10.2.1.1", true)])] })).toEqual([])
  })
  test("lists failures, with links to their runs, before mere differences", () => {
    const gone = machine("UMA-a", "10.2.1.1", true, { missingSince: "2026-01-01T00:00:00.000Z" })
    const runs = [
      { id: "r1", rangeID: "BO", status: "failure", kind: "deploy", subject: { type: "range", id: "BO" } },
    ] as unknown as RunHead[]
    const needs = needsOf({ ...nothing, runs, ranges: [range([gone]), range([], { rangeID: "BO", rangeState: "ERROR" })] })
    expect(needs.map(({ tone, title, href }) => [tone, title, href])).toEqual([
      ["bad", "The last change of BO failed", "/ui/runs/r1"],
      ["warn", "UMA: the hypervisor no longer lists a", "/ui/ranges/UMA/plan"],
    ])
  })
  test("is a change that was stopped, with the way to that run, and not to one that failed before it", () => {
    const deploy = { rangeID: "BO", kind: "deploy", subject: { type: "range", id: "BO" } }
    const runs = [
      { ...deploy, id: "r2", status: "aborted" },
      { ...deploy, id: "r1", status: "failure" },
    ] as unknown as RunHead[]
    expect(needsOf({ ...nothing, runs, ranges: [range([], { rangeID: "BO", rangeState: "ABORTED" })] })).toEqual([
      { tone: "warn", title: "The last change of BO was stopped before it finished", href: "/ui/runs/r2" },
    ])
  })
  test("is no fetch of a source that was never added: one that is there says itself that it failed", () => {
    const run = { id: "r1", status: "failure", kind: "source-fetch", subject: { type: "source", id: "rzkkfgjgf6re0w7" } }
    expect(needsOf({ ...nothing, runs: [run] as unknown as RunHead[] })).toEqual([])
  })
  test("names sources as people know them, and no records", () => {
    const about = (type: string, id: string) => ({
      id: `run-${id}`,
      status: "failure",
      kind: "source-install",
      subject: { type, id },
    })
    const runs = [about("source", "rzkkfgjgf6re0w7"), about("source", "abcdefghij01234"), about("blueprint", "zyxwvutsrq43210")]
    const sources = [{ id: "rzkkfgjgf6re0w7", sourceID: "lessons", name: "" }]
    const needs = needsOf({ ...nothing, runs: runs as unknown as RunHead[], sources: sources as unknown as SourceAnswer[] })
    expect(needs.map(({ title }) => title)).toEqual([
      "Installation of lessons failed",
      "Installation of a source failed",
      "Installation of a blueprint failed",
    ])
  })
  test("is a node that is down, memory that is promised twice, and a storage that is nearly full", () => {
    const storage = { name: "ssd", usedBytes: 90, totalBytes: 100 }
    const nodes = [
      {
        name: "a",
        online: true,
        freeMemoryMiB: -1,
        storages: [storage, { ...storage, usedBytes: 84 }, { ...storage, totalBytes: 0 }],
      },
      { name: "b", online: false, freeMemoryMiB: 1, storages: [] },
    ] as unknown as NodeAnswer[]
    expect(needsOf({ ...nothing, nodes }).map(({ tone, title }) => [tone, title])).toEqual([
      ["bad", "The node b is down"],
      ["warn", "The memory of the node a is overcommitted"],
      ["warn", "The storage ssd of the node a is 90 % full"],
    ])
  })
  test("includes only users who have nearly used up their disk space on the service's host", () => {
    const quotas = [
      { userID: "A", limitDiskBytes: 100, usedDiskBytes: 85 },
      { userID: "B", limitDiskBytes: 100, usedDiskBytes: 84 },
      { userID: "C", limitDiskBytes: 0, usedDiskBytes: 1000 },
      { userID: "D", limitDiskBytes: 100 },
    ] as unknown as QuotaOfUser[]
    expect(needsOf({ ...nothing, quotas })).toEqual([
      { tone: "warn", title: "A has used 85 % of what a user may keep on the service's host", href: "/ui/admin/quotas" },
    ])
  })
  test("includes failed checks of the installation, but not warnings", () => {
    const findings = [
      { level: "warn", what: "git", detail: "not found" },
      { level: "fail", what: "disk", detail: "0 GiB free", hint: "Free some." },
      { level: "ok", what: "token", detail: "valid" },
    ] as const
    expect(needsOf({ ...nothing, findings })).toEqual([
      { tone: "bad", title: "1 check of this installation failed", text: "disk: 0 GiB free", href: "/ui/admin/doctor" },
    ])
  })
})

test("disk space is shown as in refusals, and never rounded down", () => {
  const gib = 1024 ** 3
  expect([0, 1, 1024 ** 2, gib - 1, gib, 1.31 * gib].map(bytes)).toEqual([
    "0 MiB",
    "0.1 MiB",
    "1 MiB",
    "1024 MiB",
    "1 GiB",
    "1.4 GiB",
  ])
})

describe("a list of new users", () => {
  test("is taken with commas or from a spreadsheet", () => {
    expect(newUsers('JO,Jo Doe,jo@lab.example\n\nMO\tMo "M" Roe\tmo@lab.example\n').users).toEqual([
      { userID: "JO", name: "Jo Doe", email: "jo@lab.example" },
      { userID: "MO", name: 'Mo "M" Roe', email: "mo@lab.example" },
    ])
  })
  test("keeps the lines of users that were not added, as they were typed", () => {
    expect(withoutUsers("JO,Jo,jo@lab.example\r\nMO\tMo, M.\tmo@lab.example\nx", ["JO"])).toBe("MO\tMo, M.\tmo@lab.example\nx")
    expect(withoutUsers("JO,Jo,jo@lab.example\n", ["JO"])).toBe("")
  })
  test("names incomplete lines", () => {
    expect(newUsers("JO,Jo\nMO,Mo,mo@lab.example\nx")).toMatchObject({ wrong: [1, 3] })
  })
})

describe("the timeline", () => {
  const at = (second: number): string => new Date(second * 1000).toISOString()
  const step = (key: string, from: number, to: number, more: object = {}) => ({
    key,
    title: key,
    machine: "m",
    action: "x",
    after: [],
    estimateSeconds: 1,
    phase: "settled" as const,
    attempt: 1,
    startedAt: at(from),
    endedAt: at(to),
    ...more,
  })
  const runOf = (steps: readonly object[], more: object = {}) =>
    ({ startedAt: at(0), endedAt: at(10), status: "success", steps, ...more }) as unknown as Run

  test("puts steps of a machine that overlap into rows of their own", () => {
    const { lanes } = timelineOf(runOf([step("a", 0, 5), step("b", 3, 8), step("c", 5, 10)]), 0)
    expect(lanes.map(({ bars }) => bars.map((bar) => [bar.step.key, bar.row]))).toEqual([
      [
        ["a", 0],
        ["b", 1],
        ["c", 0],
      ],
    ])
  })

  test("keeps attempts and waits apart", () => {
    const attempts = [
      { startedAt: at(0), endedAt: at(2), failure: { message: "no" } },
      { startedAt: at(6), endedAt: at(9) },
    ]
    const waits = [{ reason: "the node is unreachable", from: at(2), to: at(6) }]
    const { lanes, pauses } = timelineOf(
      runOf([step("a", 6, 9, { attempt: 2, attempts, waits })], { waits: [{ reason: "r", from: at(9) }] }),
      0,
    )
    expect(lanes[0]?.bars.map(({ attempt, phase, from, to, failure }) => [attempt, phase, from, to, failure])).toEqual([
      [1, "failed", 0, 2, "no"],
      [2, "settled", 6, 9, undefined],
    ])
    expect(lanes[0]?.pauses).toEqual([{ reason: "the node is unreachable", from: 2, to: 6 }])
    expect(pauses).toEqual([{ reason: "r", from: 9, to: 10 }])
  })

  test("shows when a step in progress is expected to end", () => {
    const going = step("a", 0, 0, { estimateSeconds: 60, phase: "started", endedAt: undefined })
    const { seconds, lanes } = timelineOf(runOf([going], { status: "running", endedAt: undefined }), 5_000)
    expect([seconds, lanes[0]?.bars[0]?.expected, lanes[0]?.bars[0]?.to]).toEqual([60, 60, 5])
    const slow = timelineOf(runOf([{ ...going, expectedSeconds: 90 }], { status: "running", endedAt: undefined }), 5_000)
    expect(slow.lanes[0]?.bars[0]?.expected).toBe(90)
  })

  test("has at most eight marks", () => {
    for (const seconds of [1, 17, 59, 61, 1000, 86_399]) expect(ticks(seconds).length).toBeLessThanOrEqual(8)
  })
})

test("an event stream is read whatever pieces it comes in", () => {
  const text = `: hello\n\nid: e-1\nevent: range\ndata: {"rangeID":"UMA"}\n\nid: e-2\nevent: run\ndata: {"id":"r"}\n\n`
  const whole = eventReader()(text)
  expect(whole).toEqual([
    { id: "e-1", event: "range", data: { rangeID: "UMA" } },
    { id: "e-2", event: "run", data: { id: "r" } },
  ])
  const take = eventReader()
  expect([...text].flatMap((character) => take(character))).toEqual(whole)
})

describe("a stream that stays open", () => {
  /** Follows a stream whose service sends `: still here` when asked to; returns that, and whether following has ended. */
  const following = (isAnswered: boolean) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    let beat: () => void = () => undefined
    vi.stubGlobal("fetch", (_: string, { signal }: { readonly signal: AbortSignal }) => {
      const body = new ReadableStream<Uint8Array>({
        start: (stream) => {
          beat = () => stream.enqueue(new TextEncoder().encode(": still here\n\n"))
          signal.addEventListener("abort", () => stream.error(signal.reason))
        },
      })
      if (isAnswered) return Promise.resolve(new Response(body))
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
    })
    onTestFinished(() => void vi.unstubAllGlobals())
    let isOver = false
    const end = (): void => void (isOver = true)
    follow("/api/v2/events", "", new AbortController().signal, () => undefined).then(end, end)
    return { beat: () => beat(), isOver: () => isOver }
  }

  test("is given up when the service has been silent for longer than it ever is", async () => {
    const { beat, isOver } = following(true)
    for (let at = 0; at < 8; at++) {
      await vi.advanceTimersByTimeAsync(15_000)
      beat()
    }
    expect(isOver()).toBe(false)
    await vi.advanceTimersByTimeAsync(50_000)
    expect(isOver()).toBe(true)
  })
  test("is given up when the service does not answer at all", async () => {
    const { isOver } = following(false)
    await vi.advanceTimersByTimeAsync(50_000)
    expect(isOver()).toBe(true)
  })
})
