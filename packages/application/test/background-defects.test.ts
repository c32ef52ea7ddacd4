import {
  accessKeeperLayer,
  autoShutdownLayer,
  observerLayer,
  recoveryLayer,
  SignIns,
  signInsLayer,
} from "@rangewright/application"
import { AccessRecords, AuditTrail, Hypervisor, LicenseProvider, Sources } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { expect, it } from "vitest"
import { sourceScheduleLayer } from "../src/background/source-schedule.ts"
import type { AppServices } from "../src/services.ts"
import { makeTestApp } from "./support/app.ts"

/** How often the work calls the effect of a port that has a defect each time. */
type Counted = (defect: Effect.Effect<never>) => Effect.Effect<void, unknown, AppServices>

/** Runs background work for an hour. */
const anHourOf = <R>(layer: Layer.Layer<never, unknown, R>) =>
  Effect.scoped(Effect.andThen(Layer.build(layer), TestClock.adjust("1 hour"))).pipe(Effect.provide(TestClock.layer()))

/** Writes the counts of failed sign-ins, of which one comes every ten minutes. */
const failedSignIns = Effect.gen(function* () {
  const signIns = yield* SignIns
  for (let i = 0; i < 12; i++) {
    yield* Effect.ignore(
      signIns.attempt(
        { operation: "recordLogin", account: `user${i}@lab.example`, address: `192.0.2.${i}` },
        Effect.succeed({ user: undefined, right: false }),
      ),
    )
    yield* TestClock.adjust("10 minutes")
  }
}).pipe(Effect.provide(signInsLayer, { local: true }), Effect.provide(TestClock.layer()))

const works: Readonly<Record<string, Counted>> = {
  "observing the hypervisor": (observe) =>
    Hypervisor.use((port) => Effect.provideService(anHourOf(observerLayer), Hypervisor, { ...port, observe })),
  "continuing interrupted runs": (recover) =>
    RunEngine.use((engine) => Effect.provideService(anHourOf(recoveryLayer), RunEngine, { ...engine, recover })),
  "keeping access in line": (stored) =>
    AccessRecords.use((port) => Effect.provideService(anHourOf(accessKeeperLayer), AccessRecords, { ...port, told: stored })),
  "looking for idle ranges": (current) =>
    LicenseProvider.use((port) => Effect.provideService(anHourOf(autoShutdownLayer), LicenseProvider, { ...port, current })),
  "syncing sources": (due) =>
    Sources.use((port) => Effect.provideService(anHourOf(sourceScheduleLayer), Sources, { ...port, due: () => due })),
  "writing the counts of failed sign-ins": (record) =>
    AuditTrail.use((port) => Effect.provideService(failedSignIns, AuditTrail, { ...port, record: () => record })),
}

it.each(Object.entries(works))("a defect does not end %s", async (_what, work) => {
  const app = makeTestApp()
  let times = 0
  const defect = Effect.suspend(() => {
    times += 1
    return Effect.die(new Error("a bug"))
  })
  await app.run(Effect.orDie(work(defect)))
  expect(times).toBeGreaterThan(10)
})
