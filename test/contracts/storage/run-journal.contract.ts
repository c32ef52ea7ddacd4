import { installation, type JournalEntry, rangeSubject, type RunEvent, type RunHead } from "@rangewright/domain"
import { LeaseLost, Ranges, RunJournal, SubjectTaken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, deployRun, hostileText, newRange, plan, rangeId, runId, userId } from "./samples.ts"
import { later, pass, promises, type StorageUnderTest } from "./storage-under-test.ts"

const lab = rangeId("LAB")
const run = deployRun("first")
const output = (text: string): RunEvent => ({ type: "Output", key: "k", text })
const ended = (status: "success" | "failure" | "aborted"): Extract<RunEvent, { type: "Ended" }> => ({
  type: "Ended",
  status,
  message: `it was a ${status}`,
})
const source = { type: "source", id: "https://git.example.test/lab.git" } as const
const fetchRun = (id: string, over: Partial<RunHead> = {}): RunHead =>
  deployRun(id, { kind: "source-fetch", subject: source, ...over })
const migration = deployRun("migration", { kind: "migrate-sdn", subject: installation })
const cancel = { type: "CancelRequested", by: userId("alice") } as const

export const runJournalContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: run journal`, () => {
    const it = promises(storage)

    it(
      "opens a run and sets the range's state with it",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open({ ...run, startedAt: later(7) }, "DEPLOYING")
        const record = {
          ...run,
          startedAt: later(7),
          status: "running",
          endedAt: undefined,
          lastSeq: 0,
          cancelRequested: false,
          ordinal: 1,
        }
        expect(yield* journal.find(run.id)).toEqual(record)
        expect(yield* journal.active(rangeSubject(lab))).toEqual(record)
        expect(yield* journal.unfinished).toEqual([record])
        expect(yield* (yield* Ranges).find(lab)).toEqual({
          ...range,
          state: "DEPLOYING",
          lastDeploymentAt: later(7),
          updatedAt: later(7),
        })
        expect(yield* journal.find(runId("other"))).toBeUndefined()
        expect(yield* journal.active(rangeSubject(rangeId("OTHER")))).toBeUndefined()
      }),
    )

    it(
      "leaves the range alone if a run has no state to show",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(deployRun("power", { kind: "power" }), undefined)
        yield* journal.close(deployRun("power").id, 0, ended("success"), undefined, later(1))
        expect(yield* (yield* Ranges).find(lab)).toEqual(range)
      }),
    )

    it(
      "allows one unfinished run for a range, and names it to the next; opening the same run again changes nothing",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* (yield* Ranges).create(newRange("OTHER"))
        yield* journal.open(run, "DEPLOYING")
        yield* journal.open(run, "DEPLOYING")
        const refused = yield* Effect.flip(journal.open(deployRun("second", { kind: "destroy" }), "DESTROYING"))
        expect(refused).toBeInstanceOf(SubjectTaken)
        expect(refused).toMatchObject({ facts: { run: { id: run.id, kind: "deploy", subject: run.subject } } })
        expect(yield* journal.find(deployRun("second").id)).toBeUndefined()
        expect(yield* (yield* Ranges).find(lab)).toMatchObject({ state: "DEPLOYING" })
        yield* journal.open(deployRun("third", { subject: rangeSubject(rangeId("OTHER")) }), "DEPLOYING")
        yield* journal.close(run.id, 0, ended("success"), "SUCCESS", later(1))
        yield* journal.open(deployRun("second"), "DEPLOYING")
        expect((yield* journal.active(rangeSubject(lab)))?.id).toBe(deployRun("second").id)
      }),
    )

    it(
      "lets one of several concurrently opened runs of a range win",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        const opens = ["a", "b", "c", "d", "e"].map((id) => Effect.result(journal.open(deployRun(id), "DEPLOYING")))
        const results = yield* Effect.all(opens, { concurrency: "unbounded" })
        expect(results.filter((result) => result._tag === "Success")).toHaveLength(1)
        expect(results.filter((result) => result._tag === "Failure" && result.failure instanceof SubjectTaken)).toHaveLength(4)
        expect(yield* journal.unfinished).toHaveLength(1)
      }),
    )

    it(
      "keeps runs about other subjects than a range, one unfinished for each subject",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(fetchRun("fetch"), "DEPLOYING")
        yield* journal.open(fetchRun("fetch"), undefined)
        expect(yield* journal.find(fetchRun("fetch").id)).toEqual({
          ...fetchRun("fetch"),
          status: "running",
          endedAt: undefined,
          lastSeq: 0,
          cancelRequested: false,
          ordinal: 1,
        })
        const refused = yield* Effect.flip(journal.open(fetchRun("again"), undefined))
        expect(refused).toBeInstanceOf(SubjectTaken)
        expect(refused).toMatchObject({ facts: { run: { id: fetchRun("fetch").id, kind: "source-fetch", subject: source } } })
        // the same id is another subject with another type, and other subjects are free
        yield* journal.open(fetchRun("blueprint", { subject: { type: "blueprint", id: source.id } }), undefined)
        yield* journal.open(run, "DEPLOYING")
        expect((yield* journal.active(source))?.id).toBe(fetchRun("fetch").id)
        expect((yield* journal.active(rangeSubject(lab)))?.id).toBe(run.id)
        yield* journal.append(fetchRun("fetch").id, 0, [output("x")], later(1))
        expect(yield* journal.requestCancel(fetchRun("fetch").id, 1, cancel, later(1), "ABORTED")).toBe(true)
        yield* journal.close(fetchRun("fetch").id, 0, ended("failure"), "ERROR", later(2))
        expect(yield* journal.active(source)).toBeUndefined()
        expect(yield* (yield* Ranges).find(lab)).toMatchObject({ state: "DEPLOYING" })
        yield* journal.open(fetchRun("again"), undefined)
      }),
    )

    it(
      "opens a run of a range behind the installation's unfinished run, and records that one",
      Effect.gen(function* () {
        yield* aliceWithLab
        yield* (yield* Ranges).create(newRange("OTHER"))
        const journal = yield* RunJournal
        const second = deployRun("second", { subject: rangeSubject(rangeId("OTHER")) })
        expect(yield* journal.open(run, "DEPLOYING")).toMatchObject({ blockedBy: undefined })
        expect(yield* journal.open(migration, undefined)).toMatchObject({ blockedBy: undefined })
        // the existing one continues, and other subjects are free
        yield* journal.append(run.id, 0, [output("x")], later(1))
        expect(yield* journal.open(fetchRun("fetch"), undefined)).toMatchObject({ blockedBy: undefined })
        expect(yield* journal.open(second, "DEPLOYING")).toEqual({
          ...second,
          status: "running",
          endedAt: undefined,
          lastSeq: 0,
          cancelRequested: false,
          blockedBy: migration.id,
          ordinal: 4,
        })
        expect(yield* (yield* Ranges).find(rangeId("OTHER"))).toMatchObject({ state: "DEPLOYING" })
        expect(
          yield* Effect.flip(journal.open(deployRun("m2", { kind: "migrate-sdn", subject: installation }), undefined)),
        ).toBeInstanceOf(SubjectTaken)
        yield* journal.close(migration.id, 0, ended("success"), undefined, later(2))
        yield* journal.close(run.id, 0, ended("success"), "SUCCESS", later(3))
        // the recorded one stays, even when it is gone; opening the run again does not change it
        expect(yield* journal.prune(migration, 0)).toBe(1)
        expect(yield* journal.prune(run, 0)).toBe(1)
        expect(yield* journal.open(second, "DEPLOYING")).toMatchObject({ blockedBy: migration.id })
        expect(yield* journal.find(second.id)).toMatchObject({ blockedBy: migration.id })
        expect((yield* journal.unfinished).map(({ id, blockedBy }) => [id, blockedBy])).toContainEqual([second.id, migration.id])
        expect(yield* journal.open(run, "DEPLOYING")).toMatchObject({ blockedBy: undefined })
      }),
    )

    it(
      "lets exactly one of a range and the installation wait for the other when their runs are opened concurrently",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        const names = ["A", "B", "C", "D", "E", "F"]
        for (const name of names) yield* (yield* Ranges).create(newRange(name))
        const deploys = names.map((name) => deployRun(name.toLowerCase(), { subject: rangeSubject(rangeId(name)) }))
        const open = (heads: readonly RunHead[]) => heads.map((head) => journal.open(head, undefined))
        const before = yield* Effect.all(open(deploys.slice(0, 2)), { concurrency: "unbounded" })
        expect(before.map(({ blockedBy }) => blockedBy)).toEqual([undefined, undefined])
        const [seen, ...racing] = yield* Effect.all(
          [Effect.andThen(journal.open(migration, undefined), journal.unfinished), ...open(deploys.slice(2))],
          { concurrency: "unbounded" },
        )
        // a run that the migration does not find when it checks what to wait for waits itself
        const found = new Set(seen.map(({ id }) => id))
        expect(before.every(({ id }) => found.has(id))).toBe(true)
        for (const { id, blockedBy } of racing) expect([undefined, migration.id], id).toContain(blockedBy)
        for (const { id, blockedBy } of racing) if (!found.has(id)) expect(blockedBy, id).toBe(migration.id)
        expect((yield* journal.open(run, undefined)).blockedBy).toBe(migration.id)
      }),
    )

    it(
      "removes a range's runs with the range, and finished runs of other subjects when they are forgotten",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, undefined)
        yield* journal.open(fetchRun("old"), undefined)
        yield* journal.append(fetchRun("old").id, 0, [output("x")], later(1))
        yield* journal.close(fetchRun("old").id, 0, ended("success"), undefined, later(1))
        yield* journal.open(fetchRun("new"), undefined)
        yield* (yield* Ranges).remove(lab)
        expect((yield* journal.list({ limit: 10 })).map(({ id }) => id).sort()).toEqual([fetchRun("new").id, fetchRun("old").id])
        yield* journal.forget({ type: "blueprint", id: source.id })
        expect(yield* journal.read(fetchRun("old").id, 0)).toHaveLength(2)
        yield* journal.forget(source)
        expect(yield* journal.read(fetchRun("old").id, 0)).toEqual([])
        expect((yield* journal.list({ limit: 10 })).map(({ id }) => id)).toEqual([fetchRun("new").id])
      }),
    )

    it(
      "stores the current configuration with a deploy when it opens; no other run changes what is deployed",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        const ranges = yield* Ranges
        expect(yield* ranges.deployedConfig(lab)).toBe((yield* ranges.config(lab))?.text)
        const first = `# ${hostileText}\nludus: []\n`
        yield* ranges.setConfig(lab, first)
        expect(yield* ranges.deployedConfig(lab)).toBe(first)
        yield* journal.open(run, "DEPLOYING")
        yield* ranges.setConfig(lab, "ludus: [] # later\n")
        // requested again, it keeps the configuration of its opening
        yield* journal.open(run, "DEPLOYING")
        expect(yield* ranges.deployedConfig(lab)).toBe(first)
        yield* journal.close(run.id, 0, ended("failure"), "ERROR", later(1))
        const access = deployRun("access", { kind: "access" })
        yield* journal.open(access, undefined)
        yield* journal.close(access.id, 0, ended("success"), undefined, later(2))
        expect(yield* ranges.deployedConfig(lab)).toBe(first)
        yield* journal.open(deployRun("second"), "DEPLOYING")
        expect(yield* ranges.deployedConfig(lab)).toBe("ludus: [] # later\n")
        expect(yield* ranges.deployedConfig(rangeId("NO"))).toBeUndefined()
      }),
    )

    it(
      "opens a run behind a cancelled one of the same range, which no longer shows in the range's state",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        const stateOf = Effect.flatMap(Ranges, (ranges) => Effect.map(ranges.find(lab), (range) => range?.state))
        const [second, third] = [deployRun("second", { startedAt: later(2) }), deployRun("third", { startedAt: later(4) })]
        yield* journal.open(run, "DEPLOYING")
        expect(yield* Effect.flip(journal.open(second, "DEPLOYING"))).toBeInstanceOf(SubjectTaken)
        yield* journal.requestCancel(run.id, 0, cancel, later(1), "ABORTED")
        expect(yield* journal.active(rangeSubject(lab))).toMatchObject({ id: run.id, cancelRequested: true })
        expect(yield* journal.open(second, "DEPLOYING")).toMatchObject({ blockedBy: run.id, cancelRequested: false })
        expect(yield* journal.active(rangeSubject(lab))).toMatchObject({ id: second.id })
        expect((yield* journal.unfinished).map(({ id }) => id).toSorted()).toEqual([run.id, second.id].toSorted())
        // the unfinished one is still in the way: no run overtakes it
        expect(yield* Effect.flip(journal.open(third, "DEPLOYING"))).toMatchObject({ facts: { run: { id: second.id } } })
        expect(yield* stateOf).toBe("DEPLOYING")
        yield* journal.append(run.id, 0, [output("it settles")], later(3))
        yield* journal.close(run.id, 0, ended("aborted"), "ABORTED", later(3))
        expect(yield* stateOf).toBe("DEPLOYING")
        expect(yield* journal.find(run.id)).toMatchObject({ status: "aborted", endedAt: later(3) })
        yield* journal.requestCancel(second.id, 0, cancel, later(4), "ABORTED")
        expect(yield* stateOf).toBe("ABORTED")
        yield* journal.close(second.id, 0, ended("aborted"), "ABORTED", later(4))
        expect(yield* journal.open(third, "DEPLOYING")).toMatchObject({ blockedBy: undefined })
        expect((yield* journal.unfinished).map(({ id }) => id)).toEqual([third.id])
      }),
    )

    it(
      "opens a run behind a cancelled one of the same range, even if the run opened in between has ended",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        const [second, third] = [deployRun("second", { startedAt: later(2) }), deployRun("third", { startedAt: later(4) })]
        yield* journal.open(run, "DEPLOYING")
        yield* journal.requestCancel(run.id, 0, cancel, later(1), "ABORTED")
        yield* journal.open(second, "DEPLOYING")
        yield* journal.requestCancel(second.id, 0, cancel, later(3), "ABORTED")
        yield* journal.close(second.id, 0, ended("aborted"), "ABORTED", later(3))
        expect(yield* journal.open(third, "DEPLOYING")).toMatchObject({ blockedBy: run.id })
        expect(yield* journal.active(rangeSubject(lab))).toMatchObject({ id: third.id })
      }),
    )

    it(
      "opens no run behind a cancelled one of another subject type",
      Effect.gen(function* () {
        const journal = yield* RunJournal
        yield* journal.open(fetchRun("first"), undefined)
        yield* journal.requestCancel(runId("first"), 0, cancel, later(1))
        expect(yield* Effect.flip(journal.open(fetchRun("second"), undefined))).toBeInstanceOf(SubjectTaken)
      }),
    )

    it(
      "opens no run of a range that does not exist",
      Effect.gen(function* () {
        const journal = yield* RunJournal
        expect(yield* Effect.flip(journal.open(run, "DEPLOYING"))).toMatchObject({ _tag: "RangeNotFound" })
        expect(yield* journal.unfinished).toEqual([])
      }),
    )

    it(
      "numbers entries from 1 without gaps and returns them unchanged",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, "DEPLOYING")
        const events: readonly RunEvent[] = [
          { type: "Planned", plan },
          { type: "StepStarted", key: "clone:dc", attempt: 1 },
          { type: "StepDispatched", key: "clone:dc", attempt: 1, token: { upid: "UPID:x", more: [1, null, true, { "": "" }] } },
          output(hostileText),
        ]
        const first = yield* journal.append(run.id, 0, events, later(1))
        expect(first).toEqual(events.map((event, i) => ({ seq: i + 1, at: later(1), event })))
        expect(yield* journal.append(run.id, 0, [], later(2))).toEqual([])
        const second = yield* journal.append(run.id, 0, [output("x".repeat(1_000_000))], later(3))
        expect(second[0]?.seq).toBe(5)
        const all: readonly JournalEntry[] = [...first, ...second]
        expect(yield* journal.read(run.id, 0)).toEqual(all)
        expect(yield* journal.read(run.id, 2)).toEqual(all.slice(2))
        expect(yield* journal.read(run.id, 1, 2)).toEqual(all.slice(1, 3))
        expect(yield* journal.read(run.id, 5)).toEqual([])
        expect((yield* journal.find(run.id))?.lastSeq).toBe(5)
      }),
    )

    it(
      "numbers concurrent entries without gaps or duplicates",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, "DEPLOYING")
        const appends = Array.from({ length: 12 }, (_, i) =>
          journal.append(run.id, 0, [output(`${i}a`), output(`${i}b`)], later(i)),
        )
        yield* Effect.all(appends, { concurrency: "unbounded" })
        const entries = yield* journal.read(run.id, 0)
        expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1))
        expect(new Set(entries.map((entry) => (entry.event.type === "Output" ? entry.event.text : ""))).size).toBe(24)
      }),
    )

    it(
      "refuses appends and endings of a generation that lost its lease, and writes nothing",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, "DEPLOYING")
        expect(yield* journal.claim(run.id, "one", 300)).toBe(1)
        yield* journal.append(run.id, 1, [output("mine")], later(1))
        yield* pass(storage, 300)
        expect(yield* journal.claim(run.id, "two", 300)).toBe(2)
        expect(yield* Effect.flip(journal.append(run.id, 1, [output("stale")], later(12)))).toBeInstanceOf(LeaseLost)
        expect(yield* Effect.flip(journal.close(run.id, 1, ended("failure"), "ERROR", later(12)))).toBeInstanceOf(LeaseLost)
        expect(yield* Effect.flip(journal.append(run.id, 3, [output("early")], later(12)))).toBeInstanceOf(LeaseLost)
        expect(yield* journal.read(run.id, 0)).toHaveLength(1)
        expect(yield* (yield* Ranges).find(lab)).toMatchObject({ state: "DEPLOYING" })
        yield* journal.append(run.id, 2, [output("theirs")], later(12))
        expect((yield* journal.find(run.id))?.lastSeq).toBe(2)
      }),
    )

    it(
      "ends a run once, with its last entry, status and the range's state",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, "DEPLOYING")
        yield* journal.append(run.id, 0, [output("a")], later(1))
        yield* journal.close(run.id, 0, ended("failure"), "ERROR", later(2))
        yield* journal.close(run.id, 0, ended("success"), "SUCCESS", later(3))
        yield* journal.close(run.id, 7, ended("success"), "SUCCESS", later(3))
        yield* journal.close(runId("unknown"), 0, ended("success"), "SUCCESS", later(3))
        expect(yield* journal.find(run.id)).toEqual({
          ...run,
          status: "failure",
          endedAt: later(2),
          lastSeq: 2,
          cancelRequested: false,
          ordinal: 1,
        })
        expect((yield* journal.read(run.id, 1)).map((entry) => entry.event)).toEqual([ended("failure")])
        expect(yield* (yield* Ranges).find(lab)).toMatchObject({ state: "ERROR" })
        expect(yield* journal.active(rangeSubject(lab))).toBeUndefined()
        expect(yield* journal.unfinished).toEqual([])
        expect(yield* Effect.flip(journal.append(run.id, 0, [output("late")], later(4)))).toBeInstanceOf(LeaseLost)
        expect(yield* Effect.flip(journal.append(runId("unknown"), 0, [], later(4)))).toBeInstanceOf(LeaseLost)
      }),
    )

    it(
      "accepts a cancel without the lease while the run is unfinished",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, "DEPLOYING")
        yield* (yield* RunJournal).claim(run.id, "worker", 60)
        expect(yield* journal.requestCancel(run.id, 0, cancel, later(1), "ABORTED")).toBe(true)
        expect(yield* journal.read(run.id, 0)).toEqual([{ seq: 1, at: later(1), event: cancel }])
        expect(yield* (yield* Ranges).find(lab)).toMatchObject({ state: "ABORTED" })
        expect(yield* journal.find(run.id)).toMatchObject({ cancelRequested: true })
        expect((yield* journal.append(run.id, 1, [output("x")], later(3)))[0]?.seq).toBe(2)
        yield* journal.close(run.id, 1, ended("aborted"), "ABORTED", later(4))
        expect(yield* journal.requestCancel(run.id, 3, cancel, later(5), "ABORTED")).toBe(false)
        expect(yield* journal.requestCancel(runId("unknown"), 0, cancel, later(5))).toBe(false)
      }),
    )

    it(
      "refuses a cancel decided before the journal's last entry, without a trace",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        yield* journal.open(run, "DEPLOYING")
        const entries = yield* journal.append(run.id, 0, [output("x")], later(1))
        expect(yield* journal.requestCancel(run.id, 0, cancel, later(2), "ABORTED")).toBe(false)
        expect(yield* journal.read(run.id, 0)).toEqual(entries)
        expect(yield* journal.find(run.id)).toMatchObject({ cancelRequested: false, lastSeq: 1 })
        expect(yield* (yield* Ranges).find(lab)).toMatchObject({ state: "DEPLOYING" })
        const both = [1, 1].map((seq) => journal.requestCancel(run.id, seq, cancel, later(3), "ABORTED"))
        expect((yield* Effect.all(both, { concurrency: "unbounded" })).filter(Boolean)).toHaveLength(1)
        expect(yield* journal.find(run.id)).toMatchObject({ cancelRequested: true, lastSeq: 2 })
      }),
    )

    it(
      "counts the runs that ended after a time, by kind and status, whenever they started",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        expect(yield* journal.endedAfter(later(0))).toEqual([])
        const runs = [
          ["long", "deploy", "success", 1, 60],
          ["early", "deploy", "success", 2, 50],
          ["b", "deploy", "success", 52, 55],
          ["c", "deploy", "failure", 53, 56],
          ["d", "power", "success", 54, 57],
        ] as const
        for (const [id, kind, status, start, end] of runs) {
          const subject = { type: "source", id } as const
          yield* journal.open(deployRun(id, { kind, subject, startedAt: later(start) }), undefined)
          yield* journal.close(runId(id), 0, ended(status), undefined, later(end))
        }
        yield* journal.open({ ...run, startedAt: later(58) }, undefined)
        const counts = yield* journal.endedAfter(later(50))
        expect(counts.map(({ kind, status, count }) => `${kind} ${status} ${count}`).sort()).toEqual([
          "deploy failure 1",
          "deploy success 2",
          "power success 1",
        ])
        expect(counts.every(({ count }) => typeof count === "number")).toBe(true)
        expect(yield* journal.endedAfter(later(60))).toEqual([])
      }),
    )

    it(
      "lists runs newest first, filtered by subject, subject type, user, kind, time and number",
      Effect.gen(function* () {
        yield* aliceWithLab
        yield* (yield* Ranges).create(newRange("OTHER"))
        const journal = yield* RunJournal
        for (const [i, kind] of (["deploy", "power", "deploy", "destroy"] as const).entries()) {
          yield* journal.open(deployRun(`r${i}`, { kind, startedAt: later(i) }), undefined)
          yield* journal.close(runId(`r${i}`), 0, ended("success"), undefined, later(i))
        }
        yield* journal.open(deployRun("x", { subject: rangeSubject(rangeId("OTHER")), startedAt: later(9) }), undefined)
        const ids = (filter: Parameters<typeof journal.list>[0]) =>
          Effect.map(journal.list(filter), (runs) => runs.map((r) => r.id.replace(/0+$/u, "")))
        expect(yield* ids({ limit: 10 })).toEqual(["x", "r3", "r2", "r1", "r"])
        expect(yield* ids({ limit: 10, subject: rangeSubject(lab) })).toEqual(["r3", "r2", "r1", "r"])
        expect(yield* ids({ limit: 10, subject: rangeSubject(lab), kinds: ["deploy", "destroy"] })).toEqual(["r3", "r2", "r"])
        expect(yield* ids({ limit: 10, kinds: [] })).toEqual([])
        yield* journal.open(fetchRun("s", { by: userId("bob"), startedAt: later(10) }), undefined)
        expect(yield* ids({ limit: 10, types: ["source", "blueprint"] })).toEqual(["s"])
        expect(yield* ids({ limit: 2, types: ["range"] })).toEqual(["x", "r3"])
        expect(yield* ids({ limit: 10, types: [] })).toEqual([])
        expect(yield* ids({ limit: 10, subject: source })).toEqual(["s"])
        expect(yield* ids({ limit: 0 })).toEqual([])
        expect(yield* ids({ limit: 10, subject: rangeSubject(rangeId(hostileText)) })).toEqual([])
        expect(yield* ids({ limit: 10, ranges: [lab] })).toEqual(["r3", "r2", "r1", "r"])
        expect(yield* ids({ limit: 10, ranges: [rangeId("OTHER"), rangeId(hostileText)] })).toEqual(["x"])
        expect(yield* ids({ limit: 10, ranges: [] })).toEqual([])
        expect(yield* ids({ limit: 10, statuses: ["running"] })).toEqual(["s", "x"])
        expect(yield* ids({ limit: 10, statuses: [] })).toEqual([])
        expect(yield* ids({ limit: 10, by: userId("bob") })).toEqual(["s"])
        expect(yield* ids({ limit: 10, by: userId(hostileText) })).toEqual([])
        expect(yield* ids({ limit: 10, since: later(3) })).toEqual(["s", "x", "r3"])
      }),
    )

    it(
      "continues after a given run, whatever began meanwhile, and among runs of one moment",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        for (const id of ["a", "b", "c"]) {
          yield* journal.open(deployRun(id, { startedAt: later(1) }), undefined)
          yield* journal.close(runId(id), 0, ended("success"), undefined, later(1))
        }
        const [first, second] = yield* journal.list({ limit: 2 })
        expect([first?.id, second?.id]).toEqual([runId("c"), runId("b")])
        const { ordinal } = yield* journal.open(deployRun("d", { startedAt: later(2) }), undefined)
        const before = second!.ordinal
        expect((yield* journal.list({ limit: 2, before })).map(({ id }) => id)).toEqual([runId("a")])
        expect(yield* journal.prune(deployRun("d"), 0)).toBe(3)
        expect(yield* journal.list({ limit: 2, before })).toEqual([])
        expect((yield* journal.list({ limit: 2, before: ordinal + 1 })).map(({ id }) => id)).toEqual([runId("d")])
      }),
    )

    it(
      "prunes all but the newest finished runs of each subject",
      Effect.gen(function* () {
        yield* aliceWithLab
        yield* (yield* Ranges).create(newRange("OTHER"))
        const journal = yield* RunJournal
        for (const [i, range] of ["LAB", "OTHER", "LAB", "LAB"].entries()) {
          yield* journal.open(deployRun(`r${i + 1}`, { subject: rangeSubject(rangeId(range)), startedAt: later(i) }), undefined)
          yield* journal.append(runId(`r${i + 1}`), 0, [output("x")], later(i))
          yield* journal.close(runId(`r${i + 1}`), 0, ended("success"), undefined, later(i))
        }
        for (const id of ["s1", "s2"]) {
          yield* journal.open(fetchRun(id), undefined)
          yield* journal.close(runId(id), 0, ended("success"), undefined, later(1))
        }
        yield* journal.open(deployRun("now", { startedAt: later(9) }), undefined)
        expect(yield* journal.prune(deployRun("now"), 1)).toBe(2)
        expect(yield* journal.prune(deployRun("now"), 1)).toBe(0)
        expect(yield* journal.prune(fetchRun("s2"), 1)).toBe(1)
        const left = yield* journal.list({ limit: 10 })
        expect(left.map((r) => r.id)).toEqual([runId("now"), runId("s2"), runId("r4"), runId("r2")])
        expect(yield* journal.read(runId("r1"), 0)).toEqual([])
        expect(yield* journal.read(runId("r4"), 0)).toHaveLength(2)
      }),
    )

    it(
      "takes the run that opened last for the newest, also when the clock was set back before it",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        for (const [id, second] of [
          ["a", 900],
          ["b", 901],
          ["c", 1],
          ["d", 1],
        ] as const) {
          yield* journal.open(deployRun(id, { startedAt: later(second) }), undefined)
          yield* journal.close(runId(id), 0, ended("success"), undefined, later(second))
        }
        yield* journal.open(fetchRun("e", { startedAt: later(0) }), undefined)
        yield* journal.open(deployRun("now", { startedAt: later(2) }), undefined)
        const ids = (filter: Parameters<typeof journal.list>[0]) =>
          Effect.map(journal.list(filter), (runs) => runs.map(({ id }) => id))
        expect(yield* ids({ limit: 9 })).toEqual(["now", "e", "d", "c", "b", "a"].map(runId))
        expect(yield* ids({ subject: rangeSubject(lab), limit: 1 })).toEqual([runId("now")])
        expect(yield* ids({ limit: 9, since: later(2) })).toEqual(["now", "b", "a"].map(runId))
        expect((yield* journal.unfinished).map(({ id }) => id)).toEqual(["now", "e"].map(runId))
        const page = yield* journal.list({ limit: 3 })
        expect(yield* ids({ limit: 2, before: page[2]!.ordinal })).toEqual(["c", "b"].map(runId))
        expect(yield* journal.prune(deployRun("now"), 1)).toBe(3)
        expect(yield* ids({ limit: 9 })).toEqual(["now", "e", "d"].map(runId))
      }),
    )

    it(
      "keeps the same number of deploys, however many runs of other kinds came between",
      Effect.gen(function* () {
        yield* aliceWithLab
        const journal = yield* RunJournal
        for (const [i, kind] of ["deploy", "destroy", "deploy", "destroy", "destroy"].entries()) {
          yield* journal.open(deployRun(`r${i + 1}`, { kind, startedAt: later(i) }), undefined)
          yield* journal.close(runId(`r${i + 1}`), 0, ended("success"), undefined, later(i))
        }
        expect(yield* journal.prune(deployRun("r5", { kind: "destroy" }), 2)).toBe(1)
        expect((yield* journal.list({ limit: 10 })).map((r) => r.id)).toEqual(["r5", "r4", "r3", "r1"].map(runId))
      }),
    )
  })
