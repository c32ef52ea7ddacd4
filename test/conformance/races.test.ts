import { operations, type Operation } from "@rangewright/application"
import type { BlueprintId, GroupName, RangeId, SourceId, UserId } from "@rangewright/domain"
import { Blueprints, Groups, Ranges, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { betweenCalls, type StoragePort } from "./between-calls.ts"
import { ask } from "./ask.ts"
import { bodyOf, needsOf, pathOf, refusalOf, type Sample, sampleOf } from "./requests.ts"
import { seededInMemory, startWholeService, type WholeService } from "./service.ts"
import { sqliteDatabases } from "./sqlite-storage.ts"

/** The caller. */
const admin = "AD"

const user = (id: string) => Users.use((users) => users.remove(id as UserId))
const range = (id: string) => Ranges.use((ranges) => ranges.remove(id as RangeId))

/** The objects that somebody may remove while a request is being handled, by the text that names them. */
const removals: Readonly<Record<string, Effect.Effect<unknown, unknown, StoragePort>>> = {
  [admin]: user(admin),
  ME: user("ME"),
  ST: user("ST"),
  R1: range("R1"),
  "lab/web/1": range("lab/web/1"),
  G1: Groups.use((groups) => groups.remove("G1" as GroupName)),
  "web/basic": Blueprints.use((blueprints) => blueprints.remove("web/basic" as BlueprintId)),
  labs: Effect.gen(function* () {
    const sources = yield* Sources
    const source = yield* sources.find("labs" as SourceId)
    if (source !== undefined) yield* sources.remove(source.recordId)
  }),
}

/** Other names of the same objects. */
const alsoNamed: Readonly<Record<string, string>> = {
  record000000002: "ME",
  record000000100: "R1",
  blueprint000000: "web/basic",
  "20000": "R1",
}

const requestOf = (service: WholeService, operation: Operation): Sample => {
  const sample = sampleOf(operation, service.runId)
  return operation.target === "range" ? { ...sample, query: { ...sample.query, rangeID: "R1" } } : sample
}

/** The caller, and every object that the request names. */
const concerned = (service: WholeService, operation: Operation): readonly string[] => {
  const { path, query, json } = requestOf(service, operation)
  const own = Object.entries(path ?? {}).filter(([name]) => name in operation.input.path)
  const texts = JSON.stringify([own, query ?? {}, json ?? null]).match(/[\w/]+/gu) ?? []
  const named = texts.map((text) => (text === service.runId ? "R1" : (alsoNamed[text] ?? text)))
  return [...new Set([admin, ...named])].filter((text) => text in removals)
}

const call = async (service: WholeService, operation: Operation) => {
  const sample = requestOf(service, operation)
  const init = bodyOf(operation, sample)
  const response = await ask(service.url + pathOf(operation, sample), {
    ...init,
    method: operation.route.method,
    headers: { "x-api-key": service.keys.admin, ...(init.headers as Record<string, string>) },
  })
  return { status: response.status, text: await response.text() }
}

/** Restores plain data to its state at the time of the call; functions are left alone. */
const snapshotOf = (data: object): (() => Promise<void>) => {
  const before = structuredClone(Object.fromEntries(Object.entries(data).filter(([, value]) => typeof value !== "function")))
  return async () => void Object.assign(data, structuredClone(before))
}

/** Restores the rows of a database; tables that are as they were are only read. */
const snapshotOfFile = (file: string): (() => Promise<void>) => {
  const copy = `${file}-before`
  // all rows come from a consistent copy, and what a power failure would lose does not matter
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  database.exec("pragma synchronous = off")
  database.prepare("vacuum into ?").run(copy)
  database.prepare("attach database ? as before").run(copy)
  const tables = database
    .prepare(
      "select name from before.sqlite_master where type = 'table' and name not in ('schema_migrations', 'sqlite_sequence')",
    )
    .all()
    .map((table) => {
      const name = String(table["name"])
      const [now, then] = [`select * from main."${name}"`, `select * from before."${name}"`]
      return {
        differs: database.prepare(`select exists (${now} except ${then}) or exists (${then} except ${now}) as yes`),
        empty: database.prepare(`delete from main."${name}"`),
        fill: database.prepare(`insert into main."${name}" ${then}`),
      }
    })
  return async () => {
    // the service's own work may fall between two transactions that share a commit
    await vi.waitFor(() => database.exec("begin immediate"), { timeout: 10_000, interval: 1 })
    for (const { differs, empty, fill } of tables)
      if (differs.get()?.["yes"] === 1) {
        empty.run()
        fill.run()
      }
    database.exec("commit")
  }
}

let databases: Awaited<ReturnType<typeof sqliteDatabases>>
beforeAll(async () => {
  databases = await sqliteDatabases()
})
afterAll(() => databases.remove())

/** A user who was removed is not known any more. */
const understood = [200, 201, 401, 404, 409]
/** In a long request evenly spaced calls are tried; in a short one, every gap between two calls. */
const mostPlaces = { memory: 40, sqlite: 6 } as const

const mutating = operations.filter(({ mutates, access }) => mutates && access !== "anonymous")

describe.each(["memory", "sqlite"] as const)("on %s", (engine) => {
  it.each(mutating.map((operation) => [operation.id, operation] as const))(
    "%s answers truthfully when an object it names is removed meanwhile",
    async (_id, operation) => {
      const { file, storage, seeded } =
        engine === "memory" ? { file: "", storage: undefined, seeded: await seededInMemory() } : await databases.next()
      const race = betweenCalls(storage)
      const service = await startWholeService({ ...needsOf(operation), storage: race.storage, seeded })
      const restored = [engine === "memory" ? snapshotOf(service.store) : snapshotOfFile(file), snapshotOf(service.world)]
      race.arm(0, Effect.void)
      await call(service, operation)
      const calls = race.disarm()
      const stride = Math.ceil(calls / mostPlaces[engine])
      const misunderstood: string[] = []
      for (const what of concerned(service, operation))
        for (let at = 1; at <= calls; at += stride) {
          for (const restore of restored) await restore()
          race.arm(at, removals[what] ?? Effect.void)
          const { status, text } = await call(service, operation)
          race.disarm()
          if (!understood.includes(status) && status !== refusalOf(operation))
            misunderstood.push(`without ${what} from call ${at} of ${calls}: ${status} ${text}`)
        }
      expect(misunderstood).toEqual([])
      expect(service.defects).toEqual([])
      await service.stop()
    },
    120_000,
  )
})
