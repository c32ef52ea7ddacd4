/**
 * The cost of the storage ports over SQLite: reads and appends compared with raw node:sqlite that runs the same statements on the same
 * file, alternating in one run. 100 ranges, 1,000 VMs, 100 users.
 */
import { storageLayer } from "@rangewright/adapter-storage"
import {
  type ObservedMachine,
  type RangeId,
  rangeSubject,
  type RecordId,
  type RunEvent,
  type RunId,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import { Machines, Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { mkdtempSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"

const rounds = 5
const millis = 250
const rangeCount = 100
const vmsEach = 10
const atOnce = 12
const at = new Date("2026-01-01T00:00:00Z")
const userId = (n: number) => `user${n}` as UserId
const rangeId = (n: number) => `R${n}` as RangeId
const recordId = (text: string) => text.toLowerCase().padStart(15, "0") as RecordId
const runId = "run000000000000" as RunId
const events: readonly RunEvent[] = [
  { type: "StepSettled", key: "clone:R1-machine-1", facts: { changed: true } },
  { type: "StepStarted", key: "configure:R1-machine-1", attempt: 1 },
]

export interface StorageTiming {
  readonly what: string
  /** Microseconds. */
  readonly ours: number
  readonly raw: number
  /** Raw time divided by ours: 1 is as fast as raw. */
  readonly ratio: number
}

const vm = (range: number, n: number): ObservedMachine => ({
  vmid: (20_000 + range * vmsEach + n) as Vmid,
  node: "node1",
  name: `R${range}-machine-${n}`,
  power: "running",
  template: false,
  pool: rangeId(range),
  cpus: 4,
  memoryMiB: 8192,
  tags: ["rangewright"],
})

const seed = Effect.gen(function* () {
  const users = yield* Users
  const ranges = yield* Ranges
  for (let n = 0; n < rangeCount; n++) {
    yield* users.create({
      id: userId(n),
      recordId: recordId(`u${n}`),
      name: `User ${n}`,
      email: `user${n}@lab.example`,
      isAdmin: false,
      hypervisorUsername: `user${n}`,
      hypervisorRealm: "pve",
      secrets: { apiKeyHash: "0".repeat(64), sealedPassword: undefined, tokenKey: "key" },
      createdAt: at,
    })
    yield* ranges.create({
      id: rangeId(n),
      recordId: recordId(`r${n}`),
      number: undefined,
      reservedNumbers: [],
      name: `Range ${n}`,
      description: "",
      purpose: "",
      config: "ludus: []\n",
      createdBy: userId(n),
      owners: [userId(n)],
      createdAt: at,
    })
  }
  const machines = Array.from({ length: rangeCount * vmsEach }, (_, i) => vm(Math.floor(i / vmsEach), i % vmsEach))
  yield* (yield* Machines).replace({ at, nodes: [], storages: [], machines })
  const journal = yield* RunJournal
  yield* journal.open(
    { id: runId, kind: "deploy", subject: rangeSubject(rangeId(1)), by: userId(1), options: null, startedAt: at },
    undefined,
  )
  for (let i = 0; i < 100; i++) yield* journal.append(runId, 0, events, at)
})

/** Microseconds per call. */
const time = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  let n = 0
  for (; performance.now() - start < millis; n++) await work()
  return ((performance.now() - start) * 1000) / n
}
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

export const timeStorage = async (): Promise<readonly StorageTiming[]> => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  const file = join(folder, "rangewright.db")
  const runtime = ManagedRuntime.make(storageLayer({ file }))
  await runtime.runPromise(seed)
  const raw = new DatabaseSync(file, { timeout: 5_000 })
  raw.exec("pragma synchronous = full")
  try {
    const ports = await runtime.runPromise(
      Effect.gen(function* () {
        return { users: yield* Users, ranges: yield* Ranges, journal: yield* RunJournal, machines: yield* Machines }
      }),
    )
    const statement = {
      user: raw.prepare("select * from users where id = ?"),
      revision: raw.prepare("select value from revision where id = 1"),
      grants: raw.prepare(
        `select u.id, u.number, u.name, r.id, r.number, g.type from (select range_id, user_id, 'Direct' as type from range_grants
          union all select gr.range_id, gm.user_id, gm.role from group_members gm join group_ranges gr on gr.group_name = gm.group_name) g
          join users u on u.id = g.user_id join ranges r on r.id = g.range_id where g.user_id = ? order by r.number, g.type`,
      ),
      ranges: raw.prepare("select * from ranges order by number"),
      machines: raw.prepare("select m.* from machines m join ranges r on r.id = m.pool where not m.template order by m.vmid"),
      entries: raw.prepare("select * from journal_entries where run_id = ? and seq > ? and seq <= 200 order by seq"),
      run: raw.prepare("update runs set last_seq = last_seq + 2 where id = ? and generation = 0 returning last_seq"),
      entry: raw.prepare("insert into journal_entries (run_id, seq, at, event) values (?, ?, ?, ?)"),
    }
    const texts = events.map((event) => JSON.stringify(event))
    const rawAppend = () => {
      raw.exec("begin immediate")
      const last = Number(statement.run.get(runId)?.["last_seq"])
      for (const [i, text] of texts.entries()) statement.entry.run(runId, last - 1 + i, at.getTime(), text)
      raw.exec("commit")
    }
    const append = ports.journal.append(runId, 0, events, at)
    const run =
      <A, E>(effect: Effect.Effect<A, E>) =>
      () =>
        Effect.runPromise(effect)
    const pairs: readonly (readonly [string, () => Promise<unknown>, () => unknown])[] = [
      ["user and secrets for authentication", run(ports.users.forAuthentication(userId(7))), () => statement.user.get("user7")],
      ["revision", run(ports.ranges.revision), () => statement.revision.get()],
      ["grants of a user", run(ports.ranges.grantsOf(userId(7))), () => statement.grants.all("user7")],
      [
        "overview of 100 ranges, 1,000 VMs",
        run(ports.ranges.overview({})),
        () => [statement.ranges.all(), statement.machines.all()],
      ],
      ["journal: read 200 entries", run(ports.journal.read(runId, 0, 200)), () => statement.entries.all(runId, 0)],
      ["journal: append 2 events, synced", run(append), rawAppend],
      [
        `the same ${atOnce} times at once`,
        run(
          Effect.all(
            Array.from({ length: atOnce }, () => append),
            { concurrency: "unbounded" },
          ),
        ),
        () => {
          for (let n = 0; n < atOnce; n++) rawAppend()
        },
      ],
    ]
    const timings: StorageTiming[] = []
    for (const [what, ours, bare] of pairs) {
      const times = { ours: [] as number[], raw: [] as number[] }
      for (let round = 0; round < rounds; round++) {
        times.ours.push(await time(ours))
        times.raw.push(await time(bare))
      }
      const [a, b] = [median(times.ours), median(times.raw)]
      timings.push({ what, ours: a, raw: b, ratio: b / a })
    }
    return timings
  } finally {
    raw.close()
    await runtime.dispose()
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) {
  const row = (what: string, ...cells: readonly string[]) =>
    `${what.padEnd(40)}${cells.map((cell) => cell.padStart(12)).join("")}`
  console.log(row("", "ours µs", "raw µs", "raw/ours"))
  for (const { what, ours, raw, ratio } of await timeStorage())
    console.log(row(what, ours.toFixed(1), raw.toFixed(1), ratio.toFixed(2)))
}
