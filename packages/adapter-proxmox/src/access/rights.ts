import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { flag, rows, text } from "../wire/read.ts"

/** One entry of the access list: a role for a user, group or token at a path. */
export interface Right {
  readonly path: string
  readonly role: string
  readonly type: "user" | "group" | "token"
  readonly subject: string
  readonly propagate: boolean
}

const typeOf = (value: string | undefined): Right["type"] | undefined =>
  value === "user" || value === "group" || value === "token" ? value : undefined

/** The whole access list, in one call. */
export const readRights = (client: PveClient, doing: string): Effect.Effect<readonly Right[], HypervisorFault> =>
  client.get("/access/acl", {}, { doing }).pipe(
    Effect.map((reply) =>
      rows(reply.data).flatMap((row): readonly Right[] => {
        const [path, role, subject, type] = [text(row, "path"), text(row, "roleid"), text(row, "ugid"), typeOf(text(row, "type"))]
        if (path === undefined || role === undefined || subject === undefined || type === undefined) return []
        return [{ path, role, subject, type, propagate: flag(row, "propagate") }]
      }),
    ),
  )

const listOf = { user: "users", group: "groups", token: "tokens" } as const

/** Gives a right, or takes it with `remove`. A subject that is gone has lost it already. */
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
        (fault) => options.remove && fault.facts.reason === "not-found",
        () => Effect.void,
      ),
    )

/** Takes away every right at a path: what is removed from the network leaves no entry behind. */
export const dropRights = Effect.fnUntraced(function* (
  client: PveClient,
  path: string,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const rights = (yield* readRights(client, doing)).filter((right) => right.path === path)
  yield* Effect.forEach(rights, (right) => writeRight(client, right, doing, { remove: true }), { discard: true })
})
