import { migrateToSdn, runPlannerLayer, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { installation, type Range, type RunHead } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { expect, it } from "vitest"
import { newRange } from "../contracts/storage/samples.ts"
import { type CrashGate, makeCrashGate } from "../runs/support/crash-gate.ts"
import { admin, deploy } from "../runs/support/lab.ts"
import {
  bootMigration,
  endOf,
  makeMigrationLab,
  type MigrationLab,
  type MigrationProcess,
  outlives,
  unreachable,
} from "./support/lab.ts"

const config = `ludus:
  - vm_name: "{{ range_id }}-m1"
    hostname: "{{ range_id }}-m1"
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 1
    cpus: 1
    linux: true
`

/** Three ranges on bridges, and one that was never deployed. */
const open = async (): Promise<{ readonly lab: MigrationLab; readonly range: Range }> => {
  const lab = makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true })
  const process = bootMigration(lab)
  const range = await process.runPromise(
    Effect.flatMap(Ranges, (ranges) => ranges.create(newRange("NEW", { number: 9, config }))),
  )
  await process.dispose()
  return { lab, range }
}

const boot = (lab: MigrationLab, gate: CrashGate = makeCrashGate()): MigrationProcess => bootMigration(lab, gate, runPlannerLayer)

/** Requests the migration, and a deploy when the first machine has moved; `heads` are the acknowledged runs. */
const askForBoth = (range: Range, heads: RunHead[]) =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    heads.push(yield* engine.start(migrateToSdn.request(installation, { createZone: true }), admin))
    const isMoved = ({ event }: { readonly event: { readonly type: string; readonly key?: string } }) =>
      event.type === "StepSettled" && event.key?.startsWith("move:") === true
    yield* Stream.runDrain(Stream.takeUntil(engine.events(heads[0]!.id, 0), isMoved))
    heads.push(yield* engine.start(rangeRequest(range, deploy), admin))
    return yield* Effect.forEach(heads, ({ id }) => engine.wait(id))
  })

/** The final state: the migrated ranges, the networks of the new machines' first cards, and how the runs ended. */
const standing = (lab: MigrationLab) => {
  const cards = Object.fromEntries(
    [...lab.sim.state.guests.values()]
      .map(({ config }) => [String(config["name"]), /bridge=([^,]*)/u.exec(String(config["net0"]))?.[1]] as const)
      .filter(([name]) => name.startsWith("NEW-")),
  )
  const runs = Object.fromEntries([...lab.store.runs.values()].map(({ record }) => [record.kind, record.status]))
  return { ...endOf(lab), cards, runs, unreachable: unreachable(lab) }
}

it("a deploy requested during a migration waits for its end, and its machines are on the range's VNet", async () => {
  const { lab, range } = await open()
  const process = boot(lab)
  const heads: RunHead[] = []
  const ends = await process.runPromise(askForBoth(range, heads))
  await process.dispose()
  expect(ends.map(({ status, message }) => [status, message])).toEqual([
    ["success", ""],
    ["success", ""],
  ])
  const [migration, deployment] = heads.map(({ id }) => lab.store.runs.get(id)!)
  expect(deployment!.record.blockedBy).toBe(migration!.record.id)
  const first = deployment!.entries.find(({ event }) => event.type === "StepStarted")
  expect(first!.at.getTime()).toBeGreaterThanOrEqual(migration!.record.endedAt!.getTime())
  const { cards, vnets, unreachable: lost } = standing(lab)
  expect(vnets).toContain("r9")
  expect(cards).toEqual({ "NEW-m1": "r9", "NEW-router-debian11-x64": "ludusnat" })
  expect(lost).toEqual([])
})

it(
  "a deploy still waits when the process dies, at many moments of either run or between them",
  { timeout: 300_000 },
  async () => {
    const whole = await open()
    const counting = makeCrashGate(undefined, () => outlives(whole.lab))
    const undisturbed = boot(whole.lab, counting)
    await undisturbed.runPromise(askForBoth(whole.range, []))
    await undisturbed.dispose()
    const end = standing(whole.lab)
    const moments = counting.distinct().filter((_, i) => i % 4 === 0)
    expect(moments.length).toBeGreaterThan(50)

    const broken: unknown[] = []
    for (const at of moments) {
      const { lab, range } = await open()
      const gate = makeCrashGate(at)
      const dying = boot(lab, gate)
      await dying.runPromise(Effect.raceFirst(askForBoth(range, []), gate.died)).catch(() => undefined)
      await dying.dispose().catch(() => undefined)
      const next = boot(lab)
      await next.runPromise(
        Effect.gen(function* () {
          const engine = yield* RunEngine
          yield* engine.recover
          const known = [...lab.store.runs.values()].map(({ record }) => record)
          // a client that got no answer asks again
          const migration =
            known.find(({ kind }) => kind === migrateToSdn.name) ??
            (yield* engine.start(migrateToSdn.request(installation, { createZone: true }), admin))
          const deployment =
            known.find(({ kind }) => kind === "deploy") ?? (yield* engine.start(rangeRequest(range, deploy), admin))
          yield* Effect.forEach([migration, deployment], ({ id }) => engine.wait(id))
        }),
      )
      await next.dispose()
      try {
        expect(standing(lab)).toEqual(end)
      } catch (error) {
        broken.push({ at, moment: gate.trace.at(-1), error: String(error).slice(0, 1500) })
      }
    }
    expect(broken).toEqual([])
  },
)
