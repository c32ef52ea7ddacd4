import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { statusOutcome } from "../tasks/outcome.ts"
import { parseUpid, type Upid } from "../tasks/upid.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { type Fields, recordOf, rows, text } from "../wire/read.ts"

/** Longest wait: an apply that hangs must not stop everybody else. */
const patienceSeconds = 120

/** An apply of the SDN, or the reload of one node's network. */
const isApply = (row: Fields): boolean =>
  text(row, "type") === "reloadnetworkall" || (text(row, "type") === "srvreload" && text(row, "id") === "networking")

/** Waits for the applies that are in progress now. True: there were some, so what is pending has to be read again. */
export type AwaitOtherApplies = (doing: string) => Effect.Effect<boolean, HypervisorFault>

/**
 * Sees applies of other instances of the service, of this one before its restart, and of people, as far as its account may see their tasks.
 * Two that begin at the same moment do not see each other.
 */
export const makeOtherApplies = (client: PveClient, awaitTask: AwaitTask): AwaitOtherApplies => {
  /** Asked of its node, because the cluster's list shows the end of a task late. */
  const hasEnded = ({ node, text: upid }: Upid, doing: string) =>
    Effect.map(
      client.get(path`/nodes/${node}/tasks/${upid}/status`, {}, { doing }),
      (reply) => statusOutcome(recordOf(reply.data)) !== undefined,
    )
  const settled = Effect.fnUntraced(function* (upid: Upid, doing: string) {
    // what cannot be asked about, such as a task of a node that is down, is not waited for
    if (yield* Effect.orElseSucceed(hasEnded(upid, doing), () => true)) return false
    yield* Effect.ignore(Effect.timeoutOption(awaitTask(upid), `${patienceSeconds} seconds`))
    return true
  })
  return Effect.fnUntraced(function* (doing) {
    const tasks = rows((yield* client.get("/cluster/tasks", {}, { doing })).data)
    const going = tasks.filter((row) => isApply(row) && text(row, "endtime") === undefined)
    const upids = going.flatMap((row) => parseUpid(text(row, "upid")) ?? [])
    const waited = yield* Effect.forEach(upids, (upid) => settled(upid, doing), { concurrency: "unbounded" })
    return waited.includes(true)
  })
}
