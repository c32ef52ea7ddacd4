import { memoryStorageLayer } from "@rangewright/adapter-memory"
import { Database, storageLayer } from "@rangewright/adapter-storage"
import { AuditTrail, Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createDatabase, testServer } from "../contracts/storage/postgres-server.ts"
import { type BetweenCalls, betweenCalls } from "./between-calls.ts"
import { type Seeded, startWholeService, type WholeService } from "./service.ts"
import { sqliteDatabases } from "./sqlite-storage.ts"

/** A database that can be withheld from a service: `take` returns the effect that gives it back. */
interface Under {
  readonly storage: BetweenCalls["storage"]
  /** What the database was seeded with; absent: it is empty. */
  readonly seeded?: Seeded
  readonly take: () => Promise<() => Promise<void>>
  readonly remove: () => Promise<void>
}

const createGroup = async (service: WholeService, name: string): Promise<number> => {
  const response = await fetch(`${service.url}/api/v2/groups`, {
    method: "POST",
    headers: { "x-api-key": service.keys.admin, "content-type": "application/json" },
    body: JSON.stringify({ name }),
  })
  await response.body?.cancel()
  return response.status
}

/** The groups created here, and the outcomes in their audit entries. */
const found = (service: WholeService) =>
  new Promise<unknown>((resolve, reject) => {
    const read = Effect.gen(function* () {
      const groups = (yield* (yield* Groups).list()).map(({ name }) => name).filter((name) => name.startsWith("new"))
      return [groups, (yield* (yield* AuditTrail).list(10)).map(({ operation, outcome }) => [operation, outcome])]
    })
    service.run(read.pipe(Effect.match({ onSuccess: resolve, onFailure: reject })) as never)
  })

/** Takes the database away before each call of a change in turn: every acknowledged change is stored and has its audit entry. */
const isTrue = async ({ storage, seeded, take, remove }: Under) => {
  const race = betweenCalls(storage)
  const service = await startWholeService({ storage: race.storage, seeded })
  // by then the run of R1 has ended and released its lease
  expect(await createGroup(service, "new-0")).toBe(201)
  race.arm(0, Effect.void)
  expect(await createGroup(service, "new-1")).toBe(201)
  const calls = race.disarm()
  const groups = ["new-0", "new-1"]
  const outcomes: unknown[] = groups.map(() => ["createGroup", "ok"])
  expect(await found(service)).toEqual([groups, outcomes])
  // the change itself, and then the record of its outcome
  for (const at of [calls - 1, calls]) {
    let giveBack = async (): Promise<void> => {}
    race.arm(
      at,
      Effect.promise(async () => {
        giveBack = await take()
      }),
    )
    const name = `new-at-${at}`
    const status = await createGroup(service, name)
    race.disarm()
    await giveBack()
    expect(status).toBe(at === calls ? 201 : 502)
    if (status === 201) groups.push(name)
    if (status === 201) outcomes.unshift(["createGroup", "begun"])
    expect(await found(service)).toEqual([groups, outcomes])
  }
  await service.stop()
  await remove()
}

describe("a change that is acknowledged has its audit entry", () => {
  let databases: Awaited<ReturnType<typeof sqliteDatabases>>
  beforeAll(async () => {
    databases = await sqliteDatabases()
  })
  afterAll(() => databases.remove())

  it("on SQLite, even while another process holds the lock", async () => {
    const { file, storage, seeded } = await databases.next()
    const take = async () => {
      const other = new DatabaseSync(file, { timeout: 5000 })
      other.exec("begin immediate")
      return async () => other.close()
    }
    await isTrue({ storage, seeded, take, remove: async () => {} })
  }, 120_000)

  it.skipIf(testServer === undefined)(
    "on PostgreSQL, even without a free connection (needs RANGEWRIGHT_TEST_POSTGRES)",
    async () => {
      const { url, drop } = await createDatabase(testServer ?? "")
      let database: Database["Service"] | undefined
      const storage: Under["storage"] = (store) => {
        const over = Layer.tap(storageLayer({ databaseUrl: url }), (context) =>
          Effect.provideContext(
            Database.use((service) => Effect.sync(() => (database = service))),
            context,
          ),
        )
        return Layer.merge(memoryStorageLayer(store), over)
      }
      /** Takes every connection of the pool. */
      const take = async () => {
        const held: (() => void)[] = []
        const taken = Array.from(
          { length: 10 },
          () =>
            new Promise<void>((resolve) => {
              const hold = database?.read("hold a connection", (db) =>
                db.connection().execute(
                  () =>
                    new Promise<void>((release) => {
                      held.push(release)
                      resolve()
                    }),
                ),
              )
              Effect.runFork(hold ?? Effect.void)
            }),
        )
        await Promise.all(taken)
        return async () => {
          for (const release of held) release()
        }
      }
      await isTrue({ storage, take, remove: drop })
    },
    120_000,
  )
})
