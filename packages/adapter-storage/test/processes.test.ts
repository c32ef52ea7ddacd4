import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { type RangeId, rangeSubject, type RunId, type UserId } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect, it } from "vitest"
import { checkBackup, hasUsers } from "../src/index.ts"
import { aliceWithLab, createDatabase, onFile, temporaryFolder } from "./support.ts"

const server = process.env["RANGEWRIGHT_TEST_POSTGRES"]
const program = (name: string): string => join(import.meta.dirname, "programs", name)

it("is opened by several processes at once: one migrates, all work", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const ids = ["alice", "bob", "carol"]
  const runs = ids.map((id) => promisify(execFile)(process.execPath, [program("create-user.ts"), file, id]))
  const numbers = (await Promise.all(runs)).map(({ stdout }) => Number(stdout))
  expect(new Set(numbers)).toEqual(new Set([2, 3, 4]))
})

it.skipIf(server === undefined)(
  "is opened by several processes at once on PostgreSQL (needs RANGEWRIGHT_TEST_POSTGRES): one migrates, all work",
  async () => {
    const database = await createDatabase(server ?? "")
    try {
      const runs = ["a", "b", "c"].map((id) =>
        promisify(execFile)(process.execPath, [program("create-user.ts"), database.url, id]),
      )
      const numbers = (await Promise.all(runs)).map(({ stdout }) => Number(stdout))
      expect(new Set(numbers)).toEqual(new Set([2, 3, 4]))
    } finally {
      await database.drop()
    }
  },
)

it("keeps every acknowledged journal entry when the process is killed", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const runId = "killed000000000" as RunId
  const startedAt = new Date(0)
  const head = {
    id: runId,
    kind: "deploy",
    subject: rangeSubject("LAB" as RangeId),
    by: "alice" as UserId,
    options: null,
    startedAt,
  } as const
  await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      yield* (yield* RunJournal).open(head, "DEPLOYING")
    }),
  )
  const writer = spawn(process.execPath, [program("write-journal.ts"), file, runId], { stdio: ["ignore", "pipe", "inherit"] })
  const exited = once(writer, "exit")
  let acknowledged = 0
  for await (const line of createInterface({ input: writer.stdout })) {
    acknowledged = Number(line)
    if (acknowledged >= 40) writer.kill("SIGKILL")
  }
  await exited
  const entries = await onFile(
    file,
    RunJournal.use((journal) => journal.read(runId, 0)),
  )
  expect(entries.length).toBeGreaterThanOrEqual(acknowledged)
  expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, i) => i + 1))
  await Effect.runPromise(checkBackup(file))
})

it("serves everything else while another process holds the database's lock, and writes when it is free again", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      const ranges = yield* Ranges
      const holder = spawn(process.execPath, [program("hold-lock.ts"), file], { stdio: ["pipe", "pipe", "inherit"] })
      yield* Effect.promise(() => once(holder.stdout, "data"))
      const names = Array.from({ length: 8 }, (_, i) => `name ${i}`)
      const writes = yield* Effect.forkChild(
        Effect.forEach(names, (name) => ranges.change("LAB" as RangeId, { name }), { concurrency: "unbounded" }),
        { startImmediately: true },
      )
      // each turn of the event loop would wait for SQLite's own patience, and the last one would come after the writes had failed
      for (const _ of names) {
        yield* Effect.promise(() => new Promise(setImmediate))
        expect((yield* ranges.list()).map(({ name }) => name)).toEqual(["LAB"])
        expect(yield* hasUsers).toBe(true)
      }
      holder.stdin.end()
      yield* Fiber.join(writes)
      expect(names).toContain((yield* ranges.find("LAB" as RangeId))?.name)
    }),
  )
})
