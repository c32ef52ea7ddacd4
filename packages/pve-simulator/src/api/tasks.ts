import { badParameter } from "../core/errors.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { TaskRecord } from "../core/state.ts"
import { recentTasks, stopTask } from "../core/tasks.ts"
import { flag, nodeOf, optionalNumber, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"

const upidShape =
  /^UPID:([a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8}):([^:\s]+):([^:\s]*):([^:\s]+):$/

const parsed = (call: Call): string => {
  const upid = text(call, "upid")
  if (!upidShape.test(upid)) throw badParameter({ upid: "unable to parse worker upid" })
  return upid
}

/** A task is visible to the user or token that started it, to the token's user, and to auditors of its node. */
const isVisible = (call: Call, task: TaskRecord): boolean => {
  const { identity } = call
  const own = task.user === identity.user && (identity.tokenid === undefined || task.tokenid === identity.tokenid)
  return own || may(call.world, identity, `/nodes/${task.node}`, ["Sys.Audit"])
}

/** The task of a call about a single task; fails if the caller may not see it. */
const taskOf = (call: Call): TaskRecord | undefined => {
  const task = call.world.state.tasks.get(parsed(call))
  if (task !== undefined && !isVisible(call, task)) demand(call.world, call.identity, `/nodes/${task.node}`, ["Sys.Audit"])
  return task
}

const described = (task: TaskRecord) => ({
  upid: task.upid,
  node: task.node,
  pid: task.pid,
  pstart: task.pstart,
  starttime: task.starttime,
  type: task.type,
  id: task.id,
  user: task.user,
  ...(task.tokenid === undefined ? {} : { tokenid: task.tokenid }),
})

const status = (call: Call) => {
  const task = taskOf(call)
  if (task === undefined) throw badParameter({ upid: "no such task" })
  return {
    ...described(task),
    ...(task.exitstatus === undefined ? { status: "running" } : { status: "stopped", exitstatus: task.exitstatus }),
  }
}

const log = (call: Call): unknown => {
  const task = taskOf(call)
  const lines = task?.log ?? ["unable to open file - No such file or directory"]
  const from = optionalNumber(call, "start") ?? 0
  const limit = optionalNumber(call, "limit") ?? 50
  call.beside["total"] = lines.length
  const shown = lines.slice(from, limit === 0 ? undefined : from + limit)
  return shown.length === 0 && lines.length === 0 ? [{ n: 1, t: "no content" }] : shown.map((t, i) => ({ n: from + i + 1, t }))
}

function* stop(call: Call): Routine<null> {
  const task = taskOf(call)
  if (task !== undefined && task.user !== call.identity.user)
    demand(call.world, call.identity, `/nodes/${task.node}`, ["Sys.Modify"])
  if (task !== undefined) stopTask(call.world, task.upid)
  yield* sleep(call.world.clock, 0)
  return null
}

const statusKind = (exitstatus: string): string =>
  exitstatus === "OK"
    ? "ok"
    : exitstatus.startsWith("WARNINGS: ")
      ? "warning"
      : exitstatus === "unexpected status"
        ? "unknown"
        : "error"

const list = (call: Call): unknown[] => {
  const node = nodeOf(call)
  const source = optionalText(call, "source") ?? "archive"
  const vmid = optionalText(call, "vmid")
  const type = optionalText(call, "typefilter")
  const user = optionalText(call, "userfilter")
  const since = optionalNumber(call, "since")
  const until = optionalNumber(call, "until")
  const statuses = splitList(optionalText(call, "statusfilter") ?? "").map((each) => each.toLowerCase())
  const wanted = (task: TaskRecord): boolean =>
    (source === "all" || (source === "active") === (task.exitstatus === undefined)) &&
    (vmid === undefined || task.id === vmid) &&
    (type === undefined || task.type === type) &&
    (user === undefined || task.user.toLowerCase().includes(user.toLowerCase())) &&
    (since === undefined || task.starttime >= since) &&
    (until === undefined || task.starttime <= until) &&
    (!flag(call, "errors") || (task.exitstatus !== undefined && task.exitstatus !== "OK")) &&
    (statuses.length === 0 || (task.exitstatus !== undefined && statuses.includes(statusKind(task.exitstatus)))) &&
    isVisible(call, task)
  const found: TaskRecord[] = []
  for (let i = node.tasks.length - 1; i >= 0; i -= 1) {
    const task = call.world.state.tasks.get(node.tasks[i]!)
    if (task !== undefined && wanted(task)) found.push(task)
  }
  call.beside["total"] = found.length
  const from = optionalNumber(call, "start") ?? 0
  return found.slice(from, from + (optionalNumber(call, "limit") ?? 50)).map(listed)
}

/** A task in lists. A finished one has its end; a running one has the token as part of its user. */
const listed = (task: TaskRecord) => {
  const { tokenid, ...shown } = { tokenid: undefined, ...described(task) }
  if (task.exitstatus === undefined)
    return { ...shown, user: tokenid === undefined ? task.user : `${task.user}!${tokenid}`, status: "RUNNING", saved: "0" }
  return { ...described(task), status: task.exitstatus, endtime: task.endtime }
}

const clusterList = (call: Call): unknown[] =>
  recentTasks(call.world)
    .filter((task) => isVisible(call, task))
    .map((task) => {
      const { pstart: _, ...shown } = described(task)
      if (task.exitstatus === undefined) return { ...shown, saved: "0" }
      const { pid: __, ...finished } = shown
      return { ...finished, status: task.exitstatus, endtime: task.endtime, saved: "1" }
    })

/** Tasks: lists, status, logs, stopping. */
export const taskRoutes: Routes = {
  "GET /cluster/tasks": clusterList,
  "GET /nodes/{node}/tasks": list,
  "GET /nodes/{node}/tasks/{upid}": () => [{ name: "status" }, { name: "log" }],
  "GET /nodes/{node}/tasks/{upid}/status": status,
  "GET /nodes/{node}/tasks/{upid}/log": log,
  "DELETE /nodes/{node}/tasks/{upid}": stop,
}
