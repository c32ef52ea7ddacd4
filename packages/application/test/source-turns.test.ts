import { commitTo, makeMemoryArtifacts, memoryArtifactsLayer } from "@rangewright/adapter-memory"
import { CallerGone } from "@rangewright/application"
import type { User } from "@rangewright/domain"
import { Archives, ContentFetcher } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

const files = { "templates/t/t.pkr.json": "{}" }
const urlOf = (name: string): string => `https://git.example/acme/${name}.git`

let app: TestApp
let ada: User
let bea: User
/** The number of fetches in progress, and what releases those that hang. */
let fetching = 0
let release: () => void
/** Whether fetches hang from now on, whatever the URL. */
let stands = false
/** Called before a snapshot is pinned. */
let onPin: () => Promise<void> = () => Promise.resolve()
let pins: () => readonly string[]
beforeEach(async () => {
  const artifacts = makeMemoryArtifacts()
  const released = Deferred.makeUnsafe<void>()
  release = () => Deferred.doneUnsafe(released, Effect.void)
  fetching = 0
  stands = false
  onPin = () => Promise.resolve()
  pins = () => [...artifacts.content.pins.values()].flatMap((names) => [...names])
  /** Hangs if the URL says so, like a server that accepts connections and answers nothing. */
  const content = await Effect.runPromise(
    Effect.gen(function* () {
      const fetcher = yield* ContentFetcher
      const standing = ContentFetcher.of({
        ...fetcher,
        pin: (id, holder) =>
          Effect.andThen(
            Effect.promise(() => (holder.startsWith("install:") ? onPin() : Promise.resolve())),
            fetcher.pin(id, holder),
          ),
        fetch: (request) => {
          const still = stands || (request.location.type === "git" && request.location.url.includes("still"))
          fetching += 1
          return still ? Effect.andThen(Deferred.await(released), fetcher.fetch(request)) : fetcher.fetch(request)
        },
      })
      return Context.make(ContentFetcher, standing).pipe(Context.add(Archives, yield* Archives))
    }).pipe(Effect.provide(memoryArtifactsLayer(artifacts))),
  )
  app = makeTestApp({ content })
  ;[ada, bea] = [await app.addUser("Ada"), await app.addUser("Bea")]
  for (const name of ["labs", ...Array.from({ length: 30 }, (_, n) => `still${n}`)])
    commitTo(artifacts.content, urlOf(name), files)
})

const register = (user: User, name: string) =>
  app.call("createSource", user, { body: { type: "git", url: urlOf(name), id: name } })

describe("fetches that hang", () => {
  it("occupy slots of their owner, and none of others", async () => {
    const standing = Array.from({ length: 30 }, (_, n) => register(ada, `still${n}`))
    while (fetching < 4) await new Promise((resolve) => setImmediate(resolve))
    expect(await register(bea, "labs")).toMatchObject({ sourceID: "labs" })
    expect(fetching).toBe(5)
    release()
    for (const registered of await Promise.all(standing)) expect(registered).toMatchObject({ sourceID: expect.any(String) })
  })

  it("block no request whose client has disconnected", async () => {
    const first = register(ada, "still0")
    while (fetching < 1) await new Promise((resolve) => setImmediate(resolve))
    const request = { path: { sourceID: "still0" } }
    for (const operation of ["syncSource", "installSource"]) {
      const gone = Deferred.makeUnsafe<void>()
      const call = app.run(
        Effect.flip(app.handle(operation, ada, request)).pipe(
          Effect.provideService(CallerGone, Deferred.await(gone)),
          Effect.orDie,
        ),
      )
      Deferred.doneUnsafe(gone, Effect.void)
      expect(await call).toMatchObject({ _tag: "SubjectBusy" })
    }
    expect(fetching).toBe(1)
    release()
    expect(await first).toMatchObject({ sourceID: "still0" })
  })

  it("leave a source that was corrected while its first fetch hung on the wrong URL", async () => {
    stands = true
    const first = app.fails("createSource", ada, { body: { type: "git", url: urlOf("wrong"), id: "corrected" } })
    while (fetching < 1) await new Promise((resolve) => setImmediate(resolve))
    const source = { path: { sourceID: "corrected" } }
    await app.call("updateSource", ada, { ...source, body: { url: urlOf("labs") } })
    release()
    await first
    expect(await app.call("syncSource", ada, source)).toBeDefined()
    expect(await app.call("getSource", ada, source)).toMatchObject({ sourceID: "corrected" })
  })

  it("pin no content for an installation whose client has disconnected", async () => {
    await register(ada, "labs")
    const request = { path: { sourceID: "labs" } }
    const gone = Deferred.makeUnsafe<void>()
    let sync: Promise<unknown> = Promise.resolve()
    onPin = async () => {
      const before = fetching
      stands = true
      sync = app.call("syncSource", ada, request)
      while (fetching === before) await new Promise((resolve) => setImmediate(resolve))
      Deferred.doneUnsafe(gone, Effect.void)
    }
    const install = Effect.flip(app.handle("installSource", ada, request)).pipe(
      Effect.provideService(CallerGone, Deferred.await(gone)),
      Effect.orDie,
    )
    expect(await app.run(install)).toMatchObject({ _tag: "SubjectBusy" })
    expect(pins().filter((holder) => holder.startsWith("install:"))).toEqual([])
    release()
    await sync
  })

  it("end when their source is deleted, which does not wait for them", async () => {
    const first = register(ada, "still0")
    while (fetching < 1) await new Promise((resolve) => setImmediate(resolve))
    const path = { sourceID: "still0" }
    const standing = Promise.allSettled([first, app.call("syncSource", ada, { path })])
    expect(await app.call("deleteSource", ada, { path })).toMatchObject({ status: "deleted" })
    expect(await app.call("listSources", ada)).toEqual([])
    const ended = { status: "rejected", reason: { message: expect.stringContaining("still0") } }
    expect(await standing).toMatchObject([ended, ended])
  })
})
