import { rangeSubject } from "@rangewright/domain"
import { expect, it } from "vitest"
import { goOn, runUntilDeath } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import { boot, createRange, deploy, makeLab, outlives, startAndWait } from "./support/lab.ts"

const makeNotifying = () => ({
  ...makeLab(["vm1"]),
  config: 'ludus: []\nnotify:\n  urls: ["https://hooks.example/a", "https://hooks.example/b"]\n',
})

it("a process that dies at any moment of a deploy notifies all of its end, and nobody twice whom the journal says it notified", async () => {
  const calm = makeNotifying()
  const gate = makeCrashGate(undefined, () => [outlives(calm), calm.internet.notified.length])
  const process = boot(calm, gate)
  await startAndWait(process, await createRange(calm))
  await process.dispose()
  expect(calm.internet.notified).toHaveLength(2)

  let repeated = 0
  for (const at of gate.distinct()) {
    const lab = makeNotifying()
    const range = await createRange(lab)
    const acknowledged = await runUntilDeath(lab, range, deploy, makeCrashGate(at))
    const sentBefore = lab.internet.notified.length
    const told = [...lab.store.runs.values()].flatMap(({ entries }) =>
      entries.filter(({ event }) => event.type === "Notified"),
    ).length
    await goOn(lab, range, deploy, acknowledged)
    const runs = [...lab.store.runs.values()].filter(({ record }) => record.subject.id === rangeSubject(range.id).id)
    expect(runs.map(({ record }) => record.status)).toEqual(["success"])
    // what was sent and not yet journaled is sent again: better twice than never
    expect(lab.internet.notified).toHaveLength(2 + sentBefore - told)
    repeated += sentBefore - told
  }
  expect(repeated).toBeGreaterThan(0)
})
