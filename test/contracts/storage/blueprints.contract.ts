import {
  BlueprintExists,
  type BlueprintId,
  BlueprintNotFound,
  type GroupName,
  GroupNotFound,
  neverInstalled,
  type SnapshotId,
  UserNotFound,
} from "@rangewright/domain"
import { Blueprints, Groups, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, type SuiteCollector } from "vitest"
import { hostileText, hostileTexts, newBlueprint, newGroup, newUser, userId } from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const web = "web/basic" as BlueprintId
const red = "red" as GroupName
const none = "none" as BlueprintId

/** Alice owns web/basic; bob and carol have nothing; bob is in the group red. */
const aliceWithWeb = Effect.gen(function* () {
  const users = yield* Users
  const alice = yield* users.create(newUser("alice"))
  const bob = yield* users.create(newUser("bob"))
  const carol = yield* users.create(newUser("carol"))
  const groups = yield* Groups
  yield* groups.create(newGroup(red))
  yield* groups.setRoles(red, new Map([[bob.id, "manager"]] as const))
  const blueprint = yield* (yield* Blueprints).create(newBlueprint(web))
  return { alice, bob, carol, blueprint }
})

const idsFor = (id: string) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const listed = (yield* blueprints.list({ for: userId(id) })).map((blueprint) => blueprint.id)
    expect(yield* blueprints.ids({ for: userId(id) })).toEqual(listed.toSorted())
    return listed
  })

