import { rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { foldRun, type JournalEntry, renderLog } from "@rangewright/domain"
import { RunJournal, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, engineOf, makeLab, startAndWait } from "./support/lab.ts"

const names = ["vm1", "vm2"]
const seqs = (entries: readonly JournalEntry[]): readonly number[] => entries.map(({ seq }) => seq)

describe("the events of a run", () => {
  it("reach every reader without gaps, live or late, from any position", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const { head, live, late, rest } = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const begun = yield* engine.start(rangeRequest(range, deploy), admin)
        const all = yield* Stream.runCollect(engine.events(begun.id, 0))
        const again = yield* Stream.runCollect(engine.events(begun.id, 0))
        return { head: begun, live: all, late: again, rest: yield* Stream.runCollect(engine.events(begun.id, 20)) }
      }),
    )
    expect(seqs(live)).toEqual(live.map((_, i) => i + 1))
    expect(live.at(-1)?.event.type).toBe("Ended")
    expect(late).toEqual(live)
    expect(seqs(rest)).toEqual(seqs(live).slice(20))
    expect(foldRun(live).status).toBe("success")
    const log = renderLog(head, live)
    expect(log).toContain("TASK [role:vm1]")
    expect(log).toMatch(/PLAY RECAP \*+\n[^]*vm2 +: ok=6 /u)
    await process.dispose()
  })

  it("are all seen by a reader that takes one entry an hour", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const slow = await engineOf(process, (engine) =>
      Effect.flatMap(engine.start(rangeRequest(range, deploy), admin), ({ id }) =>
        Stream.runCollect(Stream.tap(engine.events(id, 0), () => Effect.sleep(3_600_000))),
      ),
    )
    expect(seqs(slow)).toEqual(slow.map((_, i) => i + 1))
    expect(slow.at(-1)?.event.type).toBe("Ended")
    await process.dispose()
  })

  it("of the removal of a range end with it, and waiting for it reports success", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const { head, state } = await startAndWait(process, range, { kind: "delete-range", force: true })
    expect(state.status).toBe("success")
    expect([
      lab.store.ranges.size,
      lab.store.runs.size,
      lab.world.pools.size,
      lab.world.networks.size,
      lab.world.acl.size,
    ]).toEqual([0, 0, 0, 0, 0])
    expect([...lab.world.vms.values()].filter(({ template }) => !template)).toEqual([])
    const events = await engineOf(process, (engine) => Stream.runCollect(engine.events(head.id, 0)))
    expect(events.map(({ event }) => event.type)).toEqual(["Ended"])
    await process.dispose()
  })

  it("of an unknown run are refused", async () => {
    const lab = makeLab(names)
    const process = boot(lab)
    const fault = await engineOf(process, (engine) => Effect.flip(Stream.runDrain(engine.events("nosuchrun000000" as never, 0))))
    expect(fault._tag).toBe("RunNotFound")
    await process.dispose()
  })
})

describe("a store that cannot write", () => {
  it("stops a run, which resumes automatically when the store can write again", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    let appends = 0
    const full = {
      points: () => 0,
      dead: () => false,
      died: Effect.never,
      trace: [],
      guard: <S extends object>(port: string, service: S): S => {
        if (port !== "RunJournal") return service
        const journal = service as unknown as RunJournal["Service"]
        const append: typeof journal.append = (...args) =>
          Effect.suspend(() => {
            appends += 1
            return appends >= 5 && appends < 15
              ? Effect.fail(new StorageFault({ doing: "append", because: "the disk is full" }))
              : journal.append(...args)
          })
        return { ...service, append }
      },
    }
    const process = boot(lab, full)
    const { state } = await startAndWait(process, range)
    expect(state.status).toBe("success")
    expect(appends).toBeGreaterThan(15)
    await process.dispose()
  })
})
