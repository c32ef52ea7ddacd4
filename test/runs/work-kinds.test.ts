import { RunEngine } from "@rangewright/run-engine"
import { foldRun, progressOf, renderLog, type RunHead, type RunSubject, SubjectBusy } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, engineOf, type Lab, makeLab } from "./support/lab.ts"
import { makeShop, type Shop, shopKind, shopOwner } from "./support/shop.ts"

const source: RunSubject = { type: "source", id: "corner-shop" }
const all = { items: ["apple", "bread", "cheese"], must: [] }

/** A process that knows deliveries, and the kind that requests them. */
const open = (lab: Lab, shop: Shop, gate: CrashGate = makeCrashGate(), whenBusy: "refuse" | "join" = "refuse") => {
  const kind = shopKind(shop, gate, whenBusy)
  return { kind, process: boot(lab, gate, { owner: "service" }, [kind]) }
}

const deliver = async (shop: Shop, request: { items: string[]; must: string[] } = all, lab = makeLab([])) => {
  const { kind, process } = open(lab, shop)
  const result = await engineOf(process, (engine) =>
    Effect.gen(function* () {
      const head = yield* engine.start(kind.request(source, request), admin)
      return { head, state: yield* engine.wait(head.id) }
    }),
  )
  await process.dispose()
  return { ...result, entries: lab.store.runs.get(result.head.id)?.entries ?? [] }
}

