import { serialize } from "node:v8"
import { type CallGate, makeCallGate, type Interruption } from "./call-gate.ts"
import { noteOthers, problemsOf, silences } from "./facts.ts"
import { makeLab } from "./lab.ts"
import type { AccessOperation } from "./operations.ts"
import { type Answer, boot, copySite, type Process, type Site, sleep, stop } from "./site.ts"
import { isDone, perform, type Watch, watchRevocations } from "./watch.ts"

/** Seconds after a restart, or after the hypervisor has come back, within which everything agrees without help. */
export const withinSeconds = 30

/** A lab, and a service on it that has finished its first check. */
export interface Scene {
  readonly site: Site
  readonly watch: Watch
  readonly gate: CallGate
  readonly process: Process
  readonly others: ReturnType<typeof noteOthers>
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
  // what was to happen at a later call must not happen to the question
  gate.arm()
  const problems = await problemsOf(site, last)
  await stop(last)
  return [...problems, ...watch.undone, ...others(site)]
}

/** The calls that an operation makes, and the problems afterwards when nothing disturbs it. */
export const undisturbed = async (operation: AccessOperation) => {
  const scene = await open()
  const { gate, process, site, watch } = scene
  /** How often the hypervisor was called before each of the calls. */
  const reached: number[] = []
  gate.arm({ onCall: () => reached.push(site.world.calls.length) })
  const answer = await perform(process, operation, watch)
  const trace = [...gate.trace]
  const problems = [...(await problemsOf(site, process)), ...watch.undone]
  if (!isDone(answer)) problems.push(`it answered ${JSON.stringify(answer)}`)
  await stop(process)
  return { trace, reached, problems }
}

/** What a process that dies at some moment of an operation leaves. */
export interface Remains {
  /** The moment, or the first of several that leave the same. */
  readonly when: string
  readonly site: Site
  readonly others: () => readonly string[]
}

/** Everything that decides what the next process will do. Calls matter only to what routers were told. */
const fingerprint = ({ store, world, clock }: Site): string => {
  const { calls, ...rest } = Object.fromEntries(Object.entries(world).filter(([, value]) => typeof value !== "function"))
  const told = (calls as Site["world"]["calls"]).filter(({ method, action }) => method === "dispatch" && action?.kind === "guest")
  return serialize([store, rest, told, clock.now()]).toString("latin1")
}

/**
 * What a process may leave that dies before or after any call of an operation. The same operation is performed only once: a process that
 * dies leaves nothing but the site as it is at that moment.
 */
export const remains = async (operation: AccessOperation): Promise<readonly Remains[]> => {
  const { gate, process, site, watch, others } = await open()
  const left = new Map<string, Remains>()
  const note = (when: "before" | "after", nth: number): void => {
    const key = fingerprint(site)
    if (left.has(key)) return
    const copy = copySite(site)
    left.set(key, { when: `${when} call ${nth}, ${gate.trace.at(-1)}`, site: copy, others: () => others(copy) })
  }
  gate.arm({ onCall: (nth) => note("before", nth), onEffect: (nth) => note("after", nth) })
  await perform(process, operation, watch)
  await stop(process)
  return [...left.values()]
}

/** Starts the service over what a dead process left; returns the problems. */
export const restarted = async ({ site, others }: Remains): Promise<readonly string[]> => {
  const silent = await silences(site)
  const process = boot(site, { background: true })
  await waitForRangeRuns(process)
  await sleep(process, withinSeconds)
  const problems = await problemsOf(site, process)
  await stop(process)
  return [...silent, ...problems, ...others()]
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
