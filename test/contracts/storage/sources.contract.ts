import {
  type RecordId,
  type SnapshotId,
  SourceExists,
  type SourceId,
  SourceMoved,
  SourceNotFound,
  UserNotFound,
} from "@rangewright/domain"
import { type LibraryScope, type SourceClaim, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { hostileText, hostileTexts, newSource, newUser, userId } from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const everybody: LibraryScope = { type: "global" }
const forUser = (id: string): LibraryScope => ({ type: "user", userId: userId(id) })
const snapshot = (letter: string): SnapshotId => letter.repeat(40) as SnapshotId
const nobody = "nobodynobody000" as RecordId
const claimOf = (name: string, over: Partial<SourceClaim> = {}): SourceClaim => ({
  kind: "template",
  name,
  version: "",
  scope: forUser("alice"),
  ...over,
})

/** Alice owns the source labs; bob has none. */
const aliceWithLabs = Effect.gen(function* () {
  const users = yield* Users
  const alice = yield* users.create(newUser("alice"))
  const bob = yield* users.create(newUser("bob"))
  const source = yield* (yield* Sources).create(newSource("labs"))
  return { alice, bob, source }
})

export const sourcesContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: sources`, () => {
    const it = promises(storage)

    it(
      "finds a created source by both of its ids, without content and credentials; ids are case-sensitive",
      Effect.gen(function* () {
        yield* aliceWithLabs
        const sources = yield* Sources
        const { access, ...shown } = newSource("Private", {
          type: "folder",
          url: "",
          ref: "",
          path: "/srv/labs",
          access: hostileText,
          schedule: "12h",
          nextSyncAt: later(60),
        })
        const created = yield* sources.create({ ...shown, access })
        expect(created).toEqual({
          ...shown,
          description: "",
          homepage: "",
          license: "",
          authors: [],
          snapshot: undefined,
          lastSyncedAt: undefined,
          lastSyncStatus: "",
          lastSyncError: "",
        })
        expect(yield* sources.find(created.id)).toEqual(created)
        expect(yield* sources.findByRecordId(created.recordId)).toEqual(created)
        expect(yield* sources.access(created.recordId)).toBe(hostileText)
        expect(yield* sources.find("PRIVATE" as SourceId)).toBeUndefined()
        expect(yield* sources.findByRecordId(nobody)).toBeUndefined()
        expect(yield* sources.access(nobody)).toBeUndefined()
        for (const read of [yield* sources.find(created.id), ...(yield* sources.list())])
          expect(JSON.stringify(read)).not.toContain("access")
      }),
    )

    it(
      "refuses a second source with that id, and one without an existing owner",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        const again = newSource("labs", { recordId: newSource("other").recordId, owner: userId("bob") })
        expect(yield* Effect.flip(sources.create(again))).toBeInstanceOf(SourceExists)
        expect(yield* Effect.flip(sources.create(newSource("x", { owner: userId("nobody") })))).toBeInstanceOf(UserNotFound)
        expect(yield* sources.list()).toEqual([source])
      }),
    )

    it(
      "creates one of several concurrent sources with one id",
      Effect.gen(function* () {
        yield* aliceWithLabs
        const sources = yield* Sources
        const race = Array.from({ length: 8 }, (_, n) =>
          Effect.result(sources.create(newSource("new", { recordId: newSource(`n${n}`).recordId }))),
        )
        const results = yield* Effect.all(race, { concurrency: "unbounded" })
        expect(results.filter((result) => result._tag === "Success")).toHaveLength(1)
      }),
    )

    it(
      "lists the newest first, then by id; of one owner if requested",
      Effect.gen(function* () {
        yield* aliceWithLabs
        const sources = yield* Sources
        yield* sources.create(newSource("b", { createdAt: later(5) }))
        yield* sources.create(newSource("a", { createdAt: later(5), owner: userId("bob") }))
        yield* sources.create(newSource("Z", { createdAt: later(5) }))
        const ids = (of: readonly { readonly id: string }[]) => of.map(({ id }) => id)
        expect(ids(yield* sources.list())).toEqual(["Z", "a", "b", "labs"])
        expect(ids(yield* sources.list({ owner: userId("bob") }))).toEqual(["a"])
        expect(ids(yield* sources.list({ owner: userId("nobody") }))).toEqual([])
      }),
    )

    it(
      "changes the named fields; a new location has no content yet, a new ref keeps it",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        const landed = yield* sources.commitSync(source, { snapshot: snapshot("a"), syncedAt: later(1) })
        expect(yield* sources.change(source.recordId, {})).toEqual(landed)
        const scheduled = yield* sources.change(source.recordId, { ref: "next", schedule: "1h", nextSyncAt: later(3600) })
        expect(scheduled).toEqual({ ...landed, ref: "next", schedule: "1h", nextSyncAt: later(3600) })
        expect(yield* sources.change(source.recordId, { url: source.url })).toEqual(scheduled)
        const moved = yield* sources.change(source.recordId, {
          url: "https://git.example/other.git",
          schedule: undefined,
          nextSyncAt: undefined,
        })
        expect(moved).toEqual({
          ...scheduled,
          url: "https://git.example/other.git",
          snapshot: undefined,
          schedule: undefined,
          nextSyncAt: undefined,
        })
        expect(yield* sources.find(source.id)).toEqual(moved)
      }),
    )

    it(
      "keeps the credentials of a source until others are given, or none",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        yield* sources.change(source.recordId, { access: "sealed" })
        yield* sources.change(source.recordId, { ref: "x" })
        expect(yield* sources.access(source.recordId)).toBe("sealed")
        yield* sources.change(source.recordId, { access: undefined })
        expect(yield* sources.access(source.recordId)).toBeUndefined()
      }),
    )

    it(
      "stores content with everything that comes with it; fields that a manifest omits stay as they were",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        const first = yield* sources.commitSync(source, {
          snapshot: snapshot("a"),
          syncedAt: later(10),
          manifest: { name: "Labs", description: hostileText, homepage: "h", license: "MIT", authors: ["A", hostileText] },
        })
        expect(first).toEqual({
          ...source,
          snapshot: snapshot("a"),
          lastSyncedAt: later(10),
          name: "Labs",
          description: hostileText,
          homepage: "h",
          license: "MIT",
          authors: ["A", hostileText],
        })
        const second = yield* sources.commitSync(source, {
          snapshot: snapshot("b"),
          manifest: { name: "New", description: "", authors: [] },
          outcome: { status: "partial", error: "role x: no" },
        })
        expect(second).toEqual({
          ...first,
          snapshot: snapshot("b"),
          name: "New",
          lastSyncStatus: "partial",
          lastSyncError: "role x: no",
        })
        yield* sources.setOutcome(source.recordId, { status: "ok", error: "" })
        yield* sources.setOutcome(nobody, { status: "ok", error: "" })
        expect(yield* sources.find(source.id)).toEqual({ ...second, lastSyncStatus: "ok", lastSyncError: "" })
      }),
    )

    it(
      "refuses content that was fetched from a former location of the source",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        for (const change of [{ ref: "other" }, { url: "https://git.example/other.git" }]) {
          const before = yield* sources.change(source.recordId, change)
          expect(yield* Effect.flip(sources.commitSync(source, { snapshot: snapshot("a") }))).toBeInstanceOf(SourceMoved)
          expect(yield* sources.find(source.id)).toEqual(before)
        }
      }),
    )

    it(
      "removes a source without content only while it comes from where it was tried",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        yield* sources.change(source.recordId, { url: "https://corrected.example/labs.git" })
        expect(yield* sources.removeUnfetched(source)).toBe(false)
        const corrected = yield* sources.change(source.recordId, {})
        yield* sources.commitSync(corrected, { snapshot: snapshot("a") })
        expect(yield* sources.removeUnfetched(corrected)).toBe(false)
        expect(yield* sources.list()).toMatchObject([{ recordId: source.recordId }])
        const elsewhere = yield* sources.change(source.recordId, { url: source.url })
        expect(yield* sources.removeUnfetched(elsewhere)).toBe(true)
        expect(yield* sources.removeUnfetched(elsewhere)).toBe(false)
        expect(yield* sources.list()).toEqual([])
      }),
    )

    it(
      "distinguishes a source that was recreated under an old id",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        yield* sources.remove(source.recordId)
        yield* sources.remove(source.recordId)
        const anew = yield* sources.create(newSource("labs", { recordId: newSource("anew").recordId }))
        expect(yield* Effect.flip(sources.commitSync(source, { snapshot: snapshot("a") }))).toBeInstanceOf(SourceNotFound)
        expect(yield* Effect.flip(sources.change(source.recordId, { ref: "x" }))).toBeInstanceOf(SourceNotFound)
        expect(yield* Effect.flip(sources.claim(source.recordId, [claimOf("t")]))).toBeInstanceOf(SourceNotFound)
        expect(yield* sources.list()).toEqual([anew])
      }),
    )

    it(
      "lists the sources that are due, the longest due first, and lets one of several processes take a turn",
      Effect.gen(function* () {
        yield* aliceWithLabs
        const sources = yield* Sources
        yield* sources.create(newSource("b", { schedule: "1m", nextSyncAt: later(10) }))
        const a = yield* sources.create(newSource("a", { schedule: "1m", nextSyncAt: later(5) }))
        const due = (seconds: number) => Effect.map(sources.due(later(seconds)), (found) => found.map(({ id }) => id))
        expect(yield* due(4)).toEqual([])
        expect(yield* due(5)).toEqual(["a"])
        expect(yield* due(10)).toEqual(["a", "b"])
        const turns = Array.from({ length: 4 }, () => sources.postpone(a.recordId, later(5), later(65)))
        const taken = yield* Effect.all(turns, { concurrency: "unbounded" })
        expect(taken.filter(Boolean)).toHaveLength(1)
        expect(yield* due(10)).toEqual(["b"])
        expect((yield* sources.find(a.id))?.nextSyncAt).toEqual(later(65))
        expect(yield* sources.postpone(nobody, later(5), later(65))).toBe(false)
        expect((yield* sources.find("labs" as SourceId))?.nextSyncAt).toBeUndefined()
      }),
    )

    it(
      "remembers what was installed from a source, once for each kind, name and scope, in order",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        const role = claimOf("acme.web", { kind: "local-role", version: "1.0.0" })
        yield* sources.claim(source.recordId, [
          claimOf("z"),
          role,
          claimOf("b"),
          { ...role, scope: everybody },
          { ...role, scope: forUser("bob") },
          claimOf("Z"),
        ])
        yield* sources.claim(source.recordId, [{ ...role, version: "2.0.0" }])
        yield* sources.claim(source.recordId, [])
        expect(yield* sources.claims(source.recordId)).toEqual([
          { ...role, scope: everybody },
          { ...role, version: "2.0.0" },
          { ...role, scope: forUser("bob") },
          claimOf("Z"),
          claimOf("b"),
          claimOf("z"),
        ])
        expect(yield* sources.claims(nobody)).toEqual([])
        const { recordId, id } = source
        expect(yield* sources.allClaims).toEqual(
          (yield* sources.claims(recordId)).map((claim) => ({ ...claim, source: { recordId, id } })),
        )
      }),
    )

    it(
      "omits claims of missing users and impossible names, and keeps hostile ones unchanged",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        const names = [...new Set(hostileTexts)]
        yield* sources.claim(source.recordId, [
          ...names.map((name) => claimOf(name, { version: hostileText })),
          claimOf("x", { scope: forUser("nobody") }),
          claimOf("x".repeat(501)),
        ])
        const kept = yield* sources.claims(source.recordId)
        expect(new Set(kept.map(({ name }) => name))).toEqual(new Set(names))
        expect(kept.every(({ version }) => version === hostileText)).toBe(true)
        yield* sources.release(["template"], hostileText, forUser("alice"))
        expect(yield* sources.claims(source.recordId)).toHaveLength(names.length - 1)
      }),
    )

    it(
      "releases removed items in all sources, but only in their own scope",
      Effect.gen(function* () {
        const { source } = yield* aliceWithLabs
        const sources = yield* Sources
        const other = yield* sources.create(newSource("other", { owner: userId("bob") }))
        const role = claimOf("acme.web", { kind: "galaxy-role" })
        const [global, bobs] = [
          { ...role, scope: everybody },
          { ...role, scope: forUser("bob") },
        ]
        yield* sources.claim(source.recordId, [role, global, { ...role, kind: "local-role" }, claimOf("acme.web")])
        yield* sources.claim(other.recordId, [role, bobs])
        yield* sources.release([], "acme.web", forUser("alice"))
        yield* sources.release(["local-role", "galaxy-role"], "acme.web", forUser("alice"))
        expect(yield* sources.claims(source.recordId)).toEqual([global, claimOf("acme.web")])
        expect(yield* sources.claims(other.recordId)).toEqual([bobs])
      }),
    )

    it(
      "removes a user's sources with the user, and what was installed for the user",
      Effect.gen(function* () {
        const { alice, bob, source } = yield* aliceWithLabs
        const sources = yield* Sources
        const bobs = yield* sources.create(newSource("bobs", { owner: bob.id }))
        yield* sources.claim(bobs.recordId, [claimOf("hers"), claimOf("his", { scope: forUser("bob") })])
        yield* (yield* Users).remove(alice.id)
        expect(yield* sources.list()).toEqual([bobs])
        expect(yield* sources.claims(source.recordId)).toEqual([])
        expect((yield* sources.claims(bobs.recordId)).map(({ name }) => name)).toEqual(["his"])
        expect(bobs.createdAt).toEqual(startedAt)
      }),
    )
  })
