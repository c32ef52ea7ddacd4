import { type RangeId, type RunEvent, type RunId, rangeSubject, workPlan } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { idOf, type Who } from "../../packages/adapter-http/test/support.ts"
import { stepOf } from "../../packages/application/test/support/scripted-runs.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService()
})
afterAll(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

let made = 0
/** A run of R1 that has two steps, `a` and `b`, with these events in its journal. */
const runWith = async (events: readonly RunEvent[]): Promise<RunId> => {
  const id = `logs${String(++made).padStart(11, "0")}` as RunId
  const at = new Date("2027-01-01T00:00:00Z")
  const plan = workPlan(["a", "b"].map((key) => stepOf(key, { kind: "work", work: "Work", input: null })))
  const work = Effect.gen(function* () {
    const journal = yield* RunJournal
    const head = { id, kind: "work", subject: rangeSubject("R1" as RangeId), by: idOf.member, options: null, startedAt: at }
    yield* journal.open(head, undefined)
    yield* journal.append(id, 0, [{ type: "Planned", plan }, ...events], at)
    yield* journal.close(id, 0, { type: "Ended", status: "success", message: "" }, undefined, at)
  })
  await Effect.runPromise(Fiber.join(service.run(work)))
  return id
}
const output = (key: string, text: string): RunEvent => ({ type: "Output", key, text })

interface LogAnswer {
  readonly total: number
  readonly matches: number
  readonly next?: number
  readonly lastEventID: number
  readonly lines: readonly { readonly line: number; readonly seq: number; readonly step?: string; readonly text: string }[]
}
const get = (path: string, who: Who = "member") =>
  fetch(`${service.url}/api/v2/runs/${path}`, { headers: { "x-api-key": service.keys[who] } })
const ask = async (id: RunId, query = "") => (await (await get(`${id}/log?${query}`)).json()) as LogAnswer
const textsOf = ({ lines }: LogAnswer) => lines.map(({ text }) => text)

describe("the log of a run", () => {
  it("is returned in lines that name their event, with the same text as the file", async () => {
    const id = await runWith([output("a", "one\ntwo\n\nthree"), output("b", "four\r\n<script>\u001b[31m\u202e\n")])
    const whole = await ask(id)
    expect(whole).toMatchObject({ total: whole.lines.length, matches: whole.total, lastEventID: 4 })
    expect(whole).not.toHaveProperty("next")
    expect(whole.lines.map(({ line }) => line)).toEqual(whole.lines.map((_, n) => n + 1))
    const about = whole.lines.filter(({ seq }) => seq === 2)
    expect(about.map(({ text }) => text).slice(-4)).toEqual(["one", "two", "", "three"])
    expect(about.every(({ step }) => step === "a")).toBe(true)
    const file = await get(`${id}/log?download`)
    expect([file.headers.get("content-type"), file.headers.get("content-disposition")]).toEqual([
      "text/plain; charset=utf-8",
      `attachment; filename="work-${id}.log"`,
    ])
    expect(await file.text()).toBe(`${textsOf(whole).join("\n")}\n`)
  })

  it("starts at its last lines, at a line or at an event, and says where the next part starts", async () => {
    const id = await runWith(Array.from({ length: 50 }, (_, n) => output("a", `line ${n}\nmore ${n}`)))
    const whole = await ask(id)
    const last = await ask(id, "lines=3")
    expect(last.lines).toEqual(whole.lines.slice(-3))
    const middle = await ask(id, "from=11&lines=2")
    expect([middle.lines, middle.next]).toEqual([whole.lines.slice(10, 12), 13])
    expect((await ask(id, `seq=${whole.lines[40]?.seq}&lines=1`)).lines[0]?.seq).toBe(whole.lines[40]?.seq)
    expect(await ask(id, "from=100000")).toMatchObject({ total: whole.total, lines: [] })
    expect(await ask(id, "seq=100000")).toMatchObject({ total: whole.total, lines: [] })
    expect(await ask(id, "lines=0")).toMatchObject({ total: whole.total, lines: [] })
  })

  it("is filtered by step and by text in any letter case, and counts matches in the whole log", async () => {
    const id = await runWith([output("a", "Needle\nhay"), output("b", "hay\nneedle (.*)"), output("a", "NEEDLE")])
    expect(textsOf(await ask(id, "find=needle"))).toEqual(["Needle", "needle (.*)", "NEEDLE"])
    expect(await ask(id, "find=needle&lines=1")).toMatchObject({ matches: 3, lines: [{ text: "Needle" }] })
    const second = (await ask(id, "find=needle&lines=1")).next
    expect(await ask(id, `find=needle&lines=1&from=${second}`)).toMatchObject({ lines: [{ text: "needle (.*)" }] })
    expect(textsOf(await ask(id, "find=needle&step=a"))).toEqual(["Needle", "NEEDLE"])
    expect(textsOf(await ask(id, "find=(.*)"))).toEqual(["needle (.*)"])
    expect(await ask(id, "step=nothing")).toMatchObject({ matches: 0, lines: [] })
  })

  it("grows while the run is in progress", async () => {
    const going = await startWholeService({ running: true })
    const read = async (query: string) => {
      const address = `${going.url}/api/v2/runs/${going.runId}/log?${query}`
      return (await (await fetch(address, { headers: { "x-api-key": going.keys.member } })).json()) as LogAnswer
    }
    const before = await read("")
    await Effect.runPromise(
      Fiber.join(going.run(RunJournal.use((journal) => journal.append(going.runId, 1, [output("work", "more")], new Date(0))))),
    )
    const after = await read(`from=${before.total + 1}`)
    expect(after.lastEventID).toBeGreaterThan(before.lastEventID)
    expect(textsOf(after).at(-1)).toBe("more")
    await going.stop(0)
  })

  it("of 200,000 lines is returned and downloaded in parts", async () => {
    const id = await runWith(
      Array.from({ length: 200_000 }, (_, n) => output("a", n === 6 ? "the needle" : `line ${n} ${"x".repeat(60)}`)),
    )
    const page = await ask(id, "from=150000&lines=100")
    expect([page.lines.length, page.lines[0]?.line, page.next]).toEqual([100, 150_000, 150_100])
    expect(await ask(id, "find=NEEDLE")).toMatchObject({ matches: 1, lines: [{ text: "the needle" }] })
    const file = await (await get(`${id}/log?download=true`)).text()
    expect(file.split("\n")).toHaveLength(page.total + 1)
    expect(textsOf(await ask(id, "lines=1"))).toEqual([file.split("\n").at(-2)])
  })

  it("returns long lines a few at a time, each whole", async () => {
    const long = "y".repeat(3 * 1024 * 1024)
    const id = await runWith([output("a", long), output("a", `${long}z`)])
    const first = await ask(id, "find=yy")
    expect([textsOf(first)[0]?.length, first.lines.length, first.matches]).toEqual([long.length, 1, 2])
    expect(textsOf(await ask(id, `find=yy&from=${first.next}`))).toEqual([`${long}z`])
  })

  it.each(["from=-1", "from=x", "lines=1.5", "seq=99999999999999999999", "from=1&seq=1", "download=maybe"])(
    "refuses %s",
    async (query) => {
      expect((await get(`${service.runId}/log?${query}`)).status).toBe(400)
    },
  )

  it("is only for users who may see the run, as is the file", async () => {
    for (const query of ["", "download"]) {
      expect((await get(`${service.runId}/log?${query}`, "stranger")).status).toBe(403)
      expect((await get(`nothing00000000/log?${query}`)).status).toBe(404)
    }
  })
})
