import { type CallGate, makeCallGate, type Interruption } from "./call-gate.ts"
import { noteOthers, problemsOf, silences } from "./facts.ts"
import { makeLab } from "./lab.ts"
import type { AccessOperation } from "./operations.ts"
import { type Answer, boot, type Process, type Site, sleep, stop } from "./site.ts"
import { isDone, perform, type Watch, watchRevocations } from "./watch.ts"

/** Seconds after a restart, or after the hypervisor has come back, within which everything agrees without help. */
export const withinSeconds = 30

/** A lab, and a service on it that has finished its first check. */
export interface Scene {
  readonly site: Site
  readonly watch: Watch
  readonly gate: CallGate
  readonly process: Process
  readonly others: () => readonly string[]
}

export const open = async (): Promise<Scene> => {
  const site = await makeLab()
  const watch = watchRevocations(site)
  const gate = makeCallGate(site.clock.stir)
  const process = boot(site, { gate, background: true })
  await sleep(process, 1)
  return { site, watch, gate, process, others: noteOthers(site) }
}

/** Waits for running removals of ranges: they take machines down at their own pace, and the half minute begins when they are over. */
export const waitForRangeRuns = async (process: Process): Promise<void> => {
  const { store } = process.site
  const goesOn = (): boolean =>
    [...store.runs.values()].some(({ record: { kind, status } }) => kind === "delete-range" && status === "running")
  while (goesOn()) await sleep(process, 1)
}

/** Restarts the service if it died, gives it time, and returns the remaining problems. */
export const settle = async ({ site, watch, gate, process, others }: Scene): Promise<readonly string[]> => {
  let last = process
  if (gate.dead()) {
    await stop(process)
    last = boot(site, { background: true })
  }
  await waitForRangeRuns(last)
  await sleep(last, withinSeconds)
  const problems = await problemsOf(site)
  await stop(last)
  return [...problems, ...watch.undone, ...others()]
}

/** The calls that an operation makes, and the problems afterwards when nothing disturbs it. */
export const undisturbed = async (operation: AccessOperation) => {
  const scene = await open()
  const { gate, process, site, watch } = scene
  gate.arm()
  const answer = await perform(process, operation, watch)
  const trace = [...gate.trace]
  const problems = [...(await problemsOf(site)), ...watch.undone]
  if (!isDone(answer)) problems.push(`it answered ${JSON.stringify(answer)}`)
  await stop(process)
  return { trace, problems }
}

/** Runs one operation, interrupted at one call; returns the problems afterwards. */
export const interrupted = async (operation: AccessOperation, at: number, how: Interruption): Promise<readonly string[]> => {
  const scene = await open()
  const { gate, process, site, watch } = scene
  gate.arm({ at, how })
  await perform(process, operation, watch)
  const silent = await silences(site)
  return [...silent, ...(await settle(scene))]
}

export interface Disturbance {
  readonly at: number
  readonly how: Interruption
}

/**
 * Runs two operations; the second begins at a call of the first, and both may be interrupted at a later call of either. Returns the
 * problems afterwards.
 */
export const together = async (
  first: AccessOperation,
  second: AccessOperation,
  at: number,
  disturbed?: Disturbance,
): Promise<readonly string[]> => {
  const scene = await open()
  const { gate, process, site, watch } = scene
  let other: Promise<Answer | undefined> | undefined
  gate.arm({
    ...disturbed,
    onCall: (nth) => {
      if (nth === at) other = perform(process, second, watch)
    },
  })
  await perform(process, first, watch)
  await other
  const silent = await silences(site)
  return [...silent, ...(await settle(scene))]
}