export const blueprintsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: blueprints`, () => {
    const it = promises(storage)

    it(
      "finds a created blueprint by both of its ids, and its configuration; ids are case-sensitive",
      Effect.gen(function* () {
        const { blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const { config, requirements, ...said } = newBlueprint(web)
        const shown = { ...said, origin: undefined, installation: neverInstalled }
        expect(blueprint).toEqual({ ...shown, sharedUsers: [], sharedGroups: [], updatedAt: startedAt })
        expect(yield* blueprints.find(web)).toEqual(blueprint)
        expect(yield* blueprints.findByRecordId(blueprint.recordId)).toEqual(blueprint)
        expect(yield* blueprints.config(web)).toBe(config)
        expect(yield* blueprints.requirements(web)).toBe(requirements)
        expect(yield* blueprints.find("WEB/basic" as BlueprintId)).toBeUndefined()
        expect(yield* blueprints.config(none)).toBeUndefined()
      }),
    )

    it(
      "refuses a second blueprint with that id, and one without an existing owner",
      Effect.gen(function* () {
        const { blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const again = newBlueprint(web, { recordId: newBlueprint("other").recordId, name: "Another" })
        expect(yield* Effect.flip(blueprints.create(again))).toBeInstanceOf(BlueprintExists)
        expect(yield* Effect.flip(blueprints.create(newBlueprint("x", { owner: userId("nobody") })))).toBeInstanceOf(UserNotFound)
        expect(yield* blueprints.list()).toEqual([blueprint])
      }),
    )

    it(
      "creates one of several concurrent blueprints with one id",
      Effect.gen(function* () {
        yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const race = Array.from({ length: 8 }, (_, n) =>
          Effect.result(blueprints.create(newBlueprint("new", { recordId: newBlueprint(`n${n}`).recordId }))),
        )
        const results = yield* Effect.all(race, { concurrency: "unbounded" })
        expect(results.filter((result) => result._tag === "Success")).toHaveLength(1)
      }),
    )

    it(
      "changes the named fields and the time of change, and likewise the configuration",
      Effect.gen(function* () {
        const { blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        yield* TestClock.adjust("10 seconds")
        const changed = yield* blueprints.change(web, { name: "New", tags: ["a", "b"] })
        expect(changed).toEqual({ ...blueprint, name: "New", tags: ["a", "b"], updatedAt: later(10) })
        yield* TestClock.adjust("10 seconds")
        const rest = { description: "d", version: "not a version", minVersion: "2.0" }
        expect(yield* blueprints.change(web, rest)).toEqual({ ...changed, ...rest, updatedAt: later(20) })
        yield* TestClock.adjust("10 seconds")
        yield* blueprints.setConfig(web, "ludus:\n- x\r\n")
        expect(yield* blueprints.config(web)).toBe("ludus:\n- x\r\n")
        expect((yield* blueprints.find(web))?.updatedAt).toEqual(later(30))
      }),
    )

    it(
      "keeps the requirements and the place of its files; a new configuration changes neither, unless it brings requirements",
      Effect.gen(function* () {
        yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const bundle = { snapshot: `sha256-${"1".repeat(64)}` as SnapshotId, directory: "" }
        const full = newBlueprint("full", { requirements: "roles: [a]\r\n", bundle })
        expect((yield* blueprints.create(full)).bundle).toEqual(bundle)
        yield* blueprints.setConfig(full.id, "ludus:\n- x")
        expect(yield* blueprints.requirements(full.id)).toBe("roles: [a]\r\n")
        yield* blueprints.setConfig(full.id, "ludus:\n- y", "roles: [b]")
        expect(yield* blueprints.requirements(full.id)).toBe("roles: [b]")
        expect((yield* blueprints.find(full.id))?.bundle).toEqual(bundle)
        yield* blueprints.setConfig(web, "ludus: []", "")
        expect(yield* blueprints.requirements(web)).toBe("")
        expect(yield* blueprints.requirements(none)).toBeUndefined()
      }),
    )

    it(
      "lists the sizes of an owner's blueprints in bytes, and the places of their files",
      Effect.gen(function* () {
        const { alice, bob, blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const snapshot = `sha256-${"1".repeat(64)}` as SnapshotId
        const full = newBlueprint("full", {
          config: "# ä€𝒳\n",
          requirements: "roles: [é]",
          bundle: { snapshot, directory: "blueprints/full" },
          thumbnail: { name: "p_1.png", type: "image/png", bytes: new Uint8Array(1000) },
        })
        yield* blueprints.create(full)
        yield* blueprints.shareWithUser(web, bob.id)
        const size = { id: web, recordId: blueprint.recordId, bytes: "ludus: []\n".length, snapshot: undefined }
        const sizeOfFull = { id: full.id, recordId: full.recordId, bytes: 12 + 11 + 1000, snapshot }
        const inOrder = [size, sizeOfFull].sort((a, b) => (a.recordId < b.recordId ? -1 : 1))
        expect(yield* blueprints.sizes(alice.id)).toEqual(inOrder)
        expect(yield* blueprints.sizes(bob.id)).toEqual([])
        yield* blueprints.setConfig(web, "x".repeat(1_000_000))
        expect(yield* blueprints.sizes(alice.id)).toContainEqual({ ...size, bytes: 1_000_000 })
      }),
    )

    it(
      "remembers how the last installation of its requirements ended, without counting as changed",
      Effect.gen(function* () {
        const { blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        yield* TestClock.adjust("10 seconds")
        for (const status of ["partial", "ok", "error", ""] as const) {
          const installation = { status, error: hostileText, at: status === "" ? undefined : later(5) }
          yield* blueprints.setInstallation(web, installation)
          expect(yield* blueprints.find(web)).toEqual({ ...blueprint, installation })
        }
        yield* blueprints.setInstallation(none, neverInstalled)
        expect(yield* blueprints.list()).toHaveLength(1)
      }),
    )

    it(
      "keeps one thumbnail for a blueprint, byte by byte, and returns it to those who know its name",
      Effect.gen(function* () {
        const { blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => (n * 7) % 256)
        const first = { name: "first_x.png", type: "image/png", bytes } as const
        const second = { name: "second_y.gif", type: "image/gif", bytes: new Uint8Array([0]) } as const
        yield* TestClock.adjust("10 seconds")
        const changed = yield* blueprints.change(web, { thumbnail: first })
        expect(changed).toEqual({ ...blueprint, thumbnail: first.name, updatedAt: later(10) })
        expect(yield* blueprints.list()).toEqual([changed])
        expect(yield* blueprints.thumbnail(blueprint.recordId, first.name)).toEqual(first)
        expect((yield* blueprints.change(web, { name: "x" })).thumbnail).toBe(first.name)
        yield* blueprints.setConfig(web, "ludus: []")
        yield* blueprints.change(web, { thumbnail: second })
        expect(yield* blueprints.thumbnail(blueprint.recordId, first.name)).toBeUndefined()
        expect(yield* blueprints.thumbnail(blueprint.recordId, second.name)).toEqual(second)
        expect(yield* blueprints.thumbnail(blueprint.recordId, hostileText)).toBeUndefined()
        const copy = yield* blueprints.create(newBlueprint("copy", { thumbnail: second }))
        expect(copy.thumbnail).toBe(second.name)
        expect((yield* blueprints.change(web, { thumbnail: undefined })).thumbnail).toBeUndefined()
        expect(yield* blueprints.thumbnail(blueprint.recordId, second.name)).toBeUndefined()
        yield* blueprints.remove(copy.id)
        expect(yield* blueprints.thumbnail(copy.recordId, second.name)).toBeUndefined()
      }),
    )

    it(
      "refuses to change or share a missing blueprint, and shares with nobody unknown",
      Effect.gen(function* () {
        const { bob, blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        const gone = "gone" as GroupName
        for (const refused of [
          blueprints.change(none, { name: "x" }),
          blueprints.setConfig(none, ""),
          blueprints.shareWithUser(none, bob.id),
          blueprints.shareWithGroup(none, red),
        ])
          expect(yield* Effect.flip<unknown, unknown, never>(refused)).toBeInstanceOf(BlueprintNotFound)
        expect(yield* Effect.flip(blueprints.shareWithUser(web, userId("nobody")))).toBeInstanceOf(UserNotFound)
        expect(yield* Effect.flip(blueprints.shareWithGroup(web, gone))).toBeInstanceOf(GroupNotFound)
        expect(yield* blueprints.unshareWithUser(none, bob.id)).toBe(false)
        expect(yield* blueprints.unshareWithGroup(none, red)).toBe(false)
        yield* blueprints.remove(none)
        expect(yield* blueprints.list()).toEqual([blueprint])
      }),
    )

    it(
      "is shared with users and groups, once each, and unshared, without any other change",
      Effect.gen(function* () {
        const { bob, carol, blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        yield* TestClock.adjust("10 seconds")
        expect(yield* blueprints.shareWithUser(web, carol.id)).toBe(true)
        expect(yield* blueprints.shareWithUser(web, bob.id)).toBe(true)
        expect(yield* blueprints.shareWithUser(web, bob.id)).toBe(false)
        expect(yield* blueprints.shareWithGroup(web, red)).toBe(true)
        expect(yield* blueprints.shareWithGroup(web, red)).toBe(false)
        const shared = { ...blueprint, sharedUsers: [bob.id, carol.id], sharedGroups: [red] }
        expect(yield* blueprints.find(web)).toEqual(shared)
        expect(yield* blueprints.list()).toEqual([shared])
        expect(yield* blueprints.change(web, {})).toEqual({ ...shared, updatedAt: later(10) })
        expect(yield* blueprints.unshareWithUser(web, bob.id)).toBe(true)
        expect(yield* blueprints.unshareWithUser(web, bob.id)).toBe(false)
        expect(yield* blueprints.unshareWithGroup(web, red)).toBe(true)
        expect(yield* blueprints.unshareWithGroup(web, red)).toBe(false)
        expect(yield* blueprints.find(web)).toEqual({
          ...shared,
          sharedUsers: [carol.id],
          sharedGroups: [],
          updatedAt: later(10),
        })
      }),
    )

    it(
      "lists the last changed first, and for a user those of their own, shared with them or with one of their groups",
      Effect.gen(function* () {
        yield* aliceWithWeb
        const blueprints = yield* Blueprints
        yield* blueprints.create(newBlueprint("b", { owner: userId("bob"), createdAt: later(60) }))
        yield* blueprints.create(newBlueprint("a", { owner: userId("bob"), createdAt: later(60) }))
        expect((yield* blueprints.list()).map(({ id }) => id)).toEqual(["a", "b", web])
        expect(yield* idsFor("alice")).toEqual([web])
        expect(yield* idsFor("bob")).toEqual(["a", "b"])
        expect(yield* idsFor("carol")).toEqual([])
        yield* blueprints.shareWithUser(web, userId("carol"))
        yield* blueprints.shareWithGroup(web, red)
        yield* blueprints.shareWithUser(web, userId("bob"))
        expect(yield* idsFor("carol")).toEqual([web])
        expect(yield* idsFor("bob")).toEqual(["a", "b", web])
      }),
    )

    it(
      "stays when its owner is removed, and is no longer shared with a removed user or group",
      Effect.gen(function* () {
        const { alice, bob, blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        yield* blueprints.shareWithUser(web, bob.id)
        yield* blueprints.shareWithUser(web, alice.id)
        yield* blueprints.shareWithGroup(web, red)
        yield* (yield* Users).remove(alice.id)
        const left = { ...blueprint, owner: undefined, sharedUsers: [bob.id], sharedGroups: [red] }
        expect(yield* blueprints.find(web)).toEqual(left)
        yield* (yield* Groups).remove(red)
        yield* (yield* Users).remove(bob.id)
        expect(yield* blueprints.find(web)).toEqual({ ...left, sharedUsers: [], sharedGroups: [] })
        expect(yield* blueprints.config(web)).toBe("ludus: []\n")
      }),
    )

    it(
      "is removed with everything that belongs to it, and its id is free again",
      Effect.gen(function* () {
        const { bob, blueprint } = yield* aliceWithWeb
        const blueprints = yield* Blueprints
        yield* blueprints.shareWithUser(web, bob.id)
        yield* blueprints.shareWithGroup(web, red)
        yield* blueprints.remove(web)
        expect(yield* blueprints.list()).toEqual([])
        expect(yield* blueprints.create(newBlueprint(web))).toEqual(blueprint)
        expect(yield* blueprints.find(web)).toEqual(blueprint)
      }),
    )

    it(
      "keeps any text unchanged",
      Effect.gen(function* () {
        yield* aliceWithWeb
        const blueprints = yield* Blueprints
        for (const text of hostileTexts) {
          const said = { name: text, description: text, version: text, tags: [text, hostileText], minVersion: text }
          expect(yield* blueprints.change(web, said)).toMatchObject(said)
          yield* blueprints.setConfig(web, text, text)
          expect(yield* blueprints.config(web)).toBe(text)
          expect(yield* blueprints.requirements(web)).toBe(text)
        }
        expect(yield* blueprints.find(hostileText as BlueprintId)).toBeUndefined()
      }),
    )
  })