describe("a run about something other than a range", () => {
  it("does its work, and reports to waiting callers what each step found", async () => {
    const shop = makeShop()
    const { head, state, entries } = await deliver(shop)
    expect(head).toMatchObject({ kind: "shop-stock", subject: source, by: admin, options: all })
    expect(state).toMatchObject({ status: "success", message: "" })
    expect([...state.steps].map(([key, { facts }]) => [key, facts?.data])).toEqual([
      ["stock:apple", { pieces: 1 }],
      ["stock:bread", { pieces: 2 }],
      ["stock:cheese", { pieces: 3 }],
      ["count", ["apple", "bread", "cheese"]],
    ])
    expect([...shop.shelves]).toEqual([
      ["apple", 1],
      ["bread", 2],
      ["cheese", 3],
    ])
    expect(shop.ends).toEqual(["success"])
    const log = renderLog(head, entries)
    expect(log).toContain("TASK [Plan shop-stock of source corner-shop]")
    expect(log).toContain("PLAY [stock]")
    expect(log).toContain("apple is under way, the word is ***")
  })

  it("warns without secrets of the step's input and without terminal control characters", async () => {
    const shop = makeShop()
    shop.warnings.push("\u001b[31mthe word is open-sesame\u009b0m", "é 漢")
    const { state } = await deliver(shop, { items: ["apple"], must: [] })
    expect(state.steps.get("stock:apple")?.facts?.warnings).toEqual(["\ufffd[31mthe word is ***\ufffd0m", "é 漢"])
  })

  it("reports its progress at most once a second", async () => {
    const { entries } = await deliver(makeShop(), { items: ["apple"], must: [] })
    const told = entries.flatMap(({ event }) => (event.type === "StepProgress" ? [[event.done, event.total]] : []))
    expect(told).toEqual([
      [0, 10],
      [4, 10],
      [8, 10],
    ])
    const at = entries.findIndex(({ event }) => event.type === "StepProgress" && event.done === 8)
    const half = foldRun(entries.slice(0, at + 1))
    expect(half.steps.get("stock:apple")?.progress).toEqual({ done: 8, total: 10 })
    // a fifth of the apple's three seconds is left, and the counting
    expect(progressOf(half, entries[at]!.at)).toMatchObject({ percent: 60, remainingSeconds: 2 })
  })

  it("continues when a tolerated step fails, and ends as partial", async () => {
    const shop = makeShop()
    shop.broken.add("bread")
    const { state } = await deliver(shop)
    expect(state.status).toBe("partial")
    expect(state.message).toBe("1 of 4 steps failed: Stock bread: Cannot get bread: it is broken")
    expect(state.steps.get("count")?.facts?.data).toEqual(["apple", "cheese"])
    expect(shop.ends).toEqual(["partial"])
  })

  it("fails when a required step fails, or when all tolerated steps fail", async () => {
    const shop = makeShop()
    shop.broken.add("bread")
    const must = await deliver(shop, { ...all, must: ["bread"] })
    expect(must.state.status).toBe("failure")
    expect(must.state.steps.get("count")).toMatchObject({ phase: "skipped", skippedBecause: "Stock bread was not done" })
    const only = await deliver(shop, { items: ["bread"], must: [] })
    expect(only.state.status).toBe("failure")
    expect(only.state.steps.get("count")?.phase).toBe("settled")
  })

  it("says why it cannot be planned, and leaves no run", async () => {
    const shop = makeShop()
    shop.closed = true
    const lab = makeLab([])
    const { kind, process } = open(lab, shop)
    const fault = await engineOf(process, (engine) => Effect.flip(engine.start(kind.request(source, all), admin)))
    expect(fault.message).toBe("Cannot deliver: the shop is closed")
    expect(lab.store.runs.size).toBe(0)
    await process.dispose()
  })

  it("waits for a store that accepts no writes", async () => {
    const shop = makeShop()
    shop.bookFails = 3
    expect((await deliver(shop)).state.status).toBe("success")
  })

  it("continues when its caller leaves", async () => {
    const lab = makeLab([])
    const shop = makeShop()
    const { kind, process } = open(lab, shop)
    const state = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const caller = yield* Effect.forkChild(
          Effect.flatMap(engine.start(kind.request(source, all), admin), (head) => engine.wait(head.id)),
        )
        while (lab.store.runs.size === 0) yield* Effect.sleep(100)
        yield* Fiber.interrupt(caller)
        const [run] = [...lab.store.runs.values()]
        return yield* engine.wait(run!.record.id)
      }),
    )
    expect(state.status).toBe("success")
    expect(shop.shelves.size).toBe(3)
    await process.dispose()
  })

  it("is refused while another changes the same subject, or joins it if its kind says so", async () => {
    for (const whenBusy of ["refuse", "join"] as const) {
      const shop = makeShop()
      const { kind, process } = open(makeLab([]), shop, undefined, whenBusy)
      const result = await engineOf(process, (engine) =>
        Effect.gen(function* () {
          shop.hold = yield* Deferred.make<void>()
          const first = yield* engine.start(kind.request(source, all), admin)
          const second = yield* Effect.result(engine.start(kind.request(source, { items: ["egg"], must: [] }), admin))
          const other = yield* engine.start(kind.request({ type: "source", id: "other" }, all), admin)
          yield* Deferred.succeed(shop.hold, undefined)
          yield* Effect.forEach([first, other], ({ id }) => engine.wait(id))
          return { first, second }
        }),
      )
      await process.dispose()
      if (whenBusy === "join") expect(result.second).toMatchObject({ _tag: "Success", success: { id: result.first.id } })
      else {
        expect(result.second).toMatchObject({ _tag: "Failure" })
        const fault = result.second._tag === "Failure" ? result.second.failure : undefined
        expect(fault).toBeInstanceOf(SubjectBusy)
        expect(fault?.message).toBe(`Cannot change source corner-shop: run ${result.first.id} (a delivery) is changing it`)
      }
      expect(shop.shelves.has("egg")).toBe(false)
    }
  })

  it("that many callers join at once is one run", async () => {
    const shop = makeShop()
    const lab = makeLab([])
    const { kind, process } = open(lab, shop, undefined, "join")
    const heads = await engineOf(process, (engine) =>
      Effect.all(
        Array.from({ length: 5 }, () => engine.start(kind.request(source, all), admin)),
        { concurrency: "unbounded" },
      ),
    )
    expect(new Set(heads.map(({ id }) => id)).size).toBe(1)
    expect(lab.store.runs.size).toBe(1)
    await process.dispose()
  })

  it("starts no new step after a cancel, and can be resumed", async () => {
    const shop = makeShop()
    const { kind, process } = open(makeLab([]), shop)
    const { aborted, resumed, again } = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        shop.hold = yield* Deferred.make<void>()
        const head = yield* engine.start(kind.request(source, all), admin)
        yield* Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), ({ event }) => event.type === "StepProgress"))
        expect(yield* engine.cancel(head.id, admin)).toBe(true)
        yield* Deferred.succeed(shop.hold, undefined)
        const aborted = yield* engine.wait(head.id)
        const next = yield* engine.resume(head.id, shopOwner)
        const resumed = yield* engine.wait(next.id)
        return { aborted, resumed, again: yield* Effect.flip(engine.resume(next.id, admin)) }
      }),
    )
    await process.dispose()
    expect(aborted.status).toBe("aborted")
    expect(aborted.steps.get("count")?.phase).toBe("skipped")
    expect(resumed.status).toBe("success")
    expect(again.message).toMatch(/^Cannot resume run .*: it succeeded$/u)
    expect(shop.ends).toEqual(["aborted", "success"])
  })

  it("of a kind that this version does not know is left to an instance that does", async () => {
    const lab = makeLab([])
    const shop = makeShop()
    const kind = shopKind(shop, makeCrashGate())
    const [older, newer] = [boot(lab, undefined, { owner: "older" }), boot(lab, undefined, { owner: "newer" }, [kind])]
    const head: RunHead = {
      id: "unknownkind0000" as RunHead["id"],
      ...kind.request(source, all),
      by: admin,
      startedAt: new Date(lab.clock.now()),
    }
    const taken = await older.runPromise(
      Effect.gen(function* () {
        yield* (yield* RunJournal).open(head, undefined)
        return yield* (yield* RunEngine).recover
      }),
    )
    expect(taken).toBe(0)
    expect(lab.store.runs.get(head.id)).toMatchObject({ generation: 0, entries: [] })
    const state = await engineOf(newer, (engine) => Effect.andThen(engine.recover, engine.wait(head.id)))
    expect(state.status).toBe("success")
    await Promise.all([older.dispose(), newer.dispose()])
  })
})

