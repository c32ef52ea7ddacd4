import { type HypervisorAccount, HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { child, type Fields, recordOf, rows, text, words } from "../wire/read.ts"
import { readRights, writeRight } from "./rights.ts"
import { adminGroup, userGroup } from "./roles.ts"

export const userIdOf = (account: HypervisorAccount): string => `${account.username}@${account.realm}`

/** Accounts that the service made say so; others are only added to the groups. */
const ourComment = "rangewright"

const isReason =
  (...reasons: readonly HypervisorFault["facts"]["reason"][]) =>
  (fault: HypervisorFault): boolean =>
    reasons.includes(fault.facts.reason)

const readUser = (client: PveClient, userid: string, doing: string): Effect.Effect<Fields | undefined, HypervisorFault> =>
  client.get(path`/access/users/${userid}`, {}, { doing }).pipe(
    Effect.map((reply): Fields | undefined => recordOf(reply.data)),
    Effect.catchIf(isReason("not-found"), () => Effect.succeed(undefined)),
  )

/** Makes the groups that are missing. */
export const ensureGroups = Effect.fnUntraced(function* (
  client: PveClient,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const reply = yield* client.get("/access/groups", {}, { doing })
  const have = new Set(rows(reply.data).map((row) => text(row, "groupid")))
  const missing = [userGroup, adminGroup].filter((groupid) => !have.has(groupid))
  yield* Effect.forEach(
    missing,
    (groupid) =>
      client
        .post("/access/groups", { groupid, comment: ourComment }, { doing })
        .pipe(Effect.catchIf(isReason("taken"), () => Effect.void)),
    { discard: true },
  )
})

/**
 * A token may not set passwords (facts c4), so the account is made anew with the new one, and its groups and rights written again. Only an
 * account of ours without tokens is: they would be lost.
 */
const recreate = Effect.fnUntraced(function* (
  client: PveClient,
  userid: string,
  password: string,
  user: Fields,
  refused: HypervisorFault,
): Effect.fn.Return<void, HypervisorFault> {
  const { doing } = refused.facts
  const tokens = Object.keys(child(user, "tokens")).length + rows(user["tokens"]).length
  if (text(user, "comment") !== ourComment || tokens > 0)
    return yield* new HypervisorFault({
      doing,
      reason: "forbidden",
      detail: `${userid} ${tokens > 0 ? "has API tokens" : "was not made by the service"}, and a password cannot be set with an API token`,
      hint: "Set it on the hypervisor (Datacenter > Permissions > Users), or give the service a user and password instead of a token.",
    })
  const rights = (yield* readRights(client, doing)).filter((right) => right.type === "user" && right.subject === userid)
  yield* client.remove(path`/access/users/${userid}`, {}, { doing })
  yield* client.post(
    "/access/users",
    { userid, password, groups: words(user, "groups").join(","), comment: ourComment, enable: true },
    { doing },
  )
  yield* Effect.forEach(rights, (right) => writeRight(client, right, doing), { discard: true })
})

/** Sets the password of an account that exists. */
export const setPassword = Effect.fnUntraced(function* (
  client: PveClient,
  account: HypervisorAccount,
  password: string,
): Effect.fn.Return<void, HypervisorFault> {
  const userid = userIdOf(account)
  const doing = `set the password of ${userid}`
  const user = yield* readUser(client, userid, doing)
  if (user === undefined) return yield* new HypervisorFault({ doing, reason: "not-found", detail: `${userid} does not exist` })
  const set = yield* Effect.result(client.put("/access/password", { userid, password }, { doing }))
  if (set._tag === "Success") return
  if (set.failure.facts.reason !== "forbidden") return yield* Effect.fail(set.failure)
  yield* recreate(client, userid, password, user, set.failure)
})

/** Makes the account with its groups, or brings one that exists to them; an account of ours also gets the password. */
export const ensureUser = Effect.fnUntraced(function* (
  client: PveClient,
  account: HypervisorAccount,
  password: string,
  admin: boolean,
): Effect.fn.Return<void, HypervisorFault> {
  const userid = userIdOf(account)
  const doing = `create the account ${userid}`
  yield* ensureGroups(client, doing)
  const groups = admin ? `${userGroup},${adminGroup}` : userGroup
  const existing = yield* readUser(client, userid, doing)
  if (existing === undefined) {
    // the password of an account outside the hypervisor's own realm is not its to set
    const secret = account.realm === "pve" ? { password } : {}
    const made = yield* Effect.result(
      client.post("/access/users", { userid, groups, comment: ourComment, enable: true, ...secret }, { doing }),
    )
    if (made._tag === "Success") return
    if (made.failure.facts.reason !== "taken") return yield* Effect.fail(made.failure)
  }
  yield* client.put(path`/access/users/${userid}`, { groups, append: true, enable: true }, { doing })
  if (account.realm === "pve" && text(existing ?? {}, "comment") === ourComment) yield* setPassword(client, account, password)
})

/** Puts the account among the administrators or takes it out; its other groups stay. */
export const setAdmin = Effect.fnUntraced(function* (
  client: PveClient,
  account: HypervisorAccount,
  admin: boolean,
): Effect.fn.Return<void, HypervisorFault> {
  const userid = userIdOf(account)
  const doing = admin ? `make ${userid} an administrator` : `take the rights of an administrator from ${userid}`
  const user = yield* readUser(client, userid, doing)
  if (user === undefined && !admin) return
  if (user === undefined) return yield* new HypervisorFault({ doing, reason: "not-found", detail: `${userid} does not exist` })
  const groups = words(user, "groups")
  if (groups.includes(adminGroup) === admin) return
  yield* ensureGroups(client, doing)
  const wanted = admin ? [...groups, adminGroup] : groups.filter((group) => group !== adminGroup)
  yield* client.put(path`/access/users/${userid}`, { groups: wanted.join(",") }, { doing })
})

export const removeUser = (client: PveClient, account: HypervisorAccount): Effect.Effect<void, HypervisorFault> => {
  const userid = userIdOf(account)
  return client.remove(path`/access/users/${userid}`, {}, { doing: `remove the account ${userid}` }).pipe(
    Effect.asVoid,
    Effect.catchIf(isReason("not-found"), () => Effect.void),
  )
}

export const userExists = (client: PveClient, account: HypervisorAccount): Effect.Effect<boolean, HypervisorFault> =>
  Effect.map(readUser(client, userIdOf(account), `look for the account ${userIdOf(account)}`), (user) => user !== undefined)
