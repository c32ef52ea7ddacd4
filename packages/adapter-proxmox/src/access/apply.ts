import { type AccessChange, changeDoing, placePath, rolesAt } from "@rangewright/domain"
import { type HypervisorAccess, HypervisorFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import type { ServiceAccount } from "../client/credentials.ts"
import { number } from "../wire/read.ts"
import { accountChanges } from "./accounts.ts"
import { createGroup, removeGroup } from "./groups.ts"
import { ensurePool, membersOf, removeRangePool } from "./pools.ts"
import { writeRight } from "./rights.ts"

/** One call for each place: the API takes lists of roles and of groups. */
const grant = (client: PveClient, { place, groups }: Extract<AccessChange, { kind: "grant" }>, doing: string) =>
  Effect.asVoid(
    client.put(
      "/access/acl",
      { path: placePath(place), roles: rolesAt(place).join(","), groups: groups.join(","), propagate: true },
      { doing },
    ),
  )

/** One call for each subject: a subject that is gone must not keep the others from losing their rights. */
const revoke = Effect.fnUntraced(function* (
  client: PveClient,
  { place, subjects }: Extract<AccessChange, { kind: "revoke" }>,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  if (
    place.type === "machine" &&
    !(yield* membersOf(client, place.rangeId, doing)).some((row) => number(row, "vmid") === place.vmid)
  )
    return yield* new HypervisorFault({
      doing,
      reason: "not-ours",
      detail: `VM ${place.vmid} is not in the pool ${place.rangeId}`,
    })
  for (const { type, name: subject, roles = rolesAt(place) } of subjects)
    if (roles.length > 0)
      yield* writeRight(client, { path: placePath(place), role: roles.join(","), type, subject, propagate: true }, doing, {
        remove: true,
      })
})

/** Makes one change of access, for a service that acts as `self`. */
export const applyChange = (client: PveClient, self: ServiceAccount): Context.Service.Shape<typeof HypervisorAccess>["apply"] => {
  const accounts = accountChanges(client, self)
  return (change, password): Effect.Effect<void, HypervisorFault> => {
    const doing = changeDoing(change)
    switch (change.kind) {
      case "revoke":
        return revoke(client, change, doing)
      case "leave-groups":
        return accounts.leave(change)
      case "remove-account":
        return accounts.remove(change)
      case "remove-group":
        return removeGroup(client, change.group, doing)
      case "remove-pool":
        return removeRangePool(client, change.rangeId)
      case "create-group":
        return createGroup(client, change.group, doing)
      case "create-account":
        return accounts.create(change, password)
      case "join-groups":
        return accounts.join(change)
      case "set-password":
        return accounts.setPassword(change, password)
      case "restore":
        return accounts.restore(change)
      case "create-pool":
        return ensurePool(client, change.rangeId)
      case "grant":
        return grant(client, change, doing)
    }
  }
}
