import {
  type Blueprint,
  BlueprintExists,
  type BlueprintId,
  type GroupName,
  neverInstalled,
  type RecordId,
  type SnapshotId,
  UserNotFound,
} from "@rangewright/domain"
import { type BlueprintFromSource, Blueprints, Groups, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, type SuiteCollector } from "vitest"
import { newBlueprint, newGroup, newUser, userId } from "./samples.ts"
import { later, promises, type StorageUnderTest } from "./storage-under-test.ts"

const labs = "recordoflabs000" as RecordId
const other = "recordofother00" as RecordId
const red = "red" as GroupName
const bundle = (directory: string) => ({ snapshot: `sha256-${"1".repeat(64)}` as SnapshotId, directory })

const shipped = (id: string, over: Partial<BlueprintFromSource> = {}): BlueprintFromSource => ({
  ...newBlueprint(`labs/${id}`),
  origin: { source: labs, sourceBlueprintID: id },
  bundle: bundle(`blueprints/${id}`),
  requirements: "roles: []",
  ...over,
})

const people = Effect.gen(function* () {
  const users = yield* Users
  yield* users.create(newUser("alice"))
  yield* users.create(newUser("bob"))
})

const idsOf = (blueprints: readonly Blueprint[]): readonly string[] => blueprints.map(({ id }) => id)

