import { type RunRequest, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { type Range, rangeSubject, type RunHead, type RunState } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type CrashGate, makeCrashGate } from "./crash-gate.ts"
import { admin, boot, keptLab, type Lab, outlives } from "./lab.ts"

/** Runs a request on a process that dies at the gate's moment; returns the head if the start was acknowledged. */
export const runUntilDeath = async (
  lab: Lab,
  range: Range,
  request: RunRequest,
  gate: CrashGate,
): Promise<RunHead | undefined> => {
  const process = boot(lab, gate)
  let head: RunHead | undefined
  await process
    .runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        head = yield* engine.start(rangeRequest(range, request), admin)
        yield* Effect.raceFirst(engine.wait(head.id), gate.died)
      }),
    )
    .catch(() => undefined)
  await process.dispose().catch(() => undefined)
  return head
}

/** What is left when the process of a run dies. */
export interface Death {
  /** The last moment, and its number. */
  readonly moment: string
  readonly at: number
  readonly acknowledged: RunHead | undefined
  /** Makes a copy of it. */
  readonly lab: () => Lab
}

/**
 * Runs a request once, and returns its end, and what a death leaves at every moment that leaves something new. It is what `runUntilDeath` leaves for each
 * of these moments: a dead process changes nothing any more.
 */
export const deathsIn = async (
  lab: Lab,
  range: Range,
  request: RunRequest,
): Promise<{ readonly deaths: readonly Death[]; readonly state: RunState | undefined }> => {
  const deaths: Death[] = []
  let acknowledged: RunHead | undefined
  const gate = makeCrashGate(
    undefined,
    () => outlives(lab),
    (moment) => deaths.push({ moment, at: gate.points(), acknowledged, lab: keptLab(lab) }),
  )
  const process = boot(lab, gate)
  const state = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      acknowledged = yield* engine.start(rangeRequest(range, request), admin)
      return Option.getOrUndefined(yield* Effect.option(engine.wait(acknowledged.id)))
    }),
  )
  await process.dispose()
  return { deaths, state }
}

/** A new process on the same store and world: it resumes the run, or the client, who got no answer, asks again. */
export const goOn = async (lab: Lab, range: Range, request: RunRequest, acknowledged: RunHead | undefined): Promise<void> => {
  const process = boot(lab)
  await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      yield* engine.recover
      const [run] = yield* (yield* RunJournal).list({ subject: rangeSubject(range.id), kinds: [request.kind], limit: 1 })
      const there = (yield* (yield* Ranges).find(range.id)) !== undefined
      const head = acknowledged ?? run ?? (there ? yield* engine.start(rangeRequest(range, request), admin) : undefined)
      if (head !== undefined) yield* Effect.option(engine.wait(head.id))
    }),
  )
  await process.dispose()
}
