import { type AccountId, isRangeId, isServiceGroup, type ObservedAccess, ownRealm, placePath } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import type { ServiceAccount } from "../client/credentials.ts"
import { type Fields, listed, text, words } from "../wire/read.ts"
import { accountIn, obstacleOf, ourComment } from "./account.ts"
import { has } from "./faults.ts"
import { isAccountName, isGroupName } from "./names.ts"
import { blindness, ownEntries, ownRightsIn, pathsToRemake, pathsToSee, readOwnRights, remakeObstacle } from "./own-rights.ts"
import { rangeComment } from "./pools.ts"
import { ownRightsBySubject, grantedPlace, rightsIn } from "./rights.ts"

/** The names in a list with their comments. */
const commentsBy = (list: readonly Fields[], key: string): readonly (readonly [name: string, comment: string | undefined])[] =>
  list.flatMap((row) => {
    const name = text(row, key)
    return name === undefined ? [] : [[name, text(row, "comment")] as const]
  })

const aliasOf = (row: Fields): readonly (readonly [string, string])[] => {
  const [zone, name] = [text(row, "zone"), text(row, "vnet")]
  if (zone === undefined || name === undefined) return []
  return [[placePath({ type: "vnet", zone, name }), (text(row, "alias") ?? "").trim()]]
}

/** Reads everything about access, each list in one call regardless of size. Fails when Proxmox would leave something out. */
export const observeAccess = Effect.fnUntraced(function* (
  client: PveClient,
  self: ServiceAccount,
  zone: string | undefined,
): Effect.fn.Return<ObservedAccess, HypervisorFault> {
  const doing = "read accounts, groups, pools and rights"
  // an answer that is not a list would look like a hypervisor without accounts
  const read = (path: string, params: { readonly full?: boolean } = {}): Effect.Effect<readonly Fields[], HypervisorFault> =>
    Effect.flatMap(client.get(path, params, { doing }), (reply) => {
      const found = listed(reply.data)
      return found === undefined
        ? Effect.fail(new HypervisorFault({ doing, reason: "away", detail: `the answer to GET ${path} is not a list` }))
        : Effect.succeed(found)
    })
  const [users, groups, acl, pools, vnets] = yield* Effect.all(
    [
      read("/access/users", { full: true }),
      read("/access/groups"),
      read("/access/acl"),
      read("/pools"),
      // a node without SDN has no VNets
      read("/cluster/sdn/vnets").pipe(Effect.catchIf(has("invalid"), () => Effect.succeed([]))),
    ],
    { concurrency: "unbounded" },
  )
  // realms may be case-insensitive
  const me = users.find((row) => text(row, "userid")?.toLowerCase() === self.id.toLowerCase())
  const rights = rightsIn(acl)
  const entries = ownEntries(rights, self, me === undefined ? [] : words(me, "groups"))
  const own = ownRightsBySubject(rights)
  const others = (id: string) => (own.get(id) ?? []).filter((right) => grantedPlace(right) === undefined)
  const remade = self.byToken ? pathsToRemake(ownRealm, [...own.keys()].filter((id) => id !== self.id).flatMap(others)) : []
  const paths = new Set([...pathsToSee(entries, zone), ...remade])
  const holds = ownRightsIn(yield* readOwnRights(client, paths, doing), entries)
  // a token that may not list accounts does not see its own user either
  const blind = blindness(holds, entries, self, zone, doing)
  if (blind !== undefined) return yield* blind
  if (me === undefined)
    return yield* new HypervisorFault({
      doing,
      reason: "failed",
      detail: `the list of accounts lacks the service's own, ${self.id}, so more may be missing`,
      hint: "Check what GET /access/users returns to the service.",
    })
  const accounts = users.flatMap((row) => {
    const id = text(row, "userid")
    if (id === undefined || !isAccountName(id) || id === self.id) return []
    const account = accountIn(row)
    const keep = { groups: account.groups.filter((group) => !isServiceGroup(group)), rights: own.get(id) ?? [] }
    const remake = remakeObstacle(holds, self, ownRealm, others(id))
    const passwordObstacle = self.byToken ? obstacleOf(id as AccountId, account, remake) : undefined
    return [[id as AccountId, { ours: account.ours, groups: account.groups, passwordObstacle, keep }] as const]
  })
  return {
    accounts: new Map(accounts),
    groups: new Map(
      commentsBy(groups, "groupid").flatMap(([name, comment]) => (isGroupName(name) ? [[name, comment === ourComment]] : [])),
    ),
    pools: new Map(
      commentsBy(pools, "poolid").flatMap(([id, comment]) => (isRangeId(id) ? [[id, comment === rangeComment]] : [])),
    ),
    vnets: new Map(vnets.flatMap(aliasOf)),
    rights: rights.flatMap(({ path, role, type, subject, propagate }) => {
      const isOwn = type === "token" ? subject.startsWith(`${self.id}!`) : type === "user" && subject === self.id
      return isOwn ? [] : [{ path, role, subject: { type, name: subject }, propagate }]
    }),
  }
})
