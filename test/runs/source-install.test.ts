import { commitTo, type MemoryFiles } from "@rangewright/adapter-memory"
import { sourceInstall, sourceUninstall } from "@rangewright/application"
import { RunEngine, type WorkRequest } from "@rangewright/run-engine"
import { type RecordId, type RunHead, type SourceId } from "@rangewright/domain"
import { ArtifactLibrary, Blueprints, ContentFetcher, Sources, Users } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { ada, boot, makeSite, newAda, type Process, type Site } from "./support/site.ts"

const recordId = "source000000001" as RecordId
const url = "https://git.example/acme/labs.git"
const shipped = (version: string): MemoryFiles => ({
  "blueprints/web/blueprint.yml": `id: web\nname: Web\nversion: ${version}\nconfig: range-config.yml\n`,
  "blueprints/web/range-config.yml": "ludus: [{vm_name: a, template: debian, roles: [acme.hello]}]\n",
  "blueprints/web/requirements.yml": "roles: [{name: pub.docker}, {name: pub.gone}]\n",
  "templates/debian/debian.pkr.hcl": 'variable "vm_name" {\n  default = "debian"\n}\n',
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {namespace: acme, role_name: hello}\n",
  "ansible/roles/hello/tasks/main.yml": `- debug: {msg: "${version}"}\n`,
  "ansible/roles/broken/README.md": "no role\n",
})
const old: MemoryFiles = {
  ...shipped("1.0.0"),
  "blueprints/gone/blueprint.yml": "id: gone\nname: Gone\nversion: 1.0.0\nconfig: c.yml\n",
  "blueprints/gone/c.yml": "ludus: []\n",
}

const asked = (snapshot: string) =>
  sourceInstall.request(
    { type: "source", id: recordId },
    { recordId, snapshot, user: ada, global: false, force: true, noDeps: false },
  )

const install = (process: Process, snapshot: string) =>
  process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const head = yield* engine.start(asked(snapshot), ada)
      return { head, state: yield* engine.wait(head.id) }
    }),
  )

/** The source as installed before, and the snapshot of what it ships now. */
const seed = async (site: Site): Promise<string> => {
  const process = boot(site)
  const fetched = async (files: MemoryFiles) => {
    commitTo(site.artifacts.content, url, files)
    return process.runPromise(
      Effect.gen(function* () {
        const request = { location: { type: "git", url } as const, holder: `source:${recordId}` }
        const { id } = yield* (yield* ContentFetcher).fetch(request)
        const source = yield* (yield* Sources).findByRecordId(recordId)
        if (source !== undefined) yield* (yield* Sources).commitSync(source, { snapshot: id })
        return id
      }),
    )
  }
  await process.runPromise(
    Effect.gen(function* () {
      yield* (yield* Users).create(newAda)
      yield* (yield* Sources).create({
        recordId,
        id: "labs" as SourceId,
        owner: ada,
        type: "git",
        url,
        ref: "HEAD",
        path: "",
        name: "labs",
        access: undefined,
        schedule: undefined,
        nextSyncAt: undefined,
        createdAt: new Date(0),
      })
    }),
  )
  await install(process, await fetched(old))
  const snapshot = await fetched(shipped("2.0.0"))
  await process.dispose()
  return snapshot
}

const text = new TextDecoder()

/** Everything that an installation leaves, as data to compare; random ids are replaced by what they belong to. */
const endOf = async (site: Site) => {
  const process = boot(site)
  const { content, library } = site.artifacts
  const end = await process.runPromise(
    Effect.gen(function* () {
      const rows = yield* (yield* Blueprints).list()
      const source = yield* (yield* Sources).findByRecordId(recordId)
      const nameOf = (holder: string) => {
        const row = rows.find((candidate) => holder === `blueprint:${candidate.recordId}`)
        return row === undefined ? holder : `blueprint:${row.id}`
      }
      return {
        rows: rows.map(({ id, version, bundle, installation }) => [id, version, bundle?.snapshot, installation.status]),
        claims: yield* (yield* Sources).claims(recordId),
        outcome: [source?.lastSyncStatus, source?.lastSyncError],
        pins: [...content.pins].map(([snapshot, holders]) => [snapshot, [...holders].map(nameOf).toSorted()]),
      }
    }),
  )
  await process.dispose()
  const files = [...library.artifacts].map(([key, entries]) => [
    key,
    Object.fromEntries(
      // without the time of installation
      [...entries]
        .filter(([path]) => path !== "meta/.galaxy_install_info")
        .map(([path, entry]) => [path, entry.kind === "file" ? text.decode(entry.bytes) : entry.target]),
    ),
  ])
  return { ...end, files: Object.fromEntries(files) as Record<string, unknown> }
}

