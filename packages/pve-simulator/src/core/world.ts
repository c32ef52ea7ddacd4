import type { GuestBacking } from "../guest/backing.ts"
import type { SettableClock } from "./clock.ts"
import { Locks } from "./locks.ts"
import type { Running } from "./routine.ts"
import type { State } from "./state.ts"
import type { Timing } from "./timing.ts"
import { Trace } from "./trace.ts"
import type { FaultPlan } from "../faults/plan.ts"
import type { Screens } from "../screen/qemu.ts"
import type { Screen } from "../screen/screen.ts"

/** The API's processes of one daemon on one node: how many work, and how many requests wait for one. */
export interface WorkerLoad {
  busy: number
  waiting: number
  mostWaiting: number
  /** In simulated milliseconds. */
  longestWait: number
}

/** A console that waits for its viewer, or has one, or had one. */
export interface Console {
  readonly upid: string
  /** Undefined: a shell of the node. */
  readonly vmid: number | undefined
  readonly node: string
  readonly type: "vncproxy" | "termproxy"
  /** What a terminal's viewer says first. */
  readonly login: string
  /** What a screen's viewer must know. */
  readonly password: string
  viewer: "none" | "here" | "gone"
}

/** The running simulator: the plain state, and what moves it. One per simulator; everything mutates it on one thread. */
export interface World {
  state: State
  readonly clock: SettableClock
  readonly timing: Timing
  readonly locks: Locks
  readonly faults: FaultPlan
  readonly trace: Trace
  /** What stands behind guests; undefined: the simulator's own notion of them. */
  readonly backing: GuestBacking | undefined
  /** Tells the manager of high availability that there may be something to do. */
  wakeManager: () => void
  /** Tells the runner of jobs that there may be others, or another time for them. */
  wakeJobs: () => void
  /** The processes behind running tasks, by UPID. */
  readonly running: Map<string, Running>
  /** Timers of booting guests, by VMID; of queued boots none. */
  readonly boots: Map<number, () => void>
  /** VMIDs that wait to boot, by node. */
  readonly bootQueues: Map<string, number[]>
  /** Running stages: guest to the process that stops it. */
  readonly stages: Map<number, Map<number, Running>>
  /** Consoles that wait for their viewer or have one, by port. */
  readonly consoles: Map<number, Console>
  /** The built-in screens of guests that run and were looked at, by VMID. */
  readonly pictures: Map<number, Screen>
  /** What shows other screens; undefined: the built-in ones are shown. */
  readonly screens: Screens | undefined
  /** Network cards (`110 net0`) that are just being moved. */
  readonly unplugged: Set<string>
  /** SHA-256 fingerprint of each node's certificate. */
  fingerprint: string
  certificate: string
  /** Rights resolved for a subject and path, and the pool of each member's path, valid for one version of the access state. */
  readonly rights: { version: number; readonly byKey: Map<string, ReadonlySet<string>>; readonly pools: Map<string, string[]> }
  /** Requests under way now and the most that ever were, by the node they name (`cluster`: none). */
  readonly inFlight: Map<string, { now: number; most: number }>
  /** The API's processes, by `node daemon`. */
  readonly workers: Map<string, WorkerLoad>
}

/** A world around a state, in which nothing runs yet. */
export const createWorld = (parts: {
  readonly state: State
  readonly clock: SettableClock
  readonly timing: Timing
  readonly faults: FaultPlan
  readonly backing: GuestBacking | undefined
  readonly screens?: Screens | undefined
}): World => ({
  ...parts,
  screens: parts.screens,
  locks: new Locks(parts.clock),
  trace: new Trace(),
  wakeManager: () => undefined,
  wakeJobs: () => undefined,
  running: new Map(),
  boots: new Map(),
  bootQueues: new Map(),
  stages: new Map(),
  consoles: new Map(),
  pictures: new Map(),
  unplugged: new Set(),
  fingerprint: "",
  certificate: "",
  rights: { version: -1, byKey: new Map(), pools: new Map() },
  inFlight: new Map(),
  workers: new Map(),
})

/** Seconds since the epoch. */
export const nowSeconds = (world: World): number => Math.floor(world.clock.now() / 1000)

/** A guest is off: nobody sees its screen any more, and what was typed is gone. */
export const darken = (world: World, vmid: number): void => {
  for (const close of world.pictures.get(vmid)?.closers ?? []) close()
  world.pictures.delete(vmid)
  world.screens?.end(vmid)
}
