import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { type Fields, list, rows, text } from "../wire/read.ts"
import { has } from "./faults.ts"

/** Parent pools that exist only for the pools nested in them; each is removed with the last pool below it. */
const folderComment = "rangewright folder"
export const rangeComment = "rangewright range"

/** The pool with its members; undefined when it does not exist. */
export const findPool = (client: PveClient, poolid: string, doing: string): Effect.Effect<Fields | undefined, HypervisorFault> =>
  client.get("/pools", { poolid }, { doing }).pipe(
    Effect.map((reply) => rows(reply.data).find((row) => text(row, "poolid") === poolid)),
    Effect.catchIf(has("not-found"), () => Effect.succeed(undefined)),
  )

/** The pool's comment; undefined when it does not exist. */
const readPool = (client: PveClient, poolid: string, doing: string): Effect.Effect<string | undefined, HypervisorFault> =>
  Effect.map(findPool(client, poolid, doing), (row) => row && (text(row, "comment") ?? ""))

/** Members of a pool: VMs, containers and storages; empty when the pool does not exist. */
export const membersOf = (client: PveClient, poolid: string, doing: string): Effect.Effect<readonly Fields[], HypervisorFault> =>
  Effect.map(findPool(client, poolid, doing), (row = {}) => list(row, "members"))

export const poolExists = (client: PveClient, poolid: string): Effect.Effect<boolean, HypervisorFault> =>
  Effect.map(readPool(client, poolid, `look for pool ${poolid}`), (comment) => comment !== undefined)

const parentsOf = (poolid: string): readonly string[] => {
  const parts = poolid.split("/")
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"))
}

const create = (client: PveClient, poolid: string, comment: string, doing: string): Effect.Effect<void, HypervisorFault> =>
  client.post("/pools", { poolid, comment }, { doing }).pipe(
    Effect.asVoid,
    Effect.catchIf(has("taken"), () => Effect.void),
  )

/** Creates the pool and its missing parents. A pool that was only a folder becomes a range's pool. */
export const ensurePool = Effect.fnUntraced(function* (
  client: PveClient,
  poolid: string,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `create pool ${poolid}`
  for (const parent of parentsOf(poolid)) {
    if ((yield* readPool(client, parent, doing)) === undefined) yield* create(client, parent, folderComment, doing)
  }
  yield* create(client, poolid, rangeComment, doing)
  if ((yield* readPool(client, poolid, doing)) === folderComment)
    yield* client.put("/pools", { poolid, comment: rangeComment }, { doing })
})

const containsPool = /contains pool/u

/** Removes the pool, its rights, and empty parent folders. Fails when it has members, and with `not-ours` when it has nested pools. */
export const removePool = Effect.fnUntraced(function* (
  client: PveClient,
  poolid: string,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `remove pool ${poolid}`
  const remove = (id: string) =>
    client.remove("/pools", { poolid: id }, { doing }).pipe(
      Effect.asVoid,
      Effect.catchIf(has("not-found"), () => Effect.void),
    )
  // VMs leave a pool by themselves once they are deleted; a nested pool does not
  yield* remove(poolid).pipe(
    Effect.mapError((fault) =>
      fault.facts.reason === "failed" && containsPool.test(fault.facts.detail ?? "")
        ? new HypervisorFault({ ...fault.facts, reason: "not-ours", hint: "Remove the pools below it first." })
        : fault,
    ),
  )
  for (const parent of parentsOf(poolid).toReversed()) {
    if ((yield* readPool(client, parent, doing)) !== folderComment) return
    const gone = yield* Effect.result(remove(parent))
    // another range's pool is nested in it
    if (gone._tag === "Failure" && gone.failure.facts.reason === "failed") return
    if (gone._tag === "Failure") return yield* Effect.fail(gone.failure)
  }
})

/** The same for a pool whose removal nobody requested: only one that the service created for a range is removed (`not-ours`). */
export const removeRangePool = Effect.fnUntraced(function* (
  client: PveClient,
  poolid: string,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `remove pool ${poolid}`
  const comment = yield* readPool(client, poolid, doing)
  if (comment !== undefined && comment !== rangeComment)
    return yield* new HypervisorFault({ doing, reason: "not-ours", detail: "the service did not create it" })
  yield* removePool(client, poolid)
})
