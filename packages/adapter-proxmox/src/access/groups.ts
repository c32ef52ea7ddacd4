import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { recordOf, rows, text } from "../wire/read.ts"
import { ourComment } from "./account.ts"
import { has } from "./faults.ts"

export const createGroup = (client: PveClient, groupid: string, doing: string): Effect.Effect<void, HypervisorFault> =>
  client.post("/access/groups", { groupid, comment: ourComment }, { doing }).pipe(
    Effect.asVoid,
    Effect.catchIf(has("taken"), () => Effect.void),
  )

/** Removes a group that the service created, with its rights. Succeeds when it is already gone. */
export const removeGroup = (client: PveClient, groupid: string, doing: string): Effect.Effect<void, HypervisorFault> =>
  Effect.gen(function* () {
    const reply = yield* client.get(path`/access/groups/${groupid}`, {}, { doing })
    if (text(recordOf(reply.data), "comment") !== ourComment)
      return yield* new HypervisorFault({ doing, reason: "not-ours", detail: "the service did not create it" })
    yield* client.remove(path`/access/groups/${groupid}`, {}, { doing })
  }).pipe(Effect.catchIf(has("not-found"), () => Effect.void))

/** Returns the groups that exist. */
export const groupsAmong = (
  client: PveClient,
  groups: readonly string[],
  doing: string,
): Effect.Effect<readonly string[], HypervisorFault> =>
  groups.length === 0
    ? Effect.succeed([])
    : Effect.map(client.get("/access/groups", {}, { doing }), (reply) => {
        const there = new Set(rows(reply.data).map((row) => text(row, "groupid")))
        return groups.filter((group) => there.has(group))
      })

/** Creates the missing groups. */
export const ensureGroups = Effect.fnUntraced(function* (
  client: PveClient,
  groups: readonly string[],
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const there = new Set(yield* groupsAmong(client, groups, doing))
  yield* Effect.forEach(
    groups.filter((group) => !there.has(group)),
    (group) => createGroup(client, group, doing),
    { discard: true },
  )
})
