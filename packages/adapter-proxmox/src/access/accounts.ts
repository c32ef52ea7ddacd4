import {
  type AccessChange,
  type AccountId,
  type AccountKeep,
  changeDoing,
  isServiceGroup,
  ownRealm,
  realmOf,
} from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { PveClient } from "../client/client.ts"
import type { ServiceAccount } from "../client/credentials.ts"
import { path } from "../client/form.ts"
import { type Account, accountIn, obstacleOf, ourComment } from "./account.ts"
import { has } from "./faults.ts"
import { groupsAmong } from "./groups.ts"
import { foreignRights, readRights, writeRight } from "./rights.ts"

type Change<K extends AccessChange["kind"]> = Extract<AccessChange, { readonly kind: K }>
/** Both end with the account in place, with its password, groups, and what others had given it. */
type Making = Change<"create-account"> | Change<"set-password">
type Made = Effect.Effect<void, HypervisorFault>

const notOurs = (doing: string, detail: string, hint?: string): HypervisorFault =>
  new HypervisorFault({ doing, reason: "not-ours", detail, ...(hint === undefined ? {} : { hint }) })

const readAccount = (client: PveClient, id: AccountId, doing: string): Effect.Effect<Account | undefined, HypervisorFault> =>
  client.get(path`/access/users/${id}`, {}, { doing }).pipe(
    Effect.map((reply): Account | undefined => accountIn(reply.data)),
    Effect.catchIf(has("not-found"), () => Effect.succeed(undefined)),
  )

const append = (client: PveClient, id: AccountId, groups: readonly string[], doing: string): Made =>
  groups.length === 0
    ? Effect.void
    : Effect.asVoid(client.put(path`/access/users/${id}`, { groups: groups.join(","), append: true }, { doing }))

/** The role is gone, or this version does not know the path. Proxmox also answers `invalid` when the service may not grant the role. */
const isOfNothing = ({ facts }: HypervisorFault): boolean =>
  facts.reason === "invalid" && /invalid ACL path|role '[^']*' does not exist/u.test(facts.detail)

/** Restores the rights that others gave the account. Skips a path or role that no longer exists. */
const writeKept = (client: PveClient, id: AccountId, rights: AccountKeep["rights"], doing: string): Made =>
  Effect.forEach(
    rights,
    (right) =>
      writeRight(client, { ...right, type: "user", subject: id }, doing).pipe(Effect.catchIf(isOfNothing, () => Effect.void)),
    { discard: true },
  )

const union = (a: AccountKeep, b: AccountKeep): AccountKeep => ({
  groups: [...new Set([...a.groups, ...b.groups])],
  rights: [...new Map([...a.rights, ...b.rights].map((right) => [JSON.stringify([right.path, right.role]), right])).values()],
})

/** Creates an account that does not exist. */
const create = Effect.fnUntraced(function* (
  client: PveClient,
  { account, groups, keep }: Making,
  password: Redacted.Redacted | undefined,
  names: Account["names"],
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const kept = yield* groupsAmong(client, keep.groups, doing)
  yield* client.post(
    "/access/users",
    {
      userid: account,
      groups: [...new Set([...groups, ...kept])].join(","),
      comment: ourComment,
      enable: true,
      ...names,
      password: password === undefined ? undefined : Redacted.value(password),
    },
    { doing },
  )
  yield* writeKept(client, account, keep.rights, doing)
})

/** Gives an existing account its groups and what others had given it. */
const complete = Effect.fnUntraced(function* (
  client: PveClient,
  { account, groups, keep }: Making,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const kept = yield* groupsAmong(client, keep.groups, doing)
  yield* append(client, account, [...new Set([...groups, ...kept])], doing)
  yield* writeKept(client, account, keep.rights, doing)
})

/**
 * A token may not set passwords, so the account is recreated with the new one. Everything it has is written once before it is deleted: what
 * cannot be given back is refused while nothing is lost yet.
 */
const replace = Effect.fnUntraced(function* (
  client: PveClient,
  change: Making,
  password: Redacted.Redacted,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const { account: id } = change
  const found = yield* readAccount(client, id, doing)
  if (found === undefined) return yield* create(client, change, password, {}, doing)
  const obstacle = obstacleOf(id, found)
  if (obstacle !== undefined)
    return yield* notOurs(
      doing,
      obstacle,
      "Set it on the hypervisor (Datacenter > Permissions > Users), or configure the service with a user and password instead of a token.",
    )
  const rights = foreignRights(yield* readRights(client, doing), id)
  const keep = union(change.keep, { groups: found.groups.filter((group) => !isServiceGroup(group)), rights })
  yield* complete(client, { ...change, keep }, doing)
  yield* client.remove(path`/access/users/${id}`, {}, { doing }).pipe(Effect.catchIf(has("not-found"), () => Effect.void))
  yield* create(client, { ...change, keep }, password, found.names, doing)
})