export const sourceBlueprintsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: blueprints of sources`, () => {
    const it = promises(storage)

    it(
      "creates new ones in the given order, and finds them like any other",
      Effect.gen(function* () {
        yield* people
        const blueprints = yield* Blueprints
        const deep = shipped("a/b/c", { thumbnail: { name: "x.png", type: "image/png", bytes: new Uint8Array([7]) } })
        const [first, second] = yield* blueprints.putFromSource([shipped("web"), deep])
        expect(first).toMatchObject({ id: "labs/web", owner: "alice", origin: { source: labs, sourceBlueprintID: "web" } })
        expect(second).toMatchObject({ id: "labs/a/b/c", bundle: bundle("blueprints/a/b/c"), thumbnail: "x.png" })
        expect(second).toMatchObject({ installation: neverInstalled, sharedUsers: [], sharedGroups: [] })
        expect(yield* blueprints.find("labs/a/b/c" as BlueprintId)).toEqual(second)
        expect(yield* blueprints.findByRecordId(deep.recordId)).toEqual(second)
        expect(yield* blueprints.requirements(deep.id)).toBe("roles: []")
        expect((yield* blueprints.thumbnail(deep.recordId, "x.png"))?.bytes).toEqual(new Uint8Array([7]))
        expect(yield* blueprints.putFromSource([])).toEqual([])
      }),
    )

    it(
      "updates an existing one by its origin; id, record, owner, shares, time of creation and installation stay",
      Effect.gen(function* () {
        yield* people
        const blueprints = yield* Blueprints
        yield* (yield* Groups).create(newGroup(red))
        const picture = { name: "x.png", type: "image/png", bytes: new Uint8Array([7]) } as const
        const [made] = yield* blueprints.putFromSource([shipped("web", { thumbnail: picture })])
        yield* blueprints.shareWithUser(shipped("web").id, userId("bob"))
        yield* blueprints.shareWithGroup(shipped("web").id, red)
        const installation = { status: "error", error: "role x: gone", at: later(3) } as const
        yield* blueprints.setInstallation(shipped("web").id, installation)
        yield* TestClock.adjust("10 seconds")
        const said = { name: "New", description: "d", version: "2.0.0", tags: ["t"], minVersion: "2.1" }
        const newer = { ...said, bundle: { snapshot: `sha256-${"2".repeat(64)}` as SnapshotId, directory: "blueprints/web" } }
        const renewed = yield* blueprints.putFromSource([
          shipped("web", {
            ...newer,
            id: "another/id" as BlueprintId,
            recordId: newBlueprint("another").recordId,
            owner: userId("bob"),
            config: "ludus: [x]",
            requirements: undefined,
            createdAt: later(10),
          }),
        ])
        const kept = { sharedUsers: ["bob"], sharedGroups: [red], installation }
        expect(renewed).toEqual([{ ...made, ...newer, ...kept, thumbnail: undefined, updatedAt: later(10) }])
        expect(yield* blueprints.list()).toEqual(renewed)
        expect(yield* blueprints.config(shipped("web").id)).toBe("ludus: [x]")
        expect(yield* blueprints.requirements(shipped("web").id)).toBeUndefined()
        expect(yield* blueprints.thumbnail(shipped("web").recordId, picture.name)).toBeUndefined()
      }),
    )

    it(
      "creates none if the id belongs to another blueprint, or the owner does not exist",
      Effect.gen(function* () {
        yield* people
        const blueprints = yield* Blueprints
        yield* blueprints.create(newBlueprint("labs/taken"))
        yield* blueprints.putFromSource([shipped("web")])
        const taken = blueprints.putFromSource([shipped("web", { name: "New" }), shipped("fresh"), shipped("taken")])
        expect(yield* Effect.flip(taken)).toEqual(new BlueprintExists({ blueprint: "labs/taken" }))
        const nobodys = blueprints.putFromSource([shipped("fresh"), shipped("x", { owner: userId("nobody") })])
        expect(yield* Effect.flip(nobodys)).toBeInstanceOf(UserNotFound)
        expect([...idsOf(yield* blueprints.list())].sort()).toEqual(["labs/taken", "labs/web"])
        expect((yield* blueprints.find(shipped("web").id))?.name).toBe(shipped("web").name)
      }),
    )

    it(
      "updates one whose owner was removed, and leaves it without an owner",
      Effect.gen(function* () {
        yield* people
        const blueprints = yield* Blueprints
        yield* blueprints.putFromSource([shipped("web")])
        yield* (yield* Users).remove(userId("alice"))
        const [renewed] = yield* blueprints.putFromSource([shipped("web", { name: "New" })])
        expect(renewed).toMatchObject({ name: "New", owner: undefined })
      }),
    )

    it(
      "lists those of one source, also for one user",
      Effect.gen(function* () {
        yield* people
        const blueprints = yield* Blueprints
        yield* blueprints.create(newBlueprint("own"))
        yield* blueprints.putFromSource([
          shipped("a"),
          shipped("b", { owner: userId("bob") }),
          { ...shipped("c"), id: "other/c" as BlueprintId, origin: { source: other, sourceBlueprintID: "a" } },
        ])
        expect(idsOf(yield* blueprints.list({ ofSource: labs }))).toEqual(["labs/a", "labs/b"])
        expect(idsOf(yield* blueprints.list({ ofSource: labs, for: userId("bob") }))).toEqual(["labs/b"])
        expect(idsOf(yield* blueprints.list({ ofSource: other }))).toEqual(["other/c"])
        expect(yield* blueprints.list({ ofSource: "unknown00000000" as RecordId })).toEqual([])
      }),
    )

    it(
      "removes the named ones of a source, or all of them, and names them; other blueprints stay",
      Effect.gen(function* () {
        yield* people
        const blueprints = yield* Blueprints
        yield* blueprints.create(newBlueprint("own"))
        yield* blueprints.putFromSource(["a", "b", "c"].map((id) => shipped(id)))
        yield* blueprints.shareWithUser(shipped("b").id, userId("bob"))
        expect(yield* blueprints.removeOfSource(labs, [])).toEqual([])
        expect(yield* blueprints.removeOfSource(other, "all")).toEqual([])
        expect(yield* blueprints.removeOfSource(labs, ["b", "unknown"])).toEqual([
          { id: "labs/b", recordId: shipped("b").recordId },
        ])
        expect((yield* blueprints.removeOfSource(labs, "all")).map(({ id }) => id)).toEqual(["labs/a", "labs/c"])
        expect(idsOf(yield* blueprints.list())).toEqual(["own"])
        expect((yield* blueprints.putFromSource([shipped("b")]))[0]?.sharedUsers).toEqual([])
      }),
    )
  })
