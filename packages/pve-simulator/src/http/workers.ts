import { PveError } from "../core/errors.ts"
import { sleep, within, type Routine } from "../core/routine.ts"
import type { WorkerLoad, World } from "../core/world.ts"
import type { Method } from "../schema/schema.ts"

const never = (): Error => new Error("a request waits for its worker as long as it takes")

const loadOf = (world: World, pool: string): WorkerLoad => {
  const load = world.workers.get(pool) ?? { busy: 0, waiting: 0, mostWaiting: 0, longestWait: 0 }
  world.workers.set(pool, load)
  return load
}

/** Runs a request in a worker of the pool. A worker serves one request at a time; requests wait for a free one in order of arrival. */
function* inWorker<A>(world: World, pool: string, work: () => Routine<A>): Routine<A> {
  const { clock, timing } = world
  const load = loadOf(world, pool)
  const came = clock.now()
  const queued = load.busy >= timing.apiWorkers
  if (queued) load.waiting += 1
  load.mostWaiting = Math.max(load.mostWaiting, load.waiting)
  return yield* world.locks.slot(pool, timing.apiWorkers, Number.POSITIVE_INFINITY, never, function* (): Routine<A> {
    if (queued) load.waiting -= 1
    load.longestWait = Math.max(load.longestWait, clock.now() - came)
    load.busy += 1
    try {
      if (timing.request > 0) yield* sleep(clock, timing.request)
      return yield* work()
    } finally {
      load.busy -= 1
    }
  })
}

/**
 * Serves a request in the right daemon: calls that need root on the node (`protected`) in its pvedaemon, all others in pveproxy; each has a
 * few workers. The daemon that got the request waits a while for the one to which it forwarded it; then it answers 596, and the call goes
 * on.
 */
export function* serve<A>(world: World, method: Method, node: string | undefined, work: () => Routine<A>): Routine<A> {
  const [home = ""] = world.state.nodes.keys()
  const place = node ?? home
  const served = inWorker(world, `${place} ${method.isProtected ? "pvedaemon" : "pveproxy"}`, work)
  if (!method.isProtected && place === home) return yield* served
  return yield* within(
    world.clock,
    world.timing.handOver,
    served,
    () => new PveError(596, "Connection timed out", { body: false }),
  )
}
