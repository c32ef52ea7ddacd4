import { routes } from "./api/routes.ts"
import { createRealClock, type SimClock } from "./core/clock.ts"
import { buildTemplates, initialState, seededSecret, shippedTemplates, type TemplateSpec } from "./core/initial.ts"
import type { Guest, State } from "./core/state.ts"
import { timingWith, type Timing } from "./core/timing.ts"
import type { Trace } from "./core/trace.ts"
import { createWorld, type World } from "./core/world.ts"
import { CallLog } from "./faults/calls.ts"
import { FaultPlan } from "./faults/plan.ts"
import { handle, type Api } from "./http/handle.ts"
import type { SimRequest, SimResponse } from "./http/message.ts"

/** What a simulator is made of; everything has a default. */
export interface SimulatorOptions {
  /** How many nodes, or their names. One node is called `pve`, several `pve1`, `pve2`, … Default 1. */
  readonly nodes?: number | readonly string[]
  /** The same seed gives the same identifiers, MAC addresses and secrets. Default 1. */
  readonly seed?: number
  /** Real time, so many times as fast. Default 1; not together with `clock`. */
  readonly speed?: number
  /** Another source of time; a manual clock makes a simulator that only moves when told to. */
  readonly clock?: SimClock
  /** The templates in pool SHARED. Default: the shipped set. */
  readonly templates?: readonly TemplateSpec[]
  /** The VMID of the first template. Default 100. */
  readonly firstTemplateVmid?: number
  /** Figures of the timing model that differ from the default. */
  readonly timing?: Partial<Timing>
  /** The password of root@pam. Default: derived from the seed. */
  readonly rootPassword?: string
  /** Processor threads of a node. Default 64. */
  readonly cores?: number
  /** GiB of memory of a node. Default 512. */
  readonly memoryGib?: number
}

export interface Simulator {
  /** The whole REST surface as one function, without a socket. */
  readonly handle: (request: SimRequest) => Promise<SimResponse>
  readonly clock: SimClock
  /** The state as it is now; to be read. */
  readonly state: State
  readonly guest: (vmid: number) => Guest | undefined
  readonly faults: FaultPlan
  readonly calls: CallLog
  readonly trace: Trace
  /** The token of root@pam: `root@pam!simulator=…`, as it stands after `PVEAPIToken=`. */
  readonly rootToken: string
  readonly rootPassword: string
  readonly world: World
}

/** Makes a simulator. Nothing listens anywhere until it is told to. */
export const createSimulator = (options: SimulatorOptions = {}): Simulator => {
  const seed = options.seed ?? 1
  const clock = options.clock ?? createRealClock({ speed: options.speed ?? 1 })
  const rootPassword = options.rootPassword ?? seededSecret(seed, "password")
  const rootTokenSecret = seededSecret(seed, "token")
  const world = createWorld({
    state: initialState({
      nodes: options.nodes ?? 1,
      seed,
      now: clock.now(),
      rootPassword,
      rootTokenSecret,
      cores: options.cores ?? 64,
      memoryGib: options.memoryGib ?? 512,
    }),
    clock,
    timing: timingWith(options.timing),
    faults: new FaultPlan(),
  })
  buildTemplates(world, options.templates ?? shippedTemplates, options.firstTemplateVmid ?? 100)
  const api: Api = { world, routes, calls: new CallLog() }
  return {
    handle: (request) => handle(api, request),
    clock,
    get state() {
      return world.state
    },
    guest: (vmid) => world.state.guests.get(vmid),
    faults: world.faults,
    calls: api.calls,
    trace: world.trace,
    rootToken: `root@pam!simulator=${rootTokenSecret}`,
    rootPassword,
    world,
  }
}
