import { commitTo, type MemoryFiles } from "@rangewright/adapter-memory"
import { blueprintInstall } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { type BlueprintId, emptyRunState, neverInstalled, type RecordId, type RunHead } from "@rangewright/domain"
import { Blueprints, ContentFetcher, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { ada, boot, makeSite, newAda, type Process, type Site } from "./support/site.ts"

const recordId = "blueprint000001" as RecordId
const id = "lab" as BlueprintId
const url = "https://git.example/acme/labs.git"
const shipped: MemoryFiles = {
  "blueprints/web/blueprint.yml": "id: web\nname: Web\nversion: 1.0.0\nconfig: c.yml\n",
  "blueprints/web/c.yml": "ludus: [{vm_name: a, template: debian, roles: [acme.hello, acme.broken]}]\n",
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {namespace: acme, role_name: hello}\n",
  "ansible/roles/hello/tasks/main.yml": "[]\n",
  "ansible/roles/broken/meta.yml": "no role\n",
  "ansible/roles/broken/README.md": "no role\n",
}

/** A copy of a source's blueprint, with nothing of it installed. */
const seed = async (site: Site): Promise<void> => {
  commitTo(site.artifacts.content, url, shipped)
  const process = boot(site)
  await process.runPromise(
    Effect.gen(function* () {
      yield* (yield* Users).create(newAda)
      const holder = `blueprint:${recordId}`
      const { id: snapshot } = yield* (yield* ContentFetcher).fetch({ location: { type: "git", url }, holder })
      yield* (yield* Blueprints).create({
        id,
        recordId,
        owner: ada,
        name: "Lab",
        description: "",
        version: "1.0.0",
        tags: [],
        minVersion: "",
        config: String(shipped["blueprints/web/c.yml"] as string).replace("acme.broken", "broken"),
        requirements: "roles: [{name: pub.docker}, {name: pub.gone}]\n",
        bundle: { snapshot, directory: "blueprints/web" },
        thumbnail: undefined,
        createdAt: new Date(0),
      })
    }),
  )
  await process.dispose()
}

const asked = blueprintInstall.request({ type: "blueprint", id: recordId }, { recordId, user: ada, global: false, force: false })

const install = (process: Process) =>
  process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      return yield* engine.wait((yield* engine.start(asked, ada)).id)
    }),
  )

/** The result of an installation, without the time of its end. */
const endOf = async ({ artifacts, ...site }: Site) => {
  const process = boot({ artifacts, ...site })
  const end = await process.runPromise(
    Effect.gen(function* () {
      const found = yield* (yield* Blueprints).find(id)
      return { status: found?.installation.status, error: found?.installation.error, sources: yield* (yield* Sources).list() }
    }),
  )
  await process.dispose()
  const paths = [...artifacts.library.artifacts].map(([key, entries]) => [key, [...entries.keys()].toSorted()] as const)
  return { ...end, pins: [...artifacts.content.pins].map(([, holders]) => [...holders]), files: new Map(paths) }
}

describe("an installation of what a blueprint requires, as a run", () => {
  it("reports each item, can end as partial, and notes on the blueprint what is missing", async () => {
    const site = makeSite()
    await seed(site)
    const process = boot(site)
    const state = await install(process)
    await process.dispose()
    expect([...state.steps].map(([key, { phase }]) => `${key} ${phase}`)).toEqual([
      "role:acme.hello settled",
      "role:broken failed",
      "roles settled",
      "roles-check failed",
    ])
    expect(state.status).toBe("partial")
    const { status, error, files } = await endOf(site)
    expect([status, error]).toEqual(["partial", expect.stringMatching(/^role broken: .*; role pub\.gone: /u)])
    expect([...files.keys()].map((key) => key.replace(/^.*[ :/]/u, "")).toSorted()).toEqual(["acme.hello", "pub.docker"])
  })

  it("does nothing if the blueprint is deleted meanwhile", async () => {
    const site = makeSite()
    await seed(site)
    const process = boot(site)
    const state = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const head = yield* engine.start(asked, ada)
        yield* (yield* Blueprints).remove(id)
        return yield* engine.wait(head.id)
      }),
    )
    expect(["failure", "partial"]).toContain(state.status)
    await process.dispose()
    expect(await endOf(site)).toMatchObject({ status: undefined })
  })

  it("that ended without a plan is noted as failed, with the run's reason", async () => {
    const site = makeSite()
    await seed(site)
    const process = boot(site)
    const head: RunHead = { id: "run000000000001" as RunHead["id"], ...asked, by: ada, startedAt: new Date(0) }
    const message = "Cannot read the journal of the run"
    await process.runPromise(blueprintInstall.finish(head, emptyRunState, { status: "failure", message }, Effect.void))
    await process.dispose()
    expect(await endOf(site)).toMatchObject({ status: "error", error: message })
  })

  it("comes to the same end, wherever the process dies in it", { timeout: 120_000 }, async () => {
    const whole = makeSite()
    await seed(whole)
    const counting = makeCrashGate()
    const first = boot(whole, counting)
    await install(first)
    await first.dispose()
    const expected = await endOf(whole)
    expect(expected.status).not.toBe(neverInstalled.status)
    expect(counting.points()).toBeGreaterThan(30)

    for (let at = 1; at <= counting.points(); at++) {
      const site = makeSite()
      await seed(site)
      const gate = makeCrashGate(at)
      const dying = boot(site, gate)
      let acknowledged: RunHead | undefined
      await dying
        .runPromise(
          Effect.gen(function* () {
            const engine = yield* RunEngine
            acknowledged = yield* engine.start(asked, ada)
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
          const [open] = [...site.store.runs.values()].map(({ record }) => record)
          yield* engine.wait((acknowledged ?? open ?? (yield* engine.start(asked, ada))).id)
        }),
      )
      await next.dispose()
      expect(await endOf(site), `crashed at ${at}: ${gate.trace.at(-1)}`).toEqual(expected)
    }
  })
})
