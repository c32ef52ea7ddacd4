import { commitTo, makeMemoryArtifacts, memoryArtifactsLayer, type MemoryContent } from "@rangewright/adapter-memory"
import { pruneContent, retimeSources, syncDueSources } from "@rangewright/application"
import type { RecordId, Source, SourceId, User } from "@rangewright/domain"
import { Archives, ContentFetcher, RunJournal, Sources } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { beforeEach, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

const hour = 3_600_000
const urlOf = (name: string): string => `https://git.example/acme/${name}.git`
const files = { "templates/t/t.pkr.json": "{}" }

let app: TestApp
let ada: User
beforeEach(async () => {
  app = makeTestApp()
  ada = await app.addUser("Ada")
})

/** A source of Ada's that was never fetched, and has been due for a minute unless specified otherwise. */
const addSource = (name: string, due = new Date(Date.now() - 60_000), content: MemoryContent = app.artifacts.content) => {
  commitTo(content, urlOf(name), files)
  return app.run(
    Effect.flatMap(Sources, (sources) =>
      sources.create({
        recordId: name.padEnd(15, "0") as RecordId,
        id: name as SourceId,
        owner: ada.id,
        type: "git",
        url: urlOf(name),
        ref: "HEAD",
        path: "",
        name,
        access: undefined,
        schedule: "12h",
        nextSyncAt: due,
        createdAt: new Date(0),
      }),
    ),
  )
}
const found = async ({ id }: Source): Promise<Source> => {
  const source = await app.run(Effect.flatMap(Sources, (sources) => sources.find(id)))
  if (source === undefined) throw new Error(`no source ${id}`)
  return source
}
const runsOfSources = () =>
  app.run(Effect.flatMap(RunJournal, (journal) => journal.list({ kinds: ["source-fetch"], types: ["source"], limit: 100 })))

it("syncs a source whose time has come, and chooses its next time from now, up to a tenth later", async () => {
  const source = await addSource("one")
  const before = Date.now()
  await app.run(syncDueSources)
  const synced = await found(source)
  expect(synced).toMatchObject({ lastSyncStatus: "ok", snapshot: expect.any(String) })
  const next = Number(synced.nextSyncAt)
  expect(next).toBeGreaterThanOrEqual(before + 12 * hour)
  expect(next).toBeLessThanOrEqual(Date.now() + 13.2 * hour)
  expect(await runsOfSources()).toMatchObject([{ status: "success", by: "Ada" }])
})

it("leaves alone what is not due, and what is never synced by itself", async () => {
  const later = await addSource("later", new Date(Date.now() + hour))
  const never = await addSource("never")
  await app.run(
    Effect.flatMap(Sources, (sources) => sources.change(never.recordId, { schedule: undefined, nextSyncAt: undefined })),
  )
  await app.run(syncDueSources)
  expect(await found(later)).toEqual(later)
  expect((await found(never)).snapshot).toBeUndefined()
  expect(await runsOfSources()).toEqual([])
})

it("waits no longer than the interval after the clock was set back, and syncs nothing at once", async () => {
  const back = await addSource("back", new Date(Date.now() + 40 * hour))
  const later = await addSource("later", new Date(Date.now() + 13 * hour))
  const before = Date.now()
  await app.run(Effect.andThen(retimeSources, syncDueSources))
  const next = Number((await found(back)).nextSyncAt)
  expect(next).toBeGreaterThanOrEqual(before + 12 * hour)
  expect(next).toBeLessThanOrEqual(Date.now() + 13.2 * hour)
  expect(await found(later)).toEqual(later)
  expect(await runsOfSources()).toEqual([])
})

it("syncs once, however long it was due, as after the clock was set forward", async () => {
  const source = await addSource("one", new Date(Date.now() - 1000 * hour))
  await app.run(syncDueSources)
  await app.run(Effect.andThen(retimeSources, syncDueSources))
  expect(await runsOfSources()).toHaveLength(1)
  expect(Number((await found(source)).nextSyncAt)).toBeGreaterThan(Date.now())
})

it("records a failure and continues with the others; the failed one gets its next turn like any other", async () => {
  const broken = await addSource("broken")
  const fine = await addSource("fine")
  app.artifacts.content.repositories.delete(urlOf("broken"))
  await app.run(syncDueSources)
  expect(await found(broken)).toMatchObject({
    lastSyncStatus: "error",
    lastSyncError: expect.stringContaining("no such repository"),
  })
  expect(Number((await found(broken)).nextSyncAt)).toBeGreaterThan(Date.now())
  expect(await found(fine)).toMatchObject({ lastSyncStatus: "ok" })
})

it("syncs once what several processes see as due", async () => {
  await addSource("one")
  await app.run(Effect.all([syncDueSources, syncDueSources, syncDueSources], { concurrency: "unbounded", discard: true }))
  expect(await runsOfSources()).toHaveLength(1)
})

it("syncs at most four at once", async () => {
  const artifacts = makeMemoryArtifacts()
  let [now, most, ended] = [0, 0, 0]
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** Waits until four are running, or no more are to come, and all others that can have begun too. */
  const others = async () => {
    while (now < 4 && ended + now < 9) await turn()
    for (let n = 0; n < 20; n++) await turn()
  }
  const content = await Effect.runPromise(
    Effect.gen(function* () {
      const fetcher = yield* ContentFetcher
      const counted = ContentFetcher.of({
        ...fetcher,
        fetch: (request) =>
          Effect.acquireUseRelease(
            Effect.sync(() => (most = Math.max(most, ++now))),
            () => Effect.andThen(Effect.promise(others), fetcher.fetch(request)),
            () =>
              Effect.sync(() => {
                now--
                ended++
              }),
          ),
      })
      return Context.make(ContentFetcher, counted).pipe(Context.add(Archives, yield* Archives))
    }).pipe(Effect.provide(memoryArtifactsLayer(artifacts))),
  )
  app = makeTestApp({ content })
  ada = await app.addUser("Ada")
  const sources = await Promise.all(Array.from({ length: 9 }, (_, n) => addSource(`s${n}`, undefined, artifacts.content)))
  await app.run(syncDueSources)
  expect(most).toBe(4)
  for (const source of sources) expect((await found(source)).lastSyncStatus).toBe("ok")
})

it("removes content that nobody needs, and no other", async () => {
  const source = await addSource("one")
  await app.run(syncDueSources)
  const kept = (await found(source)).snapshot
  commitTo(app.artifacts.content, urlOf("one"), { "templates/u/u.pkr.json": "{}" })
  await app.call("syncSource", ada, { path: { sourceID: "one" } })
  expect(app.artifacts.content.snapshots.size).toBe(2)
  await app.run(pruneContent)
  expect([...app.artifacts.content.snapshots.keys()]).toEqual([(await found(source)).snapshot])
  expect((await found(source)).snapshot).not.toBe(kept)
})
