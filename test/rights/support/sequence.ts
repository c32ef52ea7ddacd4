import { anyOperation } from "./any-operation.ts"
import { type Interruption, interruptions, makeCallGate } from "./call-gate.ts"
import { problemsOf, silences } from "./facts.ts"
import { makeLab } from "./lab.ts"
import { type Chance, makeRandom } from "./random.ts"
import { waitForRangeRuns, withinSeconds } from "./scene.ts"
import { boot, type Process, type Site, sleep, stop } from "./site.ts"
import { perform, type Watch, watchRevocations } from "./watch.ts"

const hour = 3600
/** Longer than any wait, except for a process that stalls. */
const patienceSeconds = 900
const mostCalls = 30
const mostWait = 40

const pauses: readonly Interruption[] = ["hangs before", "hangs after"]

/** The one or two processes of a sequence over one store, and their unanswered operations. */
const makeService = (site: Site, watch: Watch, chance: Chance, aheads: readonly number[], told: (line: string) => void) => {
  const start = (nth: number): Process => {
    const process = boot(site, {
      gate: makeCallGate(site.clock.stir),
      owner: `service ${nth}`,
      background: true,
      ahead: aheads[nth] ?? 0,
    })
    // a process starts when it is first used
    void sleep(process, 0).catch(() => undefined)
    return process
  }
  const processes = aheads.map((_, nth) => start(nth))
  const at = (nth: number): Process => {
    const process = processes[nth]
    if (process === undefined) throw new Error(`there is no process ${nth}`)
    return process
  }
  const unanswered = new Set<Promise<void>>()
  return {
    all: [...aheads.keys()],
    at,
    unanswered,
    isWell: (nth: number): boolean => !at(nth).gate.dead() && !at(nth).gate.hangs(),
    revive: async (nth: number): Promise<void> => {
      if (!at(nth).gate.dead()) return
      told(`process ${nth} starts again`)
      await stop(at(nth))
      processes[nth] = start(nth)
    },
    wake: (nth: number): void => {
      if (!at(nth).gate.hangs()) return
      told(`process ${nth} wakes`)
      at(nth).gate.wake()
    },
    /** Performs a random change on a process. */
    begin: (nth: number): Promise<void> => {
      const operation = anyOperation(site, chance)
      told(`process ${nth}: ${operation.name}`)
      const answered = perform(at(nth), operation, watch).then((answer) => {
        const came = answer === undefined ? "nothing to do it to" : answer.ok ? "done" : (answer.fault?.message ?? "no answer")
        told(`process ${nth}: ${operation.call.id}: ${came}`)
        unanswered.delete(answered)
      })
      unanswered.add(answered)
      return answered
    },
  }
}

/**
 * Random changes of access, in an order that the seed decides, on one or two processes that die, stall and come back, whose calls fail, and
 * whose hypervisor becomes unreachable. `told` receives what happens. Returns the problems half a minute after everything works again.
 */
export const sequence = async (seed: number, told: (line: string) => void = () => undefined): Promise<readonly string[]> => {
  const chance = makeRandom(seed)
  const site = await makeLab()
  const watch = watchRevocations(site)
  const aheads = chance.chance(0.4) ? [0, chance.one([-hour, 0, hour])] : [0]
  const service = makeService(site, watch, chance, aheads, told)
  const kinds = aheads.length > 1 ? [...interruptions, ...pauses] : interruptions
  let paused = false

  const steps = 5 + chance.below(11)
  for (let step = 0; step < steps; step++) {
    for (const nth of service.all) {
      if (chance.chance(0.7)) await service.revive(nth)
      if (chance.chance(0.4)) service.wake(nth)
    }
    let well = service.all.filter(service.isWell)
    if (well.length === 0) {
      for (const nth of service.all) {
        await service.revive(nth)
        service.wake(nth)
      }
      well = service.all
    }
    const [nth, other] = [well[chance.below(well.length)] ?? 0, well[chance.below(well.length)] ?? 0]
    const how = chance.chance(0.4) ? kinds[chance.below(kinds.length)] : undefined
    const at = 1 + chance.below(mostCalls)
    const secondAt = chance.chance(0.35) ? 1 + chance.below(20) : undefined
    const awayFrom = chance.chance(0.08) ? 1 + chance.below(20) : undefined
    if (how !== undefined) told(`process ${nth}: call ${at} ${how}`)
    if (awayFrom !== undefined) told(`the hypervisor is unreachable from call ${awayFrom}`)
    if (how !== undefined && pauses.includes(how)) paused = true
    const process = service.at(nth)
    process.gate.arm({
      ...(how === undefined ? {} : { at, how }),
      onCall: (call) => {
        if (call === secondAt) void service.begin(other)
        if (call === awayFrom) site.world.fault = () => ({ when: "before", reason: "away" })
      },
    })
    await Promise.race([service.begin(nth), process.gate.struck, sleep(process, patienceSeconds).catch(() => undefined)])
    process.gate.arm()
    if (chance.chance(0.3))
      await Promise.race([sleep(process, chance.below(mostWait)).catch(() => undefined), process.gate.struck])
    if (chance.chance(0.7)) site.world.fault = () => undefined
  }

  site.world.fault = () => undefined
  for (const nth of service.all) {
    await service.revive(nth)
    service.at(nth).gate.arm()
    service.wake(nth)
  }
  told("all are well")
  const late = sleep(service.at(0), patienceSeconds).then(() => ["an operation was not answered"])
  const problems = [...(await Promise.race([Promise.all(service.unanswered).then(() => []), late])), ...(await silences(site))]
  await waitForRangeRuns(service.at(0))
  await sleep(service.at(0), withinSeconds)
  // a worker that wakes up late may grant something for a moment, but it must not stay
  problems.push(...(await problemsOf(site)), ...(paused ? [] : watch.undone))
  for (const nth of service.all) await stop(service.at(nth))
  return problems
}
