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

/** The workers of one API daemon on one node: how many are busy, and how many requests wait. */
export interface WorkerLoad {
  busy: number
  waiting: number
  mostWaiting: number
  /** In simulated milliseconds. */
  longestWait: number
}

/** A console that waits for its viewer, has one, or had one. */
export interface Console {
  readonly upid: string
  /** Undefined: a shell of the node. */
  readonly vmid: number | undefined
  readonly node: string
  readonly type: "vncproxy" | "termproxy"
  /** The first line that a terminal's viewer must send. */
  readonly login: string
  /** The password that a screen's viewer must know. */
  readonly password: string
  viewer: "none" | "here" | "gone"
}

/** The running simulator: the plain state, and everything that changes it. One per simulator; all changes are on one thread. */
export interface World {
  state: State
  readonly clock: SettableClock
  readonly timing: Timing
  readonly locks: Locks
  readonly faults: FaultPlan
  readonly trace: Trace
  /** The backing of guests; undefined: they are only simulated. */
  readonly backing: GuestBacking | undefined
  /** Wakes the high availability manager, because there may be something to do. */
  wakeManager: () => void
  /** Wakes the job runner, because jobs or the time may have changed. */
  wakeJobs: () => void
  /** The processes behind running tasks, by UPID. */
  readonly running: Map<string, Running>
  /** Timers of booting guests, by VMID; queued boots have none. */
  readonly boots: Map<number, () => void>
  /** VMIDs that wait to boot, by node. */
  readonly bootQueues: Map<string, number[]>
  /** Running stages, by guest. */
  readonly stages: Map<number, Map<number, Running>>
  /** Consoles that wait for their viewer or have one, by port. */
  readonly consoles: Map<number, Console>
  /** The built-in screens of running guests that were viewed, by VMID. */
  readonly pictures: Map<number, Screen>
  /** The provider of other screens; undefined: the built-in ones. */
  readonly screens: Screens | undefined
  /** Network cards (`110 net0`) that are being moved to another network. */
  readonly unplugged: Set<string>
  /** SHA-256 fingerprint of each node's certificate. */
  fingerprint: string
  certificate: string
  /** Cache of resolved rights by subject and path, and of the pools of each member's path; valid for one version of the access state. */
  readonly rights: { version: number; readonly byKey: Map<string, ReadonlySet<string>>; readonly pools: Map<string, string[]> }
  /** Requests in progress and their maximum so far, by the node in their path (`cluster`: none). */
  readonly inFlight: Map<string, { now: number; most: number }>
  /** The API's workers, by `node daemon`. */
  readonly workers: Map<string, WorkerLoad>
}

/** Creates a world for a state; nothing runs yet. */
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

/** Ends the screens of a guest that is off, and forgets its typed text. */
export const darken = (world: World, vmid: number): void => {
  for (const close of world.pictures.get(vmid)?.closers ?? []) close()
  world.pictures.delete(vmid)
  world.screens?.end(vmid)
}
