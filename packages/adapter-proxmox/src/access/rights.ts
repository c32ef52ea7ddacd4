import { type AccessPlace, type AccountKeep, placeAt, rolesAt } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { type Fields, flag, rows, text } from "../wire/read.ts"
import { has } from "./faults.ts"
import { isAccountName, isGroupName, isRoleName, isTokenName } from "./names.ts"

/** One entry of the access list: a role for a user, group or token at a path. */
export interface Right {
  readonly path: string
  readonly role: string
  readonly type: "user" | "group" | "token"
  readonly subject: string
  readonly propagate: boolean
}

const isNameOf = { user: isAccountName, group: isGroupName, token: isTokenName } as const

const typeOf = (value: string | undefined): Right["type"] | undefined =>
  value === "user" || value === "group" || value === "token" ? value : undefined

/** The entries in rows of the access list, without those whose names Proxmox does not allow. */
export const rightsIn = (list: readonly Fields[]): readonly Right[] =>
  list.flatMap((row): readonly Right[] => {
    const [path, role, subject, type] = [text(row, "path"), text(row, "roleid"), text(row, "ugid"), typeOf(text(row, "type"))]
    if (path === undefined || role === undefined || subject === undefined || type === undefined) return []
    if (!path.startsWith("/") || !isRoleName(role) || !isNameOf[type](subject)) return []
    return [{ path, role, subject, type, propagate: flag(row, "propagate") }]
  })

/** The whole access list, in one call. */
export const readRights = (client: PveClient, doing: string): Effect.Effect<readonly Right[], HypervisorFault> =>
  Effect.map(client.get("/access/acl", {}, { doing }), (reply) => rightsIn(rows(reply.data)))

/** The place of an entry whose role the service grants there; undefined when the entry is someone else's. */
export const grantedPlace = ({ path, role }: Pick<Right, "path" | "role">): AccessPlace | undefined => {
  const place = placeAt(path)
  return place !== undefined && rolesAt(place).includes(role) ? place : undefined
}

/** Rights granted to users directly, by user name. */
export const ownRightsBySubject = (rights: readonly Right[]): ReadonlyMap<string, AccountKeep["rights"]> => {
  const found = new Map<string, AccountKeep["rights"][number][]>()
  for (const right of rights) {
    if (right.type !== "user") continue
    const entry = { path: right.path, role: right.role, propagate: right.propagate }
    const known = found.get(right.subject)
    if (known === undefined) found.set(right.subject, [entry])
    else known.push(entry)
  }
  return found
}

/** Rights granted to a user directly, except those that the service grants. */
export const foreignRights = (rights: readonly Right[], user: string): AccountKeep["rights"] =>
  ownRightsBySubject(rights.filter((right) => right.subject === user && grantedPlace(right) === undefined)).get(user) ?? []

const listOf = { user: "users", group: "groups", token: "tokens" } as const

/** Grants a right, or revokes it with `remove`. Succeeds when the subject is already gone. */
export const writeRight = (
  client: PveClient,
  right: Right,
  doing: string,
  options: { readonly remove: boolean } = { remove: false },
): Effect.Effect<void, HypervisorFault> =>
  client
    .put(
      "/access/acl",
      {
        path: right.path,
        roles: right.role,
        [listOf[right.type]]: right.subject,
        ...(options.remove ? { delete: true } : { propagate: right.propagate }),
      },
      { doing },
    )
    .pipe(
      Effect.asVoid,
      Effect.catchIf(
        (fault) => options.remove && has("not-found")(fault),
        () => Effect.void,
      ),
    )

/** Revokes every right at a path, so that a removed network leaves no entries behind. */
export const dropRights = Effect.fnUntraced(function* (
  client: PveClient,
  path: string,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const rights = (yield* readRights(client, doing)).filter((right) => right.path === path)
  yield* Effect.forEach(rights, (right) => writeRight(client, right, doing, { remove: true }), { discard: true })
})
