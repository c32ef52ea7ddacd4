import {
  type RangeId,
  type RunId,
  type RunKind,
  type RunStatus,
  type RunSubject,
  rangeSubject,
  type UserId,
} from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { idOf, type Who } from "../../packages/adapter-http/test/support.ts"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

interface Made {
  readonly subject?: RunSubject
  readonly kind?: RunKind
  readonly by?: UserId
  /** Undefined: in progress. */
  readonly status?: Exclude<RunStatus, "running">
}

let made = 0
/** A run that began this many minutes into 2027, later than any other. */
const addRun = async (minute: number, { subject, kind = "power", by = idOf.member, status = "success" }: Made = {}) => {
  const id = `made${String(++made).padStart(11, "0")}` as RunId
  const startedAt = new Date(Date.UTC(2027, 0, 1, 0, minute))
  const work = Effect.gen(function* () {
    const journal = yield* RunJournal
    yield* journal.open({ id, kind, subject: subject ?? rangeSubject("R1" as RangeId), by, options: null, startedAt }, undefined)
    yield* journal.close(id, 0, { type: "Ended", status, message: "" }, undefined, startedAt)
  })
  await Effect.runPromise(Fiber.join(service.run(work)))
  return id
}

const ask = async (query: string, who: Who = "member") => {
  const address = query.startsWith("/") ? query : `/api/v2/runs?${query}`
  const response = await fetch(service.url + address, { headers: { "x-api-key": service.keys[who] } })
  const next = /^<(?<address>[^>]+)>; rel="next"$/u.exec(response.headers.get("link") ?? "")?.groups?.["address"]
  const body = (await response.json()) as readonly { readonly id: string }[]
  return { status: response.status, ids: response.status === 200 ? body.map(({ id }) => id) : [], next }
}

describe("the list of runs", () => {
  it("is complete and unchanged for clients that ask for no page", async () => {
    const newest = await addRun(1)
    expect(await ask("")).toEqual({ status: 200, ids: [newest, service.runId], next: undefined })
  })

  it("leads from page to page with the same filter, even when new runs begin meanwhile", async () => {
    const ids = [await addRun(1), await addRun(2, { kind: "testing-start" }), await addRun(3), await addRun(3)].toReversed()
    const first = await ask("limit=2&kind=power&RangeID=R1")
    expect(first.ids).toEqual(ids.slice(0, 2))
    // the clock may have been set back
    await addRun(0)
    const second = await ask(first.next ?? "")
    expect(second).toEqual({ status: 200, ids: [ids[3]], next: undefined })
  })

  it("is filtered by status, kind, caller and time", async () => {
    const failed = await addRun(1, { status: "failure", kind: "deploy" })
    const others = await addRun(2, { by: idOf.admin })
    expect((await ask("status=failure,%20running&kind=deploy&since=2027-01-01T00:00:00Z")).ids).toEqual([failed])
    expect((await ask(`by=${idOf.admin}`)).ids).toEqual([others])
    expect((await ask("kind=nothing")).ids).toEqual([])
    expect((await ask("since=2027-01-01T00:02:00Z")).ids).toEqual([others])
  })

  it("has no runs that only others may see, on any page", async () => {
    const foreign = await addRun(1, { subject: rangeSubject("R2" as RangeId), by: idOf.admin })
    const addSource = (n: number) => addRun(5, { subject: { type: "source", id: `s${n}` }, by: idOf.admin, kind: "source-fetch" })
    await addSource(0)
    const afterSources = (await ask("limit=1", "admin")).next ?? ""
    for (let n = 1; n < 600; n++) await addSource(n)
    const own = await addRun(2, { subject: { type: "source", id: "mine" }, kind: "source-fetch" })
    expect((await ask("limit=1")).ids).toEqual([own])
    expect(await ask((await ask("limit=1")).next ?? "")).toEqual({ status: 200, ids: [service.runId], next: undefined })
    expect((await ask(afterSources)).ids).toEqual([service.runId])
    expect((await ask(afterSources, "admin")).ids[0]).toBe(foreign)
    expect(await ask("", "stranger")).toMatchObject({ status: 200, ids: [], next: undefined })
    expect((await ask("rangeID=R1", "stranger")).status).toBe(403)
  })

  it.each([
    "cursor=x",
    // of an older version
    "cursor=1767225600000-aaaaaaaaaaaaaaa",
    "cursor=99999999999999999999",
    "cursor=-1",
    "status=finished",
    "status=success,x",
    "since=yesterday",
    "limit=-1",
    "limit=1e3",
  ])("refuses %s", async (query) => {
    expect((await ask(query)).status).toBe(400)
  })

  it("accepts filters of many kinds, and refuses those longer than a URL can be", async () => {
    const kinds = (count: number) => ask(`kind=${Array.from({ length: count }, (_, n) => `k${n}`).join(",")}`)
    expect(await kinds(1000)).toMatchObject({ status: 200, ids: [] })
    expect((await kinds(10_000)).status).toBe(400)
  })
})
