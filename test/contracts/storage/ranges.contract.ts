import { RangeExists, RangeNotFound, UserNotFound } from "@rangewright/domain"
import { Machines, Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, type SuiteCollector } from "vitest"
import {
  aliceWithLab,
  cluster,
  deployRun,
  hostileText,
  hostileTexts,
  machine,
  newRange,
  newUser,
  rangeId,
  userId,
  vmid,
} from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

export const rangesContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: ranges`, () => {
    const it = promises(storage)

    it(
      "keeps one picture for a range, byte by byte, and returns it to those who know its name",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 7) % 256)
        const first = { name: "first_x.png", type: "image/png", bytes } as const
        const second = { name: "second_y.gif", type: "image/gif", bytes: new Uint8Array([0]) } as const
        yield* TestClock.adjust("10 seconds")
        const before = yield* ranges.revision
        const changed = yield* ranges.change(range.id, { thumbnail: first })
        expect(changed).toEqual({ ...range, thumbnail: first.name, updatedAt: later(10) })
        expect(yield* ranges.list()).toEqual([changed])
        expect(yield* ranges.revision).toBeGreaterThan(before)
        expect(yield* ranges.thumbnail(range.recordId, first.name)).toEqual(first)
        expect((yield* ranges.change(range.id, { purpose: "x" })).thumbnail).toBe(first.name)
        yield* ranges.change(range.id, { thumbnail: second })
        expect(yield* ranges.thumbnail(range.recordId, first.name)).toBeUndefined()
        expect(yield* ranges.thumbnail(range.recordId, second.name)).toEqual(second)
        for (const other of ["", "undefined", hostileText]) expect(yield* ranges.thumbnail(range.recordId, other)).toBeUndefined()
        expect((yield* ranges.change(range.id, { thumbnail: undefined })).thumbnail).toBeUndefined()
        expect(yield* ranges.thumbnail(range.recordId, second.name)).toBeUndefined()
        yield* ranges.change(range.id, { thumbnail: second })
        yield* ranges.remove(range.id)
        expect(yield* ranges.thumbnail(range.recordId, second.name)).toBeUndefined()
        yield* ranges.create(newRange("LAB"))
        expect(yield* ranges.thumbnail(range.recordId, second.name)).toBeUndefined()
        expect((yield* Effect.flip(ranges.change(rangeId("NONE"), { thumbnail: second })))._tag).toBe("RangeNotFound")
      }),
    )

    it(
      "counts the pictures of ranges for the one user who is charged for the range",
      Effect.gen(function* () {
        const { user: alice, range: lab } = yield* aliceWithLab
        const ranges = yield* Ranges
        const bob = yield* (yield* Users).create(newUser("bob"))
        const cleo = yield* (yield* Users).create(newUser("cleo"))
        const picture = (size: number) => ({ name: `p${size}.png`, type: "image/png", bytes: new Uint8Array(size) }) as const
        const shared = yield* ranges.create(newRange("SHARED", { owners: [bob.id] }))
        yield* ranges.create(newRange("BARE", { owners: [alice.id] }))
        const free = yield* ranges.create(newRange("FREE"))
        yield* ranges.change(lab.id, { thumbnail: picture(70_000) })
        yield* ranges.change(shared.id, { thumbnail: picture(3) })
        yield* ranges.change(free.id, { thumbnail: picture(5) })
        yield* ranges.grant(shared.id, cleo.id)
        yield* ranges.grant(shared.id, alice.id)
        const sizes = Effect.fnUntraced(function* () {
          const all = yield* Effect.forEach([alice, bob, cleo], ({ id }) => ranges.pictureSizes(id))
          return all.map((of) => of.map(({ id, bytes }) => `${id} ${bytes}`).toSorted())
        })
        expect(yield* ranges.pictureSizes(alice.id)).toEqual([{ id: lab.id, recordId: lab.recordId, bytes: 70_000 }])
        expect(yield* sizes()).toEqual([["LAB 70000"], ["SHARED 3"], []])
        // the lowest number of those who are left
        yield* ranges.revoke(shared.id, bob.id)
        expect(yield* sizes()).toEqual([["LAB 70000", "SHARED 3"], [], []])
        yield* ranges.revoke(shared.id, alice.id)
        expect(yield* sizes()).toEqual([["LAB 70000"], [], ["SHARED 3"]])
        yield* ranges.change(lab.id, { thumbnail: undefined })
        expect(yield* sizes()).toEqual([[], [], ["SHARED 3"]])
      }),
    )

    it(
      "creates a range completely: configuration, owners, and the lowest number that is neither used nor reserved",
      Effect.gen(function* () {
        const { user, range } = yield* aliceWithLab
        const ranges = yield* Ranges
        expect(range).toEqual({
          id: "LAB",
          recordId: "rangelabz000000",
          number: 1,
          name: "Name of LAB",
          description: "",
          purpose: "",
          thumbnail: undefined,
          state: "NEVER DEPLOYED",
          testing: { mode: "off", allowedDomains: [], allowedIps: [] },
          lastDeploymentAt: undefined,
          lastActiveAt: undefined,
          autoShutdown: undefined,
          stayOnUntil: undefined,
          createdBy: "alice",
          madeFor: "alice",
          createdAt: startedAt,
          updatedAt: startedAt,
          takenOver: false,
        })
        expect(yield* ranges.find(range.id)).toEqual(range)
        expect(yield* ranges.findByRecordId(range.recordId)).toEqual(range)
        expect(yield* ranges.config(range.id)).toEqual({ text: "ludus: []\n", updatedAt: startedAt })
        expect(yield* ranges.grants(range.id)).toEqual([
          { userId: user.id, userNumber: 2, name: user.name, rangeId: "LAB", accessType: "Direct" },
        ])
        expect((yield* ranges.create(newRange("B", { reservedNumbers: [2, 3] }))).number).toBe(4)
        expect((yield* ranges.create(newRange("team/a", { number: 153 }))).number).toBe(153)
        expect((yield* ranges.create(newRange("C"))).number).toBe(2)
        expect((yield* ranges.list()).map((r) => r.number)).toEqual([1, 2, 4, 153])
      }),
    )

    it(
      "creates an imported range with its state, testing mode and last deployment",
      Effect.gen(function* () {
        const ranges = yield* Ranges
        const past = {
          state: "ERROR",
          testing: { mode: "on", allowedDomains: ["a.example (192.0.2.1)"], allowedIps: ["192.0.2.2"] },
          lastDeploymentAt: new Date("2024-05-06T07:08:09.123Z"),
        } as const
        const made = yield* ranges.create({ ...newRange("OLD"), past })
        expect(made).toMatchObject({ ...past, takenOver: true })
        expect(yield* ranges.find(made.id)).toEqual(made)
      }),
    )

    it(
      "keeps which machines are disguised",
      Effect.gen(function* () {
        const ranges = yield* Ranges
        const { id } = yield* ranges.create(newRange("DIS"))
        expect((yield* ranges.find(id))?.disguises).toBeUndefined()
        const disguise = { vendor: "HP", registeredOwner: "José", dropFiles: false, browserData: false, persist: true } as const
        yield* ranges.change(id, { disguises: { "DIS-ws": disguise } })
        expect((yield* ranges.find(id))?.disguises).toEqual({ "DIS-ws": disguise })
        yield* ranges.change(id, { name: "Other" })
        expect((yield* ranges.change(id, { disguises: {} })).disguises).toEqual({})
      }),
    )

    it(
      "refuses ids and numbers that are used, reserved or out of bounds, and owners that do not exist",
      Effect.gen(function* () {
        const ranges = yield* Ranges
        yield* ranges.create(newRange("A"))
        const refused = (over: Parameters<typeof newRange>[1], id = "B") => Effect.flip(ranges.create(newRange(id, over)))
        expect(yield* refused({}, "A")).toBeInstanceOf(RangeExists)
        for (const number of [0, -1, 154, 1.5, Number.NaN, 1]) expect(yield* refused({ number })).toBeInstanceOf(RangeExists)
        expect(yield* refused({ number: 7, reservedNumbers: [7] })).toBeInstanceOf(RangeExists)
        expect(yield* refused({ owners: [userId("nobody")] })).toBeInstanceOf(UserNotFound)
        expect(yield* refused({ createdBy: userId("nobody") })).toBeInstanceOf(UserNotFound)
        expect(yield* refused({ reservedNumbers: Array.from({ length: 153 }, (_, i) => i + 1) })).toMatchObject({
          _tag: "Exhausted",
        })
        expect((yield* ranges.list()).map((range) => range.id)).toEqual(["A"])
        expect(yield* ranges.config(rangeId("B"))).toBeUndefined()
      }),
    )

    it(
      "has one range of an ID, in any letter case and under concurrent requests",
      Effect.gen(function* () {
        const ranges = yield* Ranges
        const ids = ["Race/one", "race/one", "RACE/ONE", "rAce/oNe"]
        const wish = (id: string, i: number) => ({ ...newRange(id), recordId: newRange(`wish${i}`).recordId })
        const ends = yield* Effect.forEach(ids, (id, i) => Effect.result(ranges.create(wish(id, i))), {
          concurrency: "unbounded",
        })
        const failures = ends.flatMap((end) => (end._tag === "Failure" ? [end.failure] : []))
        expect(failures.map((fault) => fault._tag)).toEqual(["RangeExists", "RangeExists", "RangeExists"])
        expect(yield* ranges.list()).toHaveLength(1)
        // removing it frees its other letter cases, too
        const [first] = yield* ranges.list()
        if (first !== undefined) yield* ranges.remove(first.id)
        expect((yield* ranges.create(newRange("rACE/ONE"))).id).toBe("rACE/ONE")
      }),
    )

    it(
      "gives different numbers to ranges created concurrently",
      Effect.gen(function* () {
        const ranges = yield* Ranges
        const ids = Array.from({ length: 20 }, (_, i) => `R${i}`)
        const made = yield* Effect.forEach(ids, (id) => ranges.create(newRange(id)), { concurrency: "unbounded" })
        expect(made.map((range) => range.number).sort((a, b) => a - b)).toEqual(ids.map((_, i) => i + 1))
      }),
    )

    it(
      "changes only the named fields and the time of change",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        yield* TestClock.setTime(later(9).getTime())
        const testing = { mode: "leaving" as const, allowedDomains: ["example.test (1.2.3.4)"], allowedIps: ["1.2.3.4"] }
        const changed = yield* ranges.change(range.id, { testing, autoShutdown: "8h" })
        expect(changed).toEqual({ ...range, testing, autoShutdown: "8h", updatedAt: later(9) })
        expect(yield* ranges.find(range.id)).toEqual(changed)
        expect((yield* ranges.change(range.id, { autoShutdown: undefined })).autoShutdown).toBeUndefined()
        expect(yield* Effect.flip(ranges.change(rangeId("NO"), { name: "x" }))).toBeInstanceOf(RangeNotFound)
      }),
    )

    it(
      "keeps the time until which a range should stay on, and never an earlier one",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        yield* TestClock.setTime(later(9).getTime())
        const kept = { ...range, stayOnUntil: later(90), updatedAt: later(9) }
        expect(yield* ranges.stayOn(range.id, later(90))).toEqual(kept)
        yield* TestClock.setTime(later(10).getTime())
        expect(yield* ranges.stayOn(range.id, later(80))).toEqual(kept)
        expect(yield* ranges.find(range.id)).toEqual(kept)
        expect(yield* Effect.flip(ranges.stayOn(rangeId("NO"), later(90)))).toBeInstanceOf(RangeNotFound)
      }),
    )

    it(
      "keeps no time until which a range should stay on, and no activity, that was written before the clock was set back",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const users = yield* Users
        const day = 24 * 3600
        yield* ranges.stayOn(range.id, later(90 * day))
        yield* ranges.touch(new Map([[range.id, later(90 * day)]]))
        yield* users.touch(new Map([[userId("alice"), later(90 * day)]]))
        yield* ranges.stayOn(range.id, later(80 * day))
        yield* ranges.touch(new Map([[range.id, later(80 * day)]]))
        yield* users.touch(new Map([[userId("alice"), later(80 * day)]]))
        expect(yield* ranges.find(range.id)).toMatchObject({ stayOnUntil: later(80 * day), lastActiveAt: later(80 * day) })
        expect((yield* users.find(userId("alice")))?.lastActiveAt).toEqual(later(80 * day))
      }),
    )

    it(
      "returns a configuration exactly as it was uploaded",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        yield* TestClock.setTime(later(3).getTime())
        const texts = [...hostileTexts, "\uFEFFludus: []\r\n", "# ü\n".repeat(200_000)]
        for (const text of texts) {
          yield* ranges.setConfig(range.id, text)
          expect(yield* ranges.config(range.id)).toEqual({ text, updatedAt: later(3) })
        }
        expect(yield* Effect.flip(ranges.setConfig(rangeId("NO"), ""))).toBeInstanceOf(RangeNotFound)
        expect(yield* ranges.config(rangeId("NO"))).toBeUndefined()
      }),
    )

    it(
      "keeps the last inspection of a router, and records that testing mode is not on any more when its rules were changed",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const testing = { mode: "on", allowedDomains: ["a.example"], allowedIps: [] } as const
        yield* ranges.change(range.id, { testing })
        const [source, destination] = ["10.1.10.11", "198.18.0.2"]
        const look = {
          rules: "as-loaded",
          packets: 2 ** 40,
          isComplete: true,
          refused: [{ source, destination, protocol: 6, port: 443, packets: 2 ** 40 }],
          at: later(1),
        } as const
        expect(yield* ranges.inspection(range.id)).toBeUndefined()
        expect(yield* ranges.keepInspection(range.id, look)).toBe(false)
        expect(yield* ranges.inspection(range.id)).toEqual(look)
        const changed = { ...look, rules: "changed", at: later(2) } as const
        const before = yield* ranges.revision
        expect(yield* ranges.keepInspection(range.id, changed)).toBe(true)
        expect(yield* ranges.revision).toBeGreaterThan(before)
        expect((yield* ranges.find(range.id))?.testing).toEqual({ ...testing, mode: "entering" })
        expect(yield* ranges.keepInspection(range.id, changed)).toBe(false)
        yield* ranges.change(range.id, { testing: { ...testing, mode: "off" } })
        expect(yield* ranges.keepInspection(range.id, changed)).toBe(false)
        expect((yield* ranges.find(range.id))?.testing.mode).toBe("off")
        const names = [{ source: "10.1.10.11", name: "<name \0unprintable>", queries: 2 }]
        const since = { ...look, refusedNames: names, since: { rules: "changed", at: later(3).getTime() } } as const
        expect(yield* ranges.keepInspection(range.id, since)).toBe(false)
        expect(yield* ranges.inspection(range.id)).toEqual(since)
        expect(yield* ranges.keepInspection(rangeId("NO"), look)).toBe(false)
        yield* ranges.remove(range.id)
        expect(yield* ranges.inspection(range.id)).toBeUndefined()
      }),
    )

    it(
      "lists the grants by which users have ranges",
      Effect.gen(function* () {
        const { user, range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const bob = yield* (yield* Users).create(newUser("bob"))
        const other = yield* ranges.create(newRange("OTHER", { number: 9, owners: [bob.id] }))
        expect(yield* ranges.grant(range.id, bob.id)).toBe(true)
        expect(yield* ranges.grant(range.id, bob.id)).toBe(false)
        expect((yield* ranges.grants(range.id)).map((grant) => grant.userId)).toEqual(["alice", "bob"])
        expect((yield* ranges.grantsOf(bob.id)).map((grant) => [grant.rangeNumber, grant.rangeId, grant.name])).toEqual([
          [1, "LAB", "Name of bob"],
          [9, "OTHER", "Name of bob"],
        ])
        expect((yield* ranges.list({ for: bob.id })).map((r) => r.id)).toEqual(["LAB", "OTHER"])
        expect(yield* ranges.revoke(range.id, bob.id)).toBe(true)
        expect(yield* ranges.revoke(range.id, bob.id)).toBe(false)
        expect(yield* ranges.revoke(rangeId("NO"), bob.id)).toBe(false)
        expect(yield* ranges.list({ for: bob.id })).toEqual([other])
        expect(yield* ranges.list({ for: bob.id, rangeId: other.id })).toEqual([other])
        expect(yield* ranges.list({ for: bob.id, rangeId: range.id })).toEqual([])
        expect(yield* ranges.list({ for: user.id })).toEqual([range])
        expect(yield* Effect.flip(ranges.grant(rangeId("NO"), bob.id))).toBeInstanceOf(RangeNotFound)
        expect(yield* Effect.flip(ranges.grant(range.id, userId("nobody")))).toBeInstanceOf(UserNotFound)
      }),
    )

    it(
      "shows ranges with their machines, filtered by a user or a range",
      Effect.gen(function* () {
        const { user, range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const bare = yield* ranges.create(newRange("BARE"))
        const router = machine(103, { name: "LAB-router-debian11-x64", power: "stopped" })
        const seen = [machine(102), router, machine(104, { pool: undefined }), machine(105, { template: true })]
        yield* (yield* Machines).replace(cluster(startedAt, seen))
        const machines = [
          { ...machine(102), rangeId: "LAB", address: undefined, isRouter: false },
          { ...router, rangeId: "LAB", address: undefined, isRouter: true },
        ]
        expect(yield* ranges.overview({})).toEqual([
          { range, machines },
          { range: bare, machines: [] },
        ])
        expect(yield* ranges.overview({ for: user.id })).toEqual([{ range, machines }])
        expect(yield* ranges.overview({ rangeId: bare.id })).toEqual([{ range: bare, machines: [] }])
        expect(yield* ranges.overview({ for: user.id, rangeId: bare.id })).toEqual([])
        expect(yield* ranges.overview({ rangeId: rangeId(hostileText) })).toEqual([])
      }),
    )

    it(
      "raises the revision with every change that an overview can show, and with a new configuration",
      Effect.gen(function* () {
        const { user, range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const machines = yield* Machines
        const journal = yield* RunJournal
        const changes: readonly Effect.Effect<unknown, unknown>[] = [
          ranges.change(range.id, { name: "x" }),
          ranges.setConfig(range.id, "ludus: []\n# changed\n"),
          ranges.create(newRange("NEW")),
          ranges.revoke(range.id, user.id),
          ranges.grant(range.id, user.id),
          ranges.touch(new Map([[range.id, later(1)]])),
          ranges.stayOn(range.id, later(1)),
          machines.replace(cluster(startedAt, [machine(102), machine(103)])),
          machines.replace(cluster(startedAt, [machine(102, { power: "stopped" }), machine(103)])),
          machines.replace(cluster(startedAt, [machine(102, { power: "stopped" })])),
          machines.record({ ...machine(102), address: "10.1.0.2" }),
          machines.forget(vmid(102)),
          journal.open(deployRun("r"), "DEPLOYING"),
          journal.requestCancel(deployRun("r").id, 0, { type: "CancelRequested", by: user.id }, startedAt, "ABORTED"),
          journal.close(deployRun("r").id, 0, { type: "Ended", status: "success", message: "" }, "SUCCESS", startedAt),
          (yield* Users).remove(user.id),
          ranges.remove(range.id),
        ]
        let before = yield* ranges.revision
        for (const [i, change] of changes.entries()) {
          yield* change
          const after = yield* ranges.revision
          expect(after, `change ${i}`).toBeGreaterThan(before)
          before = after
        }
      }),
    )

    it(
      "removes a range with everything that belongs to it; its number and VMIDs are free again",
      Effect.gen(function* () {
        const { user, range } = yield* aliceWithLab
        const ranges = yield* Ranges
        const machines = yield* Machines
        const journal = yield* RunJournal
        yield* machines.replace(cluster(startedAt, [machine(102)]))
        yield* machines.reserve(range.id, ["dc"], new Set(), { from: 100, to: 100 })
        yield* machines.recordStage(range.id, vmid(102), "role:x", "f")
        yield* journal.open(deployRun("r"), "DEPLOYING")
        yield* journal.append(deployRun("r").id, 0, [{ type: "Waiting", reason: "" }], startedAt)
        yield* ranges.remove(range.id)
        yield* ranges.remove(range.id)
        expect(yield* ranges.find(range.id)).toBeUndefined()
        expect(yield* ranges.config(range.id)).toBeUndefined()
        expect(yield* ranges.grantsOf(user.id)).toEqual([])
        expect(yield* machines.find(vmid(102))).toBeUndefined()
        expect(yield* machines.stages(range.id)).toEqual(new Map())
        expect(yield* journal.find(deployRun("r").id)).toBeUndefined()
        expect(yield* journal.read(deployRun("r").id, 0)).toEqual([])
        expect((yield* ranges.create(newRange("NEXT"))).number).toBe(1)
        expect(yield* machines.reserve(rangeId("NEXT"), ["dc"], new Set(), { from: 100, to: 100 })).toEqual(
          new Map([["dc", 100]]),
        )
      }),
    )

    it(
      "records activity without counting it as a change",
      Effect.gen(function* () {
        const { range } = yield* aliceWithLab
        const ranges = yield* Ranges
        yield* ranges.touch(
          new Map([
            [range.id, later(20)],
            [rangeId("NO"), later(20)],
          ]),
        )
        yield* ranges.touch(new Map([[range.id, later(10)]]))
        expect(yield* ranges.find(range.id)).toEqual({ ...range, lastActiveAt: later(20) })
      }),
    )
  })
