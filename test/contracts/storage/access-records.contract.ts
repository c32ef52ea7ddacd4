import { type AccountId, type GroupName, type HeldAccess, nothingHeld, rootUserId } from "@rangewright/domain"
import { AccessRecords, Groups, Machines, Ranges, RunJournal, StaleVersion, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it, type SuiteCollector } from "vitest"
import {
  aliceWithLab,
  cluster,
  deployRun,
  machine,
  newGroup,
  newRange,
  newUser,
  rangeId,
  runId,
  userId,
  vmid,
} from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const alice = "alice@pve" as AccountId
const given: HeldAccess = {
  accounts: {
    [alice]: { admin: true, password: "v1" },
    ["Bob.x@pam" as AccountId]: {
      admin: false,
      password: null,
      keep: { groups: ["theirs"], rights: [{ path: "/vms/100", role: "PVEVMUser", propagate: false }] },
    },
  },
  ranges: { [rangeId("LAB")]: [alice], [rangeId("a/b")]: [] },
  vnets: [{ type: "vnet", zone: "ludus", name: "r1" }],
}
const nextPassword = { sealedPassword: "sealed anew" }

export const accessRecordsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: access records`, () => {
    const promise = promises(storage)

    promise(
      "lists every user but ROOT with their account, and every range with each of its users once, whatever the path",
      Effect.gen(function* () {
        const [records, users, ranges, groups] = [yield* AccessRecords, yield* Users, yield* Ranges, yield* Groups]
        expect(yield* records.stored).toEqual({ users: [], ranges: [] })
        yield* users.create(newUser(rootUserId))
        yield* users.create(newUser("zoe", { isAdmin: true, hypervisorUsername: "z.oe", hypervisorRealm: "pam" }))
        for (const id of ["bob", "Carl", "alice"]) yield* users.create(newUser(id))
        yield* ranges.create(newRange("LAB", { owners: [userId("bob"), userId("alice")] }))
        yield* ranges.create(newRange("OTHER"))
        for (const [name, member] of [
          ["red", "alice"],
          ["blue", "Carl"],
        ] as const) {
          yield* groups.create(newGroup(name))
          yield* groups.setRoles(name as GroupName, new Map([[userId(member), "manager"]] as const))
          yield* groups.addRange(name as GroupName, rangeId("LAB"))
        }
        yield* groups.setRoles("red" as GroupName, new Map([[userId("zoe"), "member"]] as const))
        yield* groups.create(newGroup("idle"))
        yield* groups.setRoles("idle" as GroupName, new Map([[userId("bob"), "manager"]] as const))
        expect(yield* records.stored).toEqual({
          users: [
            { id: "zoe", account: "z.oe@pam", isAdmin: true, passwordVersion: expect.any(String) },
            { id: "bob", account: "bob@pve", isAdmin: false, passwordVersion: expect.any(String) },
            { id: "Carl", account: "carl@pve", isAdmin: false, passwordVersion: expect.any(String) },
            { id: "alice", account: "alice@pve", isAdmin: false, passwordVersion: expect.any(String) },
          ],
          ranges: [
            { id: "LAB", number: 1, users: ["Carl", "alice", "bob", "zoe"], machines: [], leaving: false },
            { id: "OTHER", number: 2, users: [], machines: [], leaving: false },
          ],
        })
        const { users: everybody, ranges: every } = yield* records.stored
        expect(yield* records.withoutMachines).toEqual({ users: everybody, ranges: every })
        for (const range of every) expect(yield* records.storedOf(range.id)).toEqual({ users: everybody, ranges: [range] })
        expect(yield* records.storedOf(rangeId("GONE"))).toEqual({ users: everybody, ranges: [] })
        yield* groups.remove("red" as GroupName)
        yield* users.remove(userId("bob"))
        expect((yield* records.stored).ranges[0]?.users).toEqual(["Carl", "alice"])
      }),
    )

    promise(
      "lists the machines in a range's pool as last seen, including missing ones, without templates",
      Effect.gen(function* () {
        const [records, machines] = [yield* AccessRecords, yield* Machines]
        yield* aliceWithLab
        yield* (yield* Ranges).create(newRange("OTHER"))
        const seen = [machine(112), machine(109), machine(108, { template: true }), machine(107, { pool: "ELSEWHERE" })]
        const machinesOf = Effect.gen(function* () {
          const { ranges } = yield* records.stored
          for (const range of ranges) expect((yield* records.storedOf(range.id)).ranges).toEqual([range])
          const without = ranges.map((range) => ({ ...range, machines: [] }))
          expect((yield* records.withoutMachines).ranges).toEqual(without)
          return ranges.map((range) => range.machines)
        })
        yield* machines.replace(cluster(startedAt, [...seen, machine(106, { pool: undefined })]))
        expect(yield* machinesOf).toEqual([[109, 112], []])
        yield* machines.replace(cluster(later(1), [machine(112, { pool: "OTHER" })]))
        expect(yield* machinesOf).toEqual([[109], [112]])
        yield* machines.forget(vmid(109))
        expect(yield* machinesOf).toEqual([[], [112]])
      }),
    )

    promise(
      "shows a range as leaving while a run that removes it is unfinished, and for no other run",
      Effect.gen(function* () {
        const [records, journal] = [yield* AccessRecords, yield* RunJournal]
        yield* aliceWithLab
        yield* (yield* Ranges).create(newRange("OTHER"))
        const leaving = Effect.gen(function* () {
          const { ranges } = yield* records.stored
          for (const range of ranges) expect((yield* records.storedOf(range.id)).ranges).toEqual([range])
          return ranges.filter((range) => range.leaving).map(({ id }) => id)
        })
        yield* journal.open(deployRun("one"), undefined)
        expect(yield* leaving).toEqual([])
        yield* journal.requestCancel(runId("one"), 0, { type: "CancelRequested", by: userId("alice") }, startedAt)
        yield* journal.open(deployRun("two", { kind: "delete-range" }), undefined)
        expect(yield* leaving).toEqual(["LAB"])
        yield* journal.close(runId("two"), 0, { type: "Ended", status: "success", message: "" }, undefined, startedAt)
        expect(yield* leaving).toEqual([])
      }),
    )

    promise(
      "changes the version of a password with every new password and for another user, and only then",
      Effect.gen(function* () {
        const [records, users] = [yield* AccessRecords, yield* Users]
        const version = Effect.map(records.stored, (stored) => stored.users[0]?.passwordVersion)
        const seen = new Set<string | undefined>()
        const isNew = Effect.gen(function* () {
          const now = yield* version
          expect(now).toMatch(/./u)
          expect(seen).not.toContain(now)
          seen.add(now)
        })
        const { id } = yield* users.create(newUser("alice"))
        yield* isNew
        const before = yield* version
        yield* users.setSecrets(id, { apiKeyHash: "another", tokenKey: "another" })
        yield* users.change(id, { name: "Another" })
        yield* users.setSecrets(id, nextPassword, { whileApiKeyHash: "not this one" })
        expect(yield* version).toBe(before)
        yield* users.setSecrets(id, nextPassword)
        yield* isNew
        yield* users.setSecrets(id, nextPassword)
        yield* isNew
        yield* users.setSecrets(id, nextPassword, { whileApiKeyHash: "another" })
        yield* isNew
        yield* users.remove(id)
        yield* users.create(newUser("alice"))
        yield* isNew
      }),
    )

    promise(
      "keeps what is held as it was last written, by a writer that had read the latest version",
      Effect.gen(function* () {
        const records = yield* AccessRecords
        const refused = (version: number) => Effect.flip(records.hold(nothingHeld, version))
        expect(yield* records.held).toEqual({ held: nothingHeld, version: 0 })
        expect(yield* refused(1)).toBeInstanceOf(StaleVersion)
        yield* records.hold(given, 0)
        expect(yield* records.held).toEqual({ held: given, version: 1 })
        expect(yield* refused(0)).toBeInstanceOf(StaleVersion)
        expect(yield* refused(2)).toBeInstanceOf(StaleVersion)
        expect((yield* records.held).held).toEqual(given)
        const all = yield* Effect.all(
          [1, 1, 1].map((version) => Effect.result(records.hold(nothingHeld, version))),
          { concurrency: "unbounded" },
        )
        expect(all.map(({ _tag }) => _tag).sort()).toEqual(["Failure", "Failure", "Success"])
        expect(yield* records.held).toEqual({ held: nothingHeld, version: 2 })
      }),
    )

    promise(
      "removes what a router was told with its range, and keeps nothing for a range that does not exist",
      Effect.gen(function* () {
        const [records, ranges] = [yield* AccessRecords, yield* Ranges]
        const { range } = yield* aliceWithLab
        yield* ranges.create(newRange("OTHER"))
        expect(yield* records.told).toEqual(new Map())
        yield* records.tell(range.id, [2, 3])
        yield* records.tell(rangeId("OTHER"), [])
        yield* records.tell(rangeId("NONE"), [2])
        const both = new Map([
          [rangeId("LAB"), [2, 3]],
          [rangeId("OTHER"), []],
        ])
        expect(yield* records.told).toEqual(both)
        yield* records.tell(range.id, [3])
        expect((yield* records.told).get(range.id)).toEqual([3])
        yield* ranges.remove(range.id)
        expect([...(yield* records.told).keys()]).toEqual(["OTHER"])
        yield* ranges.create(newRange("LAB", { recordId: "another00000000" as never }))
        expect((yield* records.told).has(range.id)).toBe(false)
      }),
    )

    it("what is held and told survives a restart", async () => {
      const { layer, remove } = await storage.empty()
      try {
        const within = <A, E>(effect: Effect.Effect<A, E, AccessRecords | Ranges | Users>) =>
          Effect.runPromise(Effect.scoped(Effect.provide(effect, layer)))
        await within(
          Effect.gen(function* () {
            yield* aliceWithLab
            yield* (yield* AccessRecords).hold(given, 0)
            yield* (yield* AccessRecords).tell(rangeId("LAB"), [2])
          }),
        )
        expect(await within(AccessRecords.use((records) => records.held))).toEqual({ held: given, version: 1 })
        expect(await within(AccessRecords.use((records) => records.told))).toEqual(new Map([["LAB", [2]]]))
      } finally {
        await remove()
      }
    })
  })
