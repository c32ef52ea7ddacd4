import type { NetworkSpec, RangeId } from "@rangewright/domain"
import type { HypervisorAccess, HypervisorAccount, HypervisorFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { child, recordOf, text } from "../wire/read.ts"
import { ensurePool, poolExists, removePool } from "./pools.ts"
import { adminGroup, neededPrivileges, poolRoles, vnetRoles } from "./roles.ts"
import { type Right, readRights, writeRight } from "./rights.ts"
import { ensureGroups, ensureUser, removeUser, setAdmin, setPassword, userExists, userIdOf } from "./users.ts"

/** Where a range's rights stand: its pool, and its VNet where it has one. */
const places = (
  poolId: RangeId,
  network: NetworkSpec | undefined,
): readonly { readonly path: string; readonly roles: readonly string[] }[] => [
  { path: `/pool/${poolId}`, roles: poolRoles },
  ...(network?.type === "vnet" ? [{ path: `/sdn/zones/${network.zone}/${network.name}`, roles: vnetRoles }] : []),
]

/** The rights that accounts and the administrators' group have on a range, one by one. */
const rightsOf = (
  poolId: RangeId,
  accounts: readonly HypervisorAccount[],
  network: NetworkSpec | undefined,
): readonly Right[] => {
  const subjects: readonly Pick<Right, "type" | "subject">[] = [
    { type: "group", subject: adminGroup },
    ...accounts.map((account) => ({ type: "user" as const, subject: userIdOf(account) })),
  ]
  return places(poolId, network).flatMap(({ path, roles }) =>
    roles.flatMap((role) => subjects.map((subject) => ({ path, role, propagate: true, ...subject }))),
  )
}

/** One call a place: the API takes lists of roles and of subjects. */
const give = (
  client: PveClient,
  poolId: RangeId,
  accounts: readonly HypervisorAccount[],
  network: NetworkSpec | undefined,
  doing: string,
) =>
  Effect.forEach(
    places(poolId, network),
    ({ path, roles }) =>
      client.put(
        "/access/acl",
        {
          path,
          roles: roles.join(","),
          groups: adminGroup,
          users: accounts.length === 0 ? undefined : accounts.map(userIdOf).join(","),
          propagate: true,
        },
        { doing },
      ),
    { discard: true },
  )

/** One call a place and account: an account that is gone must not keep the others' rights. */
const take = (
  client: PveClient,
  poolId: RangeId,
  accounts: readonly HypervisorAccount[],
  network: NetworkSpec | undefined,
  doing: string,
) =>
  Effect.forEach(
    places(poolId, network).flatMap(({ path, roles }) =>
      accounts.map((account): Right => ({
        path,
        role: roles.join(","),
        type: "user",
        subject: userIdOf(account),
        propagate: true,
      })),
    ),
    (right) => writeRight(client, right, doing, { remove: true }),
    { discard: true },
  )

/** Before PVE 9 one privilege stood for all of the guest agent's. */
const namesIn = (names: readonly string[], version: string): readonly string[] =>
  Number.parseInt(version, 10) >= 9
    ? names
    : [...new Set(names.map((name) => name.replace(/^VM\.GuestAgent\..*$/u, "VM.Monitor")))]

/** `1` is granted here and below, `0` here only; both are held (facts c5). */
const privileges = Effect.fnUntraced(function* (
  client: PveClient,
): Effect.fn.Return<ReadonlyMap<string, boolean>, HypervisorFault> {
  const doing = "read the rights of the service's account"
  const version = text(recordOf((yield* client.get("/version", {}, { doing })).data), "version") ?? "9"
  const held = yield* Effect.forEach(Object.entries(neededPrivileges), ([path, names]) =>
    client.get("/access/permissions", { path }, { doing }).pipe(
      Effect.map((reply) => {
        const here = child(recordOf(reply.data), path)
        return namesIn(names, version).map((name) => [`${name} on ${path}`, Object.hasOwn(here, name)] as const)
      }),
    ),
  )
  return new Map(held.flat())
})

export const makeHypervisorAccess = (client: PveClient): Context.Service.Shape<typeof HypervisorAccess> => ({
  ensureUser: (account, password, { admin }) => ensureUser(client, account, password, admin),
  setAdmin: (account, admin) => setAdmin(client, account, admin),
  setPassword: (account, password) => setPassword(client, account, password),
  removeUser: (account) => removeUser(client, account),
  userExists: (account) => userExists(client, account),
  poolExists: (poolId) => poolExists(client, poolId),
  ensurePool: (poolId) => ensurePool(client, poolId),
  removePool: (poolId) => removePool(client, poolId),
  grant: (poolId, accounts, network) => {
    const doing = `grant access to range ${poolId}`
    return Effect.andThen(ensureGroups(client, doing), give(client, poolId, accounts, network, doing))
  },
  granted: (poolId, accounts, network) =>
    Effect.map(readRights(client, `read the rights on range ${poolId}`), (rights) => {
      const keyOf = (right: Right): string => [right.path, right.role, right.type, right.subject].join("\n")
      const held = new Set(rights.filter((right) => right.propagate).map(keyOf))
      return rightsOf(poolId, accounts, network).every((right) => held.has(keyOf(right)))
    }),
  revoke: (poolId, accounts, network) => take(client, poolId, accounts, network, `revoke access to range ${poolId}`),
  privileges: privileges(client),
})