describe("an installation from a source, as a run", () => {
  it("reports each item, and ends as partial if one fails", async () => {
    const site = makeSite()
    const process = boot(site)
    const snapshot = await seed(site)
    const { head, state } = await install(process, snapshot)
    await process.dispose()
    expect(head).toMatchObject({ kind: "source-install", by: ada, subject: { type: "source", id: recordId } })
    expect([...state.steps].map(([key, { phase }]) => `${key} ${phase}`)).toEqual([
      "prune settled",
      "blueprint:web settled",
      "template:debian settled",
      "role:acme.hello settled",
      "role:broken failed",
      "roles settled",
      "roles-check failed",
    ])
    expect(state.status).toBe("partial")
    expect(state.message).toContain("Install role broken: it has none of the folders")
    const end = await endOf(site)
    expect(end.rows).toEqual([["labs/web", "2.0.0", snapshot, "error"]])
    expect(end.outcome[0]).toBe("partial")
    expect(end.outcome[1]).toMatch(/^local_role broken: .*; role pub\.gone: /u)
    // nothing holds the snapshots of replaced or removed content
    expect(end.pins.filter(([, holders]) => JSON.stringify(holders).includes("blueprint:"))).toEqual([
      [snapshot, ["blueprint:labs/web", `source:${recordId}`]],
    ])
  })

  it("brings nothing to another user who has the id of the original one", async () => {
    const site = makeSite()
    const snapshot = await seed(site)
    const before = (await endOf(site)).files
    const process = boot(site)
    const request = sourceInstall.request(
      { type: "source", id: recordId },
      { recordId, snapshot, user: ada, userRecord: "user00000000009" as RecordId, global: false, force: true, noDeps: false },
    )
    const end = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const { message } = yield* engine.wait((yield* engine.start(request, ada)).id)
        return message
      }).pipe(Effect.catch(({ message }) => Effect.succeed(message))),
    )
    await process.dispose()
    expect(end).toContain("was removed")
    expect((await endOf(site)).files).toEqual(before)
  })

  it("reports items as not begun that it had not begun when it was cancelled", async () => {
    const site = makeSite()
    const snapshot = await seed(site)
    const held = Effect.runSync(Deferred.make<void>())
    const guard: CrashGate["guard"] = (port, service) =>
      port === ArtifactLibrary.key && "place" in service
        ? {
            ...service,
            place: (...args: readonly unknown[]) =>
              Effect.andThen(
                Deferred.await(held),
                (service.place as (...given: readonly unknown[]) => Effect.Effect<unknown>)(...args),
              ),
          }
        : service
    const process = boot(site, { ...makeCrashGate(), guard })
    const state = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const { id } = yield* engine.start(asked(snapshot), ada)
        const copying = Stream.takeUntil(
          engine.events(id, 0),
          ({ event }) => event.type === "StepDispatched" && event.key === "role:acme.hello",
        )
        yield* Stream.runDrain(copying)
        yield* engine.cancel(id, ada)
        yield* Deferred.succeed(held, undefined)
        return yield* engine.wait(id)
      }),
    )
    await process.dispose()
    expect([state.status, state.steps.get("roles")?.phase]).toEqual(["aborted", "skipped"])
    const [status, error] = (await endOf(site)).outcome
    expect([status, error]).toEqual(["partial", expect.stringContaining("role pub.docker: it was not started")])
  })

  it("comes to the same end, wherever the process dies in it", { timeout: 120_000 }, async () => {
    await expectOneEnd(seed, asked)
  })
})

describe("an uninstallation from a source, as a run", () => {
  const all = { blueprints: ["web"], templates: ["debian"], localRoles: ["acme.hello"], roles: ["pub.docker"] }
  const uninstall = () =>
    sourceUninstall.request(
      { type: "source", id: recordId },
      { recordId, user: ada, global: false, force: false, selection: all },
    )
  const installed = async (site: Site) => {
    const snapshot = await seed(site)
    const process = boot(site)
    await install(process, snapshot)
    await process.dispose()
    return snapshot
  }

  it("comes to the same end, wherever the process dies in it", { timeout: 120_000 }, async () => {
    const end = await expectOneEnd(installed, uninstall)
    expect([end.rows, end.claims, Object.keys(end.files)]).toEqual([[], [], []])
  })
})

/** Runs the request undisturbed, then with a death at every call of a port and a new process; all ends must be the same. */
const expectOneEnd = async (prepare: (site: Site) => Promise<string>, request: (snapshot: string) => WorkRequest) => {
  const whole = makeSite()
  const counting = makeCrashGate()
  const snapshot = await prepare(whole)
  const runsBefore = whole.store.runs.size
  const first = boot(whole, counting)
  await first.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      yield* engine.wait((yield* engine.start(request(snapshot), ada)).id)
    }),
  )
  await first.dispose()
  const expected = await endOf(whole)
  expect(counting.points()).toBeGreaterThan(40)

  for (let at = 1; at <= counting.points(); at++) {
    const site = makeSite()
    const gate = makeCrashGate(at)
    expect(await prepare(site)).toBe(snapshot)
    const dying = boot(site, gate)
    let acknowledged: RunHead | undefined
    await dying
      .runPromise(
        Effect.gen(function* () {
          const engine = yield* RunEngine
          acknowledged = yield* engine.start(request(snapshot), ada)
          yield* Effect.raceFirst(engine.wait(acknowledged.id), gate.died)
        }),
      )
      .catch(() => undefined)
    await dying.dispose().catch(() => undefined)
    const next = boot(site)
    await next.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        yield* engine.recover
        // a client that got no answer asks again, unless the run was opened
        const opened = [...site.store.runs.values()][runsBefore]?.record
        const head = acknowledged ?? opened ?? (yield* engine.start(request(snapshot), ada))
        yield* engine.wait(head.id)
      }),
    )
    await next.dispose()
    expect(await endOf(site), `crashed at ${at}: ${gate.trace.at(-1)}`).toEqual(expected)
  }
  return expected
}
