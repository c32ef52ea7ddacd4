import { PveError } from "./errors.ts"
import { sleep, start, type Routine } from "./routine.ts"
import type { NodeState, TaskRecord } from "./state.ts"
import { nowSeconds, type World } from "./world.ts"

/** The user who starts a task, with the token if one was used. */
export interface Author {
  readonly user: string
  readonly tokenid: string | undefined
}

/** A task's type and id, and who started it. */
export interface TaskRequest {
  readonly node: string
  readonly type: string
  readonly id: string
  readonly author: Author
}

/** Functions for the body of a task. */
export interface TaskHandle {
  readonly record: TaskRecord
  readonly log: (line: string) => void
  /** Adds a warning: the task ends in `WARNINGS: n`. */
  readonly warn: (line: string) => void
}

const hex8 = (n: number): string => n.toString(16).toUpperCase().padStart(8, "0")

/** How many tasks of a node the cluster-wide list shows, unless more are running. */
const RECENT_PER_NODE = 25

/**
 * Starts a worker and returns its UPID at once. The work begins after this instant, like a forked process, so two requests at the same
 * instant are both accepted before either has an effect.
 */
export const startTask = (world: World, request: TaskRequest, body: (task: TaskHandle) => Routine<void>): string => {
  const { state, clock } = world
  const node = state.nodes.get(request.node)
  if (node === undefined) throw new PveError(500, `no such cluster node '${request.node}'`)
  const pid = state.nextPid++
  const starttime = nowSeconds(world)
  const pstart = Math.floor(Math.max(0, clock.now() - node.bootedAt) / 10)
  const authId = request.author.tokenid === undefined ? request.author.user : `${request.author.user}!${request.author.tokenid}`
  const upid = `UPID:${request.node}:${hex8(pid)}:${hex8(pstart)}:${hex8(starttime)}:${request.type}:${request.id}:${authId}:`
  const record: TaskRecord = {
    upid,
    node: request.node,
    pid,
    pstart,
    starttime,
    type: request.type,
    id: request.id,
    user: request.author.user,
    tokenid: request.author.tokenid,
    log: [],
    exitstatus: undefined,
    endtime: undefined,
  }
  state.tasks.set(upid, record)
  node.tasks.push(upid)
  forgetOldest(world, node)
  world.trace.add(clock.now(), `start ${upid}`)
  const fault = world.faults.takeTaskFault(request)
  if (fault?.kind === "vanish-task") {
    state.tasks.delete(upid)
    node.tasks.pop()
  }
  const cancelStart = clock.schedule(0, () => {
    world.running.delete(upid)
    run(world, record, body, fault)
  })
  world.running.set(upid, {
    interrupt: (error) => {
      cancelStart()
      finish(world, record, error.message)
    },
    kill: cancelStart,
  })
  return upid
}

const run = (
  world: World,
  record: TaskRecord,
  body: (task: TaskHandle) => Routine<void>,
  fault: ReturnType<World["faults"]["takeTaskFault"]>,
): void => {
  if (fault?.kind === "vanish-task" && fault.when === "before") return
  let warnings = 0
  const handle: TaskHandle = {
    record,
    log: (line) => void record.log.push(line),
    warn: (line) => {
      warnings += 1
      record.log.push(`WARN: ${line}`)
    },
  }
  if (fault?.kind === "fail-task" && fault.when === "before") return finish(world, record, fault.text)
  let ended = false
  const process = start(
    body(handle),
    () => {
      ended = true
      const status = warnings > 0 ? `WARNINGS: ${warnings}` : "OK"
      finish(world, record, fault?.kind === "fail-task" ? fault.text : status)
    },
    (error) => {
      ended = true
      finish(world, record, error instanceof Error ? error.message : String(error))
    },
  )
  if (!ended) world.running.set(record.upid, process)
}

const finish = (world: World, record: TaskRecord, exitstatus: string): void => {
  world.running.delete(record.upid)
  const status = exitstatus.split("\n")[0]!
  const tasks = world.state.nodes.get(record.node)?.tasks ?? []
  const at = tasks.lastIndexOf(record.upid)
  if (at >= 0) tasks.push(...tasks.splice(at, 1))
  record.exitstatus = status
  record.endtime = nowSeconds(world)
  const warnings = status.startsWith("WARNINGS: ")
  record.log.push(status === "OK" ? "TASK OK" : warnings ? `TASK ${status}` : `TASK ERROR: ${status}`)
  world.trace.add(world.clock.now(), `end ${record.upid} ${status}`)
}

/** How many tasks of a node are kept; beyond that, the oldest finished ones are dropped, a tenth at a time. */
const REMEMBERED = 50_000

const forgetOldest = (world: World, node: NodeState): void => {
  if (node.tasks.length <= REMEMBERED) return
  const old = node.tasks.slice(0, REMEMBERED / 10).filter((upid) => world.state.tasks.get(upid)?.exitstatus !== undefined)
  for (const upid of old) world.state.tasks.delete(upid)
  const kept = node.tasks.filter((upid) => world.state.tasks.has(upid))
  node.tasks.length = 0
  for (const upid of kept) node.tasks.push(upid)
}

/** Waits some seconds for a task; returns how it ended, or undefined if it still runs. */
export function* awaitTask(world: World, upid: string, seconds: number): Routine<string | undefined> {
  const last = world.clock.now() + seconds * 1000
  while (world.running.has(upid) && world.clock.now() < last) yield* sleep(world.clock, Math.min(100, last - world.clock.now()))
  return world.state.tasks.get(upid)?.exitstatus
}

/** Whether a task ended well, perhaps with warnings. */
export const isGoodEnd = (exitstatus: string): boolean => exitstatus === "OK" || exitstatus.startsWith("WARNINGS: ")

/** Ends a running task like a signal; false if it is not running. */
export const stopTask = (world: World, upid: string): boolean => {
  const process = world.running.get(upid)
  if (process === undefined) return false
  process.interrupt(new Error("received interrupt"))
  return true
}

/** Ends all tasks of a node that loses power; their logs stay incomplete. */
export const killTasksOf = (world: World, node: string): void => {
  for (const [upid, process] of world.running) {
    const record = world.state.tasks.get(upid)
    if (!upid.startsWith(`UPID:${node}:`)) continue
    world.running.delete(upid)
    process.kill()
    if (record === undefined) continue
    record.exitstatus = "unexpected status"
    record.endtime = nowSeconds(world)
  }
}

/**
 * The tasks in the cluster-wide list, newest first: of each online node all running ones, and finished ones up to 25 in total.
 */
export const recentTasks = (world: World): TaskRecord[] => {
  const out: TaskRecord[] = []
  for (const node of world.state.nodes.values()) {
    if (world.faults.isNodeDown(node.name)) continue
    let running = 0
    for (const upid of world.running.keys()) if (upid.startsWith(`UPID:${node.name}:`)) running += 1
    let finished = Math.max(0, RECENT_PER_NODE - running)
    for (let i = node.tasks.length - 1; i >= 0 && (finished > 0 || running > 0); i -= 1) {
      const record = world.state.tasks.get(node.tasks[i]!)
      if (record === undefined) continue
      const runs = record.exitstatus === undefined
      if (runs) running -= 1
      else if (finished > 0) finished -= 1
      else continue
      out.push(record)
    }
  }
  return out.toSorted((a, b) => b.starttime - a.starttime)
}
