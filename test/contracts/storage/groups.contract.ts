import {
  type Group,
  GroupExists,
  type GroupName,
  GroupNotFound,
  LastManager,
  RangeNotFound,
  UserNotFound,
} from "@rangewright/domain"
import { Groups, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, hostileText, hostileTexts, newGroup, newRange, newUser, rangeId, userId } from "./samples.ts"
import { later, promises, type StorageUnderTest } from "./storage-under-test.ts"

const red = "red" as GroupName

/** Alice owns LAB; bob has OTHER; the group red has no users and no ranges. */
const twoUsersAndRed = Effect.gen(function* () {
  const { user: alice, range: lab } = yield* aliceWithLab
  const bob = yield* (yield* Users).create(newUser("bob"))
  const other = yield* (yield* Ranges).create(newRange("OTHER", { owners: [bob.id] }))
  const group = yield* (yield* Groups).create(newGroup(red))
  return { alice, bob, lab, other, group }
})

const rolesOf = (name: GroupName) =>
  Effect.gen(function* () {
    return (yield* (yield* Groups).members(name)).map(({ userId: id, role }) => [id, role])
  })

export const groupsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: groups`, () => {
    const it = promises(storage)

    it(
      "finds a created group by its name, and refuses a second one; names are case-sensitive",
      Effect.gen(function* () {
        const groups = yield* Groups
        const made = yield* groups.create(newGroup(red, { description: "Attackers" }))
        expect(made).toEqual(newGroup(red, { description: "Attackers" }))
        expect(yield* groups.find(red)).toEqual(made)
        expect(yield* Effect.flip(groups.create(newGroup(red)))).toBeInstanceOf(GroupExists)
        yield* groups.create(newGroup("RED"))
        expect(yield* groups.find("blue" as GroupName)).toBeUndefined()
        expect((yield* groups.list()).map((group) => group.name)).toEqual(["RED", "red"])
      }),
    )

    it(
      "creates one of several concurrent groups with one name",
      Effect.gen(function* () {
        const groups = yield* Groups
        const race = Array.from({ length: 8 }, () => Effect.result(groups.create(newGroup(red))))
        const results = yield* Effect.all(race, { concurrency: "unbounded" })
        expect(results.filter((result) => result._tag === "Success")).toHaveLength(1)
      }),
    )

    it(
      "counts the users and ranges of a group, and lists all groups or those of a user",
      Effect.gen(function* () {
        const { alice, bob, lab, group } = yield* twoUsersAndRed
        const groups = yield* Groups
        const blue = yield* groups.create(newGroup("blue"))
        yield* groups.setRoles(
          red,
          new Map([
            [alice.id, "manager"],
            [bob.id, "member"],
          ] as const),
        )
        yield* groups.addRange(red, lab.id)
        const full = { ...group, members: 1, managers: 1, ranges: 1 }
        expect(yield* groups.list()).toEqual([{ ...blue, members: 0, managers: 0, ranges: 0 }, full])
        expect(yield* groups.list({ for: bob.id })).toEqual([full])
        expect(yield* groups.list({ for: userId("nobody") })).toEqual([])
      }),
    )

    it(
      "keeps each user in one role, lists members before managers, and a user's groups newest first",
      Effect.gen(function* () {
        const { alice, bob } = yield* twoUsersAndRed
        const groups = yield* Groups
        const blue = yield* groups.create(newGroup("blue", { createdAt: later(5) }))
        yield* groups.setRoles(
          red,
          new Map([
            [alice.id, "manager"],
            [bob.id, "manager"],
          ] as const),
        )
        yield* groups.setRoles(red, new Map([[bob.id, "member"]] as const))
        expect(yield* groups.members(red)).toEqual([
          { userId: "bob", name: "Name of bob", role: "member" },
          { userId: "alice", name: "Name of alice", role: "manager" },
        ])
        yield* groups.setRoles(blue.name, new Map([[bob.id, "manager"]] as const))
        expect((yield* groups.memberships(bob.id)).map(({ group, role }) => [group.name, role])).toEqual([
          ["blue", "manager"],
          ["red", "member"],
        ])
        expect([yield* groups.roleOf(red, bob.id), yield* groups.roleOf(blue.name, alice.id)]).toEqual(["member", undefined])
        yield* groups.setRoles(
          red,
          new Map([
            [bob.id, undefined],
            [userId("nobody"), undefined],
          ] as const),
        )
        expect(yield* rolesOf(red)).toEqual([["alice", "manager"]])
      }),
    )

    it(
      "changes roles all together or not at all",
      Effect.gen(function* () {
        const { alice, bob } = yield* twoUsersAndRed
        const groups = yield* Groups
        yield* groups.setRoles(red, new Map([[alice.id, "member"]] as const))
        const wanted = new Map([
          [alice.id, undefined],
          [bob.id, "member"],
          [userId("nobody"), "member"],
        ] as const)
        expect(yield* Effect.flip(groups.setRoles(red, wanted))).toBeInstanceOf(UserNotFound)
        expect(yield* rolesOf(red)).toEqual([["alice", "member"]])
        expect(yield* Effect.flip(groups.setRoles("no" as GroupName, new Map([[bob.id, "member"]] as const)))).toBeInstanceOf(
          GroupNotFound,
        )
      }),
    )

    it(
      "skips users whose role has changed since, and removed users",
      Effect.gen(function* () {
        const { alice, bob } = yield* twoUsersAndRed
        const groups = yield* Groups
        const carol = userId("carol")
        yield* groups.setRoles(red, new Map([[alice.id, "manager"]] as const))
        const before = new Map([
          [alice.id, "member"],
          [bob.id, "member"],
          [carol, "member"],
        ] as const)
        const from = new Map([
          [alice.id, "manager"],
          [bob.id, "manager"],
          [carol, "manager"],
        ] as const)
        expect(yield* groups.setRoles(red, before, { from })).toEqual([alice.id])
        expect(yield* rolesOf(red)).toEqual([["alice", "member"]])
        yield* groups.setRoles(red, new Map([[bob.id, "member"]] as const), { from: new Map([[bob.id, undefined]]) })
        expect(yield* rolesOf(red)).toEqual([
          ["alice", "member"],
          ["bob", "member"],
        ])
      }),
    )

    it(
      "keeps the last manager on request; of two managers who remove each other concurrently one stays",
      Effect.gen(function* () {
        const { alice, bob } = yield* twoUsersAndRed
        const groups = yield* Groups
        const keep = { keepManager: true }
        yield* groups.setRoles(red, new Map([[bob.id, "member"]] as const), keep)
        yield* groups.setRoles(
          red,
          new Map([
            [alice.id, "manager"],
            [bob.id, "manager"],
          ] as const),
          keep,
        )
        const removals = [alice.id, bob.id].map((id) => Effect.result(groups.setRoles(red, new Map([[id, undefined]]), keep)))
        const results = yield* Effect.all(removals, { concurrency: "unbounded" })
        const refused = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
        expect(refused).toEqual([expect.any(LastManager)])
        const left = yield* groups.members(red)
        expect(left.map(({ role }) => role)).toEqual(["manager"])
        for (const { userId: id } of left) yield* groups.setRoles(red, new Map([[id, undefined]]))
        expect(yield* rolesOf(red)).toEqual([])
      }),
    )

    it(
      "adds and removes ranges once",
      Effect.gen(function* () {
        const { lab, other } = yield* twoUsersAndRed
        const groups = yield* Groups
        expect(yield* groups.addRange(red, other.id)).toBe(true)
        expect(yield* groups.addRange(red, lab.id)).toBe(true)
        expect(yield* groups.addRange(red, lab.id)).toBe(false)
        expect(yield* groups.ranges(red)).toEqual(["LAB", "OTHER"])
        expect(yield* groups.removeRange(red, lab.id)).toBe(true)
        expect(yield* groups.removeRange(red, lab.id)).toBe(false)
        expect(yield* groups.ranges(red)).toEqual(["OTHER"])
        expect(yield* Effect.flip(groups.addRange(red, rangeId("NO")))).toBeInstanceOf(RangeNotFound)
        expect(yield* Effect.flip(groups.addRange("no" as GroupName, lab.id))).toBeInstanceOf(GroupNotFound)
      }),
    )

    it(
      "lists every path by which users have ranges: direct, as a member, as a manager",
      Effect.gen(function* () {
        const { alice, bob, lab, other } = yield* twoUsersAndRed
        const groups = yield* Groups
        const ranges = yield* Ranges
        yield* groups.create(newGroup("blue"))
        const roles = new Map([
          [alice.id, "manager"],
          [bob.id, "member"],
        ] as const)
        for (const name of [red, "blue" as GroupName]) {
          yield* groups.setRoles(name, roles)
          yield* groups.addRange(name, lab.id)
        }
        expect((yield* ranges.grants(lab.id)).map((grant) => [grant.userId, grant.accessType])).toEqual([
          ["alice", "Direct"],
          ["alice", "Group Manager"],
          ["alice", "Group Manager"],
          ["bob", "Group Member"],
          ["bob", "Group Member"],
        ])
        expect((yield* ranges.grants(lab.id)).at(-1)).toEqual({
          userId: "bob",
          userNumber: bob.number,
          name: bob.name,
          rangeId: "LAB",
          accessType: "Group Member",
        })
        expect((yield* ranges.grantsOf(bob.id)).map((grant) => [grant.rangeNumber, grant.accessType])).toEqual([
          [lab.number, "Group Member"],
          [lab.number, "Group Member"],
          [other.number, "Direct"],
        ])
      }),
    )

    it(
      "shows users the ranges of their groups, each once",
      Effect.gen(function* () {
        const { alice, bob, lab, other } = yield* twoUsersAndRed
        const groups = yield* Groups
        const ranges = yield* Ranges
        const seen = Effect.gen(function* () {
          const listed = (yield* ranges.list({ for: bob.id })).map((range) => range.id)
          expect((yield* ranges.overview({ for: bob.id })).map(({ range }) => range.id)).toEqual(listed)
          const one = yield* ranges.list({ for: bob.id, rangeId: lab.id })
          expect(one.length > 0).toBe(listed.includes(lab.id))
          return listed
        })
        yield* groups.setRoles(red, new Map([[bob.id, "member"]] as const))
        expect(yield* seen).toEqual([other.id])
        yield* groups.addRange(red, lab.id)
        yield* groups.addRange(red, other.id)
        expect(yield* seen).toEqual([lab.id, other.id])
        expect((yield* ranges.list({ for: alice.id })).map((range) => range.id)).toEqual([lab.id])
        expect(yield* ranges.grant(lab.id, bob.id)).toBe(true)
        expect(yield* ranges.revoke(lab.id, bob.id)).toBe(true)
        expect(yield* seen).toEqual([lab.id, other.id])
        yield* groups.setRoles(red, new Map([[bob.id, undefined]]))
        expect(yield* seen).toEqual([other.id])
      }),
    )

    it(
      "raises the revision with every change of the ranges that users have through groups",
      Effect.gen(function* () {
        const { alice, bob, lab } = yield* twoUsersAndRed
        const groups = yield* Groups
        const ranges = yield* Ranges
        const changes: readonly Effect.Effect<unknown, unknown>[] = [
          // even for a group that has no ranges
          groups.setRoles(red, new Map([[alice.id, "member"]] as const)),
          groups.setRoles(red, new Map([[alice.id, undefined]])),
          groups.addRange(red, lab.id),
          groups.setRoles(red, new Map([[bob.id, "member"]] as const)),
          groups.setRoles(red, new Map([[bob.id, "manager"]] as const)),
          groups.setRoles(red, new Map([[bob.id, undefined]])),
          groups.removeRange(red, lab.id),
          Effect.andThen(groups.addRange(red, lab.id), groups.setRoles(red, new Map([[alice.id, "member"]] as const))),
          groups.remove(red),
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
      "forgets removed users and ranges; after a group is removed only its users and ranges remain",
      Effect.gen(function* () {
        const { alice, bob, lab, other } = yield* twoUsersAndRed
        const groups = yield* Groups
        const ranges = yield* Ranges
        const users = yield* Users
        yield* groups.setRoles(
          red,
          new Map([
            [alice.id, "manager"],
            [bob.id, "member"],
          ] as const),
        )
        yield* groups.addRange(red, lab.id)
        yield* groups.addRange(red, other.id)
        yield* ranges.remove(other.id)
        expect(yield* groups.ranges(red)).toEqual([lab.id])
        yield* users.remove(alice.id)
        expect(yield* rolesOf(red)).toEqual([["bob", "member"]])
        yield* users.create(newUser("alice"))
        expect(yield* groups.memberships(alice.id)).toEqual([])
        yield* groups.remove(red)
        yield* groups.remove(red)
        expect(yield* groups.find(red)).toBeUndefined()
        expect(yield* ranges.grants(lab.id)).toEqual([])
        yield* groups.create(newGroup(red))
        expect([yield* groups.members(red), yield* groups.ranges(red)]).toEqual([[], []])
      }),
    )

    it(
      "has at most one notice, which is removed with it and raises the revision, and lists those of a user's groups",
      Effect.gen(function* () {
        const { bob } = yield* twoUsersAndRed
        const groups = yield* Groups
        const ranges = yield* Ranges
        const blue = "blue" as GroupName
        yield* groups.create(newGroup(blue))
        yield* groups.setRoles(red, new Map([[bob.id, "member"]]))
        const notice = { group: red, text: hostileText, by: bob.id, at: later(1), until: later(2) }
        const before = yield* ranges.revision
        yield* groups.setNotice(notice)
        expect(yield* ranges.revision).toBeGreaterThan(before)
        expect(yield* groups.notices()).toEqual([notice])
        const newer = { ...notice, text: "newer", until: later(3) }
        yield* groups.setNotice(newer)
        yield* groups.setNotice({ ...newer, group: blue })
        expect((yield* groups.notices()).map(({ group }) => group)).toEqual([blue, red])
        expect(yield* groups.notices({ for: bob.id })).toEqual([newer])
        expect(yield* Effect.flip(groups.setNotice({ ...newer, group: "none" as GroupName }))).toBeInstanceOf(GroupNotFound)
        const told = yield* ranges.revision
        yield* groups.removeNotice(red)
        expect(yield* ranges.revision).toBeGreaterThan(told)
        yield* groups.removeNotice(red)
        yield* groups.remove(blue)
        expect(yield* groups.notices()).toEqual([])
      }),
    )

    it(
      "keeps any description unchanged and finds nothing by impossible names",
      Effect.gen(function* () {
        const groups = yield* Groups
        for (const [i, description] of hostileTexts.entries()) {
          const made: Group = yield* groups.create(newGroup(`g${i}`, { description }))
          expect((yield* groups.find(made.name))?.description).toBe(description)
        }
        const hostile = hostileText as GroupName
        expect(yield* groups.find(hostile)).toBeUndefined()
        expect([yield* groups.members(hostile), yield* groups.ranges(hostile)]).toEqual([[], []])
        yield* groups.remove("g0' or '1'='1" as GroupName)
        expect(yield* groups.list()).toHaveLength(hostileTexts.length)
      }),
    )
  })