/** The implementation of each change of an account, for a service that acts as `self`. */
export const accountChanges = (client: PveClient, self: ServiceAccount) => {
  /** Fails for the service's own account: a user's rights are not the rights that the service needs. */
  const guarded =
    <C extends { readonly account: AccountId } & AccessChange>(
      act: (change: C, doing: string, password?: Redacted.Redacted) => Made,
    ) =>
    (change: C, password?: Redacted.Redacted): Made =>
      change.account === self.id
        ? Effect.fail(notOurs(changeDoing(change), `${self.id} is the service's own account`, "Give the user another account."))
        : act(change, changeDoing(change), password)

  const setPassword = Effect.fnUntraced(function* (
    change: Making,
    password: Redacted.Redacted,
    doing: string,
  ): Effect.fn.Return<void, HypervisorFault> {
    if (self.byToken) return yield* replace(client, change, password, doing)
    const set = client.put("/access/password", { userid: change.account, password: Redacted.value(password) }, { doing })
    // the password comes last: it completes the change
    yield* Effect.catchIf(Effect.andThen(complete(client, change, doing), Effect.asVoid(set)), has("not-found"), () =>
      create(client, change, password, {}, doing),
    )
  })

  const make = Effect.fnUntraced(function* (
    change: Change<"create-account">,
    doing: string,
    given: Redacted.Redacted | undefined,
  ): Effect.fn.Return<void, HypervisorFault> {
    // the hypervisor cannot set the password of an account in another realm
    const password = realmOf(change.account) === ownRealm ? given : undefined
    const made = yield* Effect.result(create(client, change, password, {}, doing))
    if (made._tag === "Success") return
    if (!has("taken")(made.failure)) return yield* Effect.fail(made.failure)
    const found = yield* readAccount(client, change.account, doing)
    // somebody is deleting it at the same time: a retry will tell
    if (found === undefined) return yield* Effect.fail(made.failure)
    if (found.ours && password !== undefined) yield* setPassword(change, password, doing)
    else yield* complete(client, change, doing)
  })

  return {
    create: guarded<Change<"create-account">>(make),
    setPassword: guarded<Change<"set-password">>((change, doing, password) =>
      password === undefined ? Effect.fail(noPassword(doing)) : setPassword(change, password, doing),
    ),
    join: guarded<Change<"join-groups">>(({ account, groups }, doing) => append(client, account, groups, doing)),
    leave: guarded<Change<"leave-groups">>((change, doing) =>
      Effect.flatMap(readAccount(client, change.account, doing), (found) => {
        const leaving = new Set(change.groups)
        const left = found?.groups.filter((group) => !leaving.has(group)) ?? []
        return found === undefined || left.length === found.groups.length
          ? Effect.void
          : client.put(path`/access/users/${change.account}`, { groups: left.join(",") }, { doing }).pipe(
              Effect.asVoid,
              Effect.catchIf(has("not-found"), () => Effect.void),
            )
      }),
    ),
    restore: guarded<Change<"restore">>((change, doing) =>
      Effect.flatMap(readAccount(client, change.account, doing), (found) =>
        found === undefined
          ? Effect.fail(new HypervisorFault({ doing, reason: "not-found", detail: `${change.account} does not exist` }))
          : complete(client, { ...change, kind: "set-password", groups: [] }, doing),
      ),
    ),
    remove: guarded<Change<"remove-account">>((change, doing) =>
      Effect.flatMap(readAccount(client, change.account, doing), (found) => {
        if (found === undefined) return Effect.void
        if (!found.ours) return Effect.fail(notOurs(doing, "the service did not create it"))
        return client.remove(path`/access/users/${change.account}`, {}, { doing }).pipe(
          Effect.asVoid,
          Effect.catchIf(has("not-found"), () => Effect.void),
        )
      }),
    ),
  }
}

const noPassword = (doing: string): HypervisorFault =>
  new HypervisorFault({ doing, reason: "invalid", detail: "no password is given" })