describe("a process that dies in a run about something other than a range", () => {
  it("at any journal write or call leaves a run that the next process brings to the same end", { timeout: 60_000 }, async () => {
    const whole = makeShop()
    whole.broken.add("bread")
    const counting = makeCrashGate()
    const first = open(makeLab([]), whole, counting)
    await engineOf(first.process, (engine) =>
      Effect.flatMap(engine.start(first.kind.request(source, all), admin), ({ id }) => engine.wait(id)),
    )
    await first.process.dispose()
    expect(counting.points()).toBeGreaterThan(40)

    for (let at = 1; at <= counting.points(); at++) {
      const lab = makeLab([])
      const shop = makeShop()
      shop.broken.add("bread")
      const gate = makeCrashGate(at)
      const dying = open(lab, shop, gate)
      let acknowledged: RunHead | undefined
      await engineOf(dying.process, (engine) =>
        Effect.gen(function* () {
          acknowledged = yield* engine.start(dying.kind.request(source, all), admin)
          yield* Effect.raceFirst(engine.wait(acknowledged.id), gate.died)
        }),
      ).catch(() => undefined)
      await dying.process.dispose().catch(() => undefined)
      const next = open(lab, shop)
      const state = await engineOf(next.process, (engine) =>
        Effect.gen(function* () {
          yield* engine.recover
          const known = acknowledged ?? [...lab.store.runs.values()][0]?.record
          const head = known ?? (yield* engine.start(next.kind.request(source, all), admin))
          return yield* engine.wait(head.id)
        }),
      )
      await next.process.dispose()
      const where = `crashed at ${at}: ${gate.trace.at(-1)}`
      expect([state.status, state.message], where).toEqual([
        "partial",
        "1 of 4 steps failed: Stock bread: Cannot get bread: it is broken",
      ])
      expect(state.steps.get("count")?.facts?.data, where).toEqual(["apple", "cheese"])
      expect([...shop.shelves.keys()].toSorted(), where).toEqual(["apple", "cheese"])
      expect(new Set(shop.ends), where).toEqual(new Set(["partial"]))
      expect(lab.store.runs.size, where).toBe(1)
    }
  })
})
