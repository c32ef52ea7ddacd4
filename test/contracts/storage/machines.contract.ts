import { type Activation, Exhausted } from "@rangewright/domain"
import { Machines, type RangeMachine, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, cluster, hostileText, machine, newRange, rangeId, vmid } from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const lab = rangeId("LAB")
const span = { from: 100, to: 199 }
const nothingTaken: ReadonlySet<number> = new Set()

export const machinesContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: machines`, () => {
    const it = promises(storage)

    it(
      "knows nothing before the first observation",
      Effect.gen(function* () {
        const machines = yield* Machines
        expect(yield* machines.cluster).toBeUndefined()
        expect(yield* machines.freshness).toEqual({ observedAt: undefined, awaySince: undefined, awayReason: undefined })
        expect(yield* machines.ofRange(lab)).toEqual([])
        expect(yield* machines.find(vmid(102))).toBeUndefined()
      }),
    )

    it(
      "replaces its knowledge with a whole observation",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const odd = machine(109, {
          name: hostileText,
          pool: hostileText,
          tags: [hostileText, ""],
          memoryMiB: 0,
          cpus: 0.5,
          template: true,
        })
        const first = cluster(startedAt, [machine(102), machine(103), odd, machine(108, { template: true })])
        yield* machines.replace({ ...first, machines: first.machines.toReversed() })
        const { machines: _, ...shown } = first
        expect(yield* machines.cluster).toEqual({ ...shown, machineCount: 4 })
        expect(yield* machines.templates).toEqual([machine(108, { template: true }), odd])
        const second = cluster(later(5), [machine(103, { power: "paused", node: "node2" }), machine(104, { pool: "ELSEWHERE" })])
        yield* machines.replace(second)
        expect(yield* machines.cluster).toMatchObject({ at: later(5), machineCount: 2 })
        expect(yield* machines.templates).toEqual([])
        expect((yield* machines.ofRange(lab)).map((m) => [m.vmid, m.power, m.node])).toEqual([
          [102, "running", "node1"],
          [103, "paused", "node2"],
        ])
        expect(yield* machines.find(vmid(103))).toMatchObject({ rangeId: "LAB", address: undefined, isRouter: false })
        expect(yield* machines.find(vmid(104))).toBeUndefined()
        expect((yield* machines.freshness).observedAt).toEqual(later(5))
      }),
    )

    it(
      "assigns a machine to a range that is created after the machine was seen",
      Effect.gen(function* () {
        const machines = yield* Machines
        yield* machines.replace(cluster(startedAt, [machine(102)]))
        expect(yield* machines.find(vmid(102))).toBeUndefined()
        yield* aliceWithLab
        expect(yield* machines.find(vmid(102))).toMatchObject({ rangeId: "LAB" })
      }),
    )

    it(
      "shows its own changes at once, and keeps names and addresses that are not reported again",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.record({ ...machine(102), address: "10.1.10.2" })
        expect(yield* machines.find(vmid(102))).toEqual({
          ...machine(102),
          rangeId: "LAB",
          address: "10.1.10.2",
          isRouter: false,
        })
        yield* machines.record(machine(102, { name: undefined, power: "stopped" }))
        expect(yield* machines.find(vmid(102))).toMatchObject({ name: "vm-102", power: "stopped", address: "10.1.10.2" })
        yield* machines.replace(cluster(later(1), [machine(102, { name: undefined })]))
        expect(yield* machines.find(vmid(102))).toMatchObject({ name: "vm-102", power: "running", address: "10.1.10.2" })
        yield* machines.forget(vmid(102))
        yield* machines.forget(vmid(102))
        expect(yield* machines.find(vmid(102))).toBeUndefined()
        yield* machines.record(machine(102, { name: undefined }))
        expect(yield* machines.find(vmid(102))).toMatchObject({ name: undefined, address: undefined })
      }),
    )

    it(
      "keeps the passwords of machines' logins until the machine is removed, even if an observation lacks it",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.record(machine(102))
        yield* machines.record(machine(103))
        yield* machines.keepLogin(lab, vmid(102), { pending: "sealed-1" })
        expect(yield* machines.logins(lab)).toEqual(new Map([[vmid(102), { pending: "sealed-1" }]]))
        yield* machines.keepLogin(lab, vmid(102), { current: "sealed-1" })
        yield* machines.keepLogin(lab, vmid(103), { current: "sealed-2", pending: "sealed-3" })
        yield* machines.replace(cluster(later(1), []))
        expect(yield* machines.logins(lab)).toEqual(
          new Map([
            [vmid(102), { current: "sealed-1" }],
            [vmid(103), { current: "sealed-2", pending: "sealed-3" }],
          ]),
        )
        yield* machines.keepLogin(lab, vmid(103), {})
        yield* machines.forget(vmid(102))
        expect((yield* machines.logins(lab)).size).toBe(0)
      }),
    )

    it(
      "keeps the Windows licence status through observations until it is revoked or the machine is removed",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const licence = (of: RangeMachine | undefined) => of?.activation
        yield* machines.record(machine(102))
        const activated: Activation = { state: "activated", at: later(1), until: later(2) }
        const forEver: Activation = { state: "activated", at: later(1), until: undefined }
        const failed: Activation = { state: "not-activated", at: later(3), because: "the KMS host did not answer" }
        expect(licence(yield* machines.find(vmid(102)))).toBeUndefined()
        const before = yield* (yield* Ranges).revision
        yield* machines.keepActivation(lab, vmid(102), activated)
        expect(licence(yield* machines.find(vmid(102)))).toEqual(activated)
        expect(yield* (yield* Ranges).revision).toBeGreaterThan(before)
        for (const one of [forEver, failed]) {
          yield* machines.keepActivation(lab, vmid(102), one)
          expect(licence(yield* machines.find(vmid(102)))).toEqual(one)
        }
        yield* machines.record({ ...machine(102), power: "stopped" })
        yield* machines.replace(cluster(later(1), [{ ...machine(102), cpus: 7 }]))
        expect((yield* machines.ofRange(lab)).map(licence)).toEqual([failed])
        // nothing for another range, or for a missing machine
        yield* machines.keepActivation(rangeId("OTHER"), vmid(102), activated)
        yield* machines.keepActivation(lab, vmid(999), activated)
        expect((yield* machines.ofRange(lab)).map(licence)).toEqual([failed])
        yield* machines.keepActivation(lab, vmid(102), undefined)
        expect(licence(yield* machines.find(vmid(102)))).toBeUndefined()
        yield* machines.keepActivation(lab, vmid(102), activated)
        yield* machines.forget(vmid(102))
        yield* machines.record(machine(102))
        expect(licence(yield* machines.find(vmid(102)))).toBeUndefined()
      }),
    )

    it(
      "keeps the operating systems that guests report until the machine is removed, even if an observation lacks it",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.record(machine(102))
        yield* machines.keepSystem(lab, vmid(102), { id: "debian", name: "Debian GNU/Linux", versionId: "12" })
        yield* machines.keepSystem(lab, vmid(103), { id: "windows" })
        yield* machines.keepSystem(lab, vmid(102), { id: "kali" })
        yield* machines.keepSystem(lab, vmid(102), { id: "kali" })
        yield* machines.replace(cluster(later(1), []))
        expect(yield* machines.systems(lab)).toEqual(
          new Map([
            [vmid(102), { id: "kali" }],
            [vmid(103), { id: "windows" }],
          ]),
        )
        yield* machines.forget(vmid(102))
        yield* machines.forget(vmid(103))
        expect((yield* machines.systems(lab)).size).toBe(0)
      }),
    )

    it(
      "keeps the owed settings of a rolled-back machine until they are applied or the machine is removed",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const nic = { index: 0, model: "virtio", mac: "02:00:00:00:00:01", bridge: "vmbr1", tag: undefined, firewall: false }
        const settings = {
          cpus: 2,
          memoryMiB: 2048,
          balloonMiB: undefined,
          nics: [nic, { ...nic, index: 1, tag: 10 }],
          description: hostileText,
          tags: ["one"],
          tablet: true,
        }
        yield* machines.owe(lab, vmid(102), { settings: { ...settings, cpus: 9 }, generation: undefined })
        yield* machines.owe(lab, vmid(102), { settings, generation: "g1" })
        yield* machines.owe(lab, vmid(103), { settings, generation: undefined })
        yield* machines.owe(lab, vmid(104), { settings, generation: "g2" })
        yield* machines.owe(rangeId("GONE"), vmid(105), { settings, generation: "g3" })
        yield* machines.owe(lab, vmid(104), undefined)
        const owed = yield* machines.owed(lab)
        expect([...owed.keys()].toSorted((a, b) => a - b)).toEqual([102, 103])
        expect(owed.get(vmid(102))).toEqual({ settings, generation: "g1" })
        expect(owed.get(vmid(103))?.generation).toBeUndefined()
        yield* machines.forget(vmid(102))
        yield* machines.forget(vmid(103))
        expect((yield* machines.owed(lab)).size).toBe(0)
      }),
    )

    it(
      "keeps the snapshots of machines as read until the machine is removed, even if an observation lacks it",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.record(machine(102))
        const first = { name: "first", description: hostileText, takenAt: 1_800_000_000, memory: true, incomplete: false }
        const second = { ...first, name: "second", description: "", parent: "first", memory: false, incomplete: true }
        yield* machines.keepSnapshots(lab, vmid(102), { readAt: startedAt, snapshots: [], current: undefined })
        const kept = { readAt: later(3), snapshots: [first, second], current: "second" }
        yield* machines.keepSnapshots(lab, vmid(102), kept)
        // an earlier reading comes too late
        yield* machines.keepSnapshots(lab, vmid(102), { ...kept, readAt: later(2), snapshots: [] })
        yield* machines.keepSnapshots(lab, vmid(103), { readAt: later(4), snapshots: [], current: undefined })
        yield* machines.keepSnapshots(rangeId("GONE"), vmid(104), kept)
        yield* machines.replace(cluster(later(5), []))
        expect(yield* machines.snapshots(lab)).toEqual(
          new Map<number, unknown>([
            [vmid(102), kept],
            [vmid(103), { readAt: later(4), snapshots: [], current: undefined }],
          ]),
        )
        expect((yield* machines.snapshots(rangeId("GONE"))).size).toBe(0)
        yield* machines.forget(vmid(102))
        yield* machines.forget(vmid(103))
        expect((yield* machines.snapshots(lab)).size).toBe(0)
      }),
    )

    it(
      "keeps the newest reading of a machine's snapshots, even when several are written at once",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const readings = [4, 1, 9, 3, 8, 2, 7, 5, 6]
        const vmids = [101, 102, 103, 104, 105, 106].map(vmid)
        const writes = vmids.flatMap((id) =>
          readings.map((at) => machines.keepSnapshots(lab, id, { readAt: later(at), snapshots: [], current: undefined })),
        )
        yield* Effect.all(writes, { concurrency: "unbounded", discard: true })
        const kept = yield* machines.snapshots(lab)
        expect(vmids.map((id) => kept.get(id)?.readAt)).toEqual(vmids.map(() => later(9)))
      }),
    )

    it(
      "resets the stages inside a machine to those at a snapshot, and to none if they are unknown",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.record(machine(102))
        const early = { name: "clean", takenAt: 1000 }
        const again = { name: "clean", takenAt: 2000 }
        const stages = Effect.map(machines.stages(lab), (all) =>
          Object.fromEntries(all.get(vmid(102)) ?? new Map<string, string>()),
        )
        yield* machines.recordStage(lab, vmid(102), "address", "a1")
        yield* machines.recordStage(lab, vmid(103), "address", "other")
        yield* machines.keepStages(lab, vmid(102), early)
        yield* machines.recordStage(lab, vmid(102), "address", "a2")
        yield* machines.recordStage(lab, vmid(102), "role:web", "r1")
        yield* machines.recallStages(lab, vmid(102), early)
        expect(yield* stages).toEqual({ address: "a1" })
        yield* machines.recordStage(lab, vmid(102), "role:web", "r2")
        yield* machines.keepStages(lab, vmid(102), early)
        yield* machines.recallStages(lab, vmid(102), again)
        expect(yield* stages).toEqual({})
        yield* machines.recallStages(lab, vmid(102), early)
        expect(yield* stages).toEqual({ address: "a1", "role:web": "r2" })

        const one = { ...again, description: "", memory: false, incomplete: false }
        yield* machines.keepSnapshots(lab, vmid(102), { readAt: startedAt, snapshots: [one], current: "clean" })
        yield* machines.keepSnapshots(lab, vmid(102), { readAt: later(-700), snapshots: [one], current: "clean" })
        yield* machines.recallStages(lab, vmid(102), early)
        expect(yield* stages).toEqual({})
        expect((yield* machines.stages(lab)).get(vmid(103))).toEqual(new Map([["address", "other"]]))
      }),
    )

    it(
      "keeps foreign addresses that a guest reports until its next report",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const claims = Effect.map(machines.find(vmid(102)), (found) => found?.foreignAddresses)
        yield* machines.record(machine(102))
        expect(yield* claims).toBeUndefined()
        yield* machines.record({ ...machine(102), foreignAddresses: ["10.3.10.11"] })
        expect(yield* claims).toEqual(["10.3.10.11"])
        yield* machines.record({ ...machine(102), address: "10.1.10.2" })
        yield* machines.replace(cluster(later(1), [machine(102)]))
        expect(yield* claims).toEqual(["10.3.10.11"])
        expect((yield* machines.ofRange(lab))[0]?.foreignAddresses).toEqual(["10.3.10.11"])
        yield* machines.record({ ...machine(102), foreignAddresses: [] })
        expect(yield* claims).toBeUndefined()
      }),
    )

    it(
      "lets an observation undo changes that were recorded before the clock was set back an hour",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.replace(cluster(startedAt, [machine(102), machine(103)]))
        yield* TestClock.setTime(later(3600).getTime())
        yield* machines.record(machine(102, { power: "stopped" }))
        yield* machines.forget(vmid(103))
        yield* machines.replace(cluster(later(1), [machine(102, { power: "paused" }), machine(103)]))
        expect((yield* machines.ofRange(lab)).map((own) => [own.vmid, own.power])).toEqual([
          [102, "paused"],
          [103, machine(103).power],
        ])
      }),
    )

    it(
      "does not let an observation undo changes recorded after it began",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.replace(cluster(startedAt, [machine(102), machine(103)]))
        yield* TestClock.setTime(later(10).getTime())
        yield* machines.record(machine(102, { power: "stopped" }))
        yield* machines.record(machine(104))
        yield* machines.forget(vmid(103))
        yield* machines.replace(cluster(later(9), [machine(102), machine(103)]))
        expect((yield* machines.ofRange(lab)).map((m) => [m.vmid, m.power])).toEqual([
          [102, "stopped"],
          [104, "running"],
        ])
        yield* machines.replace(cluster(later(11), [machine(102), machine(103)]))
        expect((yield* machines.ofRange(lab)).map((m) => [m.vmid, m.power])).toEqual([
          [102, "running"],
          [103, "running"],
          [104, "running"],
        ])
        expect((yield* machines.missing).map(({ vmid: missing, since }) => [missing, since])).toEqual([[104, later(11)]])
      }),
    )

    it(
      "says since when and why the hypervisor is unreachable, until it is observed again",
      Effect.gen(function* () {
        const machines = yield* Machines
        yield* machines.replace(cluster(startedAt, []))
        yield* machines.away(later(10), "connection refused")
        yield* machines.away(later(20), hostileText)
        expect(yield* machines.freshness).toEqual({ observedAt: startedAt, awaySince: later(10), awayReason: hostileText })
        yield* machines.replace(cluster(later(30), []))
        expect(yield* machines.freshness).toEqual({ observedAt: later(30), awaySince: undefined, awayReason: undefined })
      }),
    )

    it(
      "reserves a VMID for each machine and keeps it",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const first = yield* machines.reserve(lab, ["dc", "ws", "dc"], new Set([100, 102]), span)
        expect(first).toEqual(
          new Map([
            ["dc", 101],
            ["ws", 103],
          ]),
        )
        expect(yield* machines.reserve(lab, ["kali", "dc"], new Set([101]), span)).toEqual(
          new Map([
            ["dc", 101],
            ["kali", 100],
          ]),
        )
        expect(yield* machines.reservations(lab)).toEqual(new Map([...first, ["kali", vmid(100)]]))
        expect(yield* machines.reserve(lab, [], nothingTaken, span)).toEqual(new Map())
      }),
    )

    it(
      "reserves for all or for none",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const two = { from: 100, to: 101 }
        expect(yield* Effect.flip(machines.reserve(lab, ["a", "b", "c"], nothingTaken, two))).toBeInstanceOf(Exhausted)
        expect(yield* machines.reservations(lab)).toEqual(new Map())
        expect((yield* machines.reserve(lab, ["a", "b"], nothingTaken, two)).size).toBe(2)
        expect(yield* Effect.flip(machines.replaceReservation(lab, "a", nothingTaken, two))).toBeInstanceOf(Exhausted)
        expect((yield* machines.reservations(lab)).get("a")).toBe(100)
      }),
    )

    it(
      "never gives one VMID to two machines, even when ranges reserve concurrently",
      Effect.gen(function* () {
        const machines = yield* Machines
        const ranges = yield* Ranges
        const ids = yield* Effect.forEach(["A", "B", "C", "D"], (id) => Effect.map(ranges.create(newRange(id)), (r) => r.id))
        const given = yield* Effect.forEach(ids, (id) => machines.reserve(id, ["dc", "ws", "r"], new Set([105]), span), {
          concurrency: "unbounded",
        })
        const all = given.flatMap((of) => [...of.values()])
        expect(new Set(all).size).toBe(12)
        expect(all).not.toContain(105)
      }),
    )

    it(
      "gives another VMID if the reserved one was taken, and takes reservations back",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.reserve(lab, ["dc", hostileText], nothingTaken, span)
        expect(yield* machines.replaceReservation(lab, "dc", new Set([100, 102]), span)).toBe(103)
        expect(yield* machines.reservations(lab)).toEqual(
          new Map([
            ["dc", 103],
            [hostileText, 101],
          ]),
        )
        yield* machines.release(lab, ["dc", "stranger"])
        expect(yield* machines.reservations(lab)).toEqual(new Map([[hostileText, 101]]))
        yield* machines.release(lab, [hostileText])
        expect(yield* machines.reserve(lab, ["new"], nothingTaken, span)).toEqual(new Map([["new", 100]]))
      }),
    )

    it(
      "reserves nothing for a range that does not exist",
      Effect.gen(function* () {
        const machines = yield* Machines
        expect(yield* Effect.flip(machines.reserve(lab, ["dc"], nothingTaken, span))).toMatchObject({ _tag: "RangeNotFound" })
        expect(yield* machines.reservations(lab)).toEqual(new Map())
      }),
    )

    it(
      "keeps nothing about machines of a removed range",
      Effect.gen(function* () {
        const machines = yield* Machines
        yield* machines.recordStage(lab, vmid(101), "stage:dc", "print")
        yield* machines.keepLogin(lab, vmid(101), { current: "sealed" })
        yield* machines.keepSystem(lab, vmid(101), { id: "debian", name: "Debian" } as never)
        expect([yield* machines.stages(lab), yield* machines.logins(lab), yield* machines.systems(lab)]).toEqual([
          new Map(),
          new Map(),
          new Map(),
        ])
      }),
    )

    it(
      "remembers successful stages inside a machine until the machine is removed",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.replace(cluster(startedAt, [machine(102), machine(103)]))
        yield* machines.recordStage(lab, vmid(102), "address", "f1")
        yield* machines.recordStage(lab, vmid(102), "role:x", "f2")
        yield* machines.recordStage(lab, vmid(102), "role:x", "f3")
        yield* machines.recordStage(lab, vmid(103), hostileText, "f4")
        const ofTwo = new Map([
          ["address", "f1"],
          ["role:x", "f3"],
        ])
        const ofThree = new Map([[hostileText, "f4"]])
        expect(yield* machines.stages(lab)).toEqual(
          new Map([
            [102, ofTwo],
            [103, ofThree],
          ]),
        )
        yield* machines.replace(cluster(later(1), [machine(102), machine(103)]))
        yield* machines.forget(vmid(102))
        expect(yield* machines.stages(lab)).toEqual(new Map([[103, ofThree]]))
        yield* machines.replace(cluster(later(2), []))
        expect(yield* machines.stages(lab)).toEqual(new Map([[103, ofThree]]))
        yield* machines.forget(vmid(103))
        expect(yield* machines.stages(lab)).toEqual(new Map())
      }),
    )

    it(
      "keeps machines of ranges, and those with stages, that an observation lacks, with the time since when",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        const outside = machine(104, { pool: undefined })
        yield* machines.replace(cluster(startedAt, [machine(102), machine(103), outside, machine(105, { pool: undefined })]))
        yield* machines.recordStage(lab, vmid(104), "role:x", "f1")
        yield* machines.reported(vmid(103), { address: "10.1.10.3", foreignAddresses: [] })
        expect(yield* machines.missing).toEqual([])
        yield* machines.replace(cluster(later(1), [machine(102)]))
        yield* machines.replace(cluster(later(2), [machine(102)]))
        expect(yield* machines.missing).toEqual([
          { ...machine(103), since: later(1) },
          { ...outside, since: later(1) },
        ])
        expect((yield* machines.cluster)?.machineCount).toBe(1)
        expect(yield* machines.find(vmid(103))).toMatchObject({ power: "running", address: "10.1.10.3", missingSince: later(1) })
        expect((yield* machines.find(vmid(102)))?.missingSince).toBeUndefined()
        yield* machines.replace(cluster(later(3), [machine(102), machine(103, { power: "stopped" })]))
        expect((yield* machines.missing).map((m) => m.vmid)).toEqual([104])
        expect((yield* machines.find(vmid(103)))?.missingSince).toBeUndefined()
        yield* machines.record(outside)
        expect(yield* machines.missing).toEqual([])
        yield* machines.forget(vmid(104))
        expect((yield* machines.stages(lab)).size).toBe(0)
      }),
    )

    it(
      "stores the addresses that a guest reports, even none, and changes nothing else",
      Effect.gen(function* () {
        yield* aliceWithLab
        const machines = yield* Machines
        yield* machines.replace(cluster(startedAt, [machine(102)]))
        yield* machines.reported(vmid(102), { address: "10.1.10.2", foreignAddresses: ["10.3.10.11"] })
        const { rangeId: _range, ...first } = (yield* machines.find(vmid(102)))!
        expect(first).toEqual({ ...machine(102), address: "10.1.10.2", foreignAddresses: ["10.3.10.11"], isRouter: false })
        yield* machines.replace(cluster(later(1), [machine(102, { power: "paused" })]))
        yield* machines.reported(vmid(102), { address: undefined, foreignAddresses: [] })
        const second = yield* machines.find(vmid(102))
        expect(second).toMatchObject({ address: undefined, power: "paused" })
        expect(second?.foreignAddresses).toBeUndefined()
        yield* machines.reported(vmid(109), { address: "10.1.10.9", foreignAddresses: [] })
        expect(yield* machines.find(vmid(109))).toBeUndefined()
      }),
    )

    it(
      "says since when and why lists are in doubt until that ends, whatever is observed meanwhile",
      Effect.gen(function* () {
        const machines = yield* Machines
        const doubt = Effect.map(machines.freshness, (freshness) => freshness.doubt)
        expect(yield* doubt).toBeUndefined()
        yield* machines.doubt(later(1), "no rights")
        yield* machines.doubt(later(2), hostileText)
        yield* machines.replace(cluster(later(3), []))
        expect(yield* doubt).toEqual({ since: later(1), reason: hostileText })
        yield* machines.doubt(later(4), undefined)
        expect(yield* doubt).toBeUndefined()
      }),
    )
  })
