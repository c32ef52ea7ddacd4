import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { type Fields, list, rows, text } from "../wire/read.ts"
import { has } from "./faults.ts"

/** Pools above a nested one that exist for nothing else; they go when the last one below them goes. */
const folderComment = "rangewright folder"
export const rangeComment = "rangewright range"

/** The pool with its members; undefined where there is none. */
export const findPool = (client: PveClient, poolid: string, doing: string): Effect.Effect<Fields | undefined, HypervisorFault> =>
  client.get("/pools", { poolid }, { doing }).pipe(
    Effect.map((reply) => rows(reply.data).find((row) => text(row, "poolid") === poolid)),
    Effect.catchIf(has("not-found"), () => Effect.succeed(undefined)),
  )

/** The pool's comment; undefined when there is no such pool. */
const readPool = (client: PveClient, poolid: string, doing: string): Effect.Effect<string | undefined, HypervisorFault> =>
  Effect.map(findPool(client, poolid, doing), (row) => row && (text(row, "comment") ?? ""))

/** What is in a pool: VMs, containers and storages; nothing when there is no such pool. */
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

/** Makes the pool, and the ones above it that are missing: a parent must exist. One that was a folder until now is a range's. */
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

/** Removes the pool, its rights with it, and the folders above that are empty now. Members stop it, as do pools below it (`not-ours`). */
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
  // members leave a pool by themselves once their VMs are gone; another pool below it does not
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
    // another range lives below it
    if (gone._tag === "Failure" && gone.failure.facts.reason === "failed") return
    if (gone._tag === "Failure") return yield* Effect.fail(gone.failure)
  }
})

/** The same for a pool that nobody asked to be removed: only one that the service made for a range is (`not-ours`). */
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
