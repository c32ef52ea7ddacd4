import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import type { ServiceAccount } from "../client/credentials.ts"
import { child, type Fields, flag, recordOf } from "../wire/read.ts"
import type { Right } from "./rights.ts"

/**
 * Whether the service's own credentials have one of the privileges at a path. A path that ends with `/` stands for everything below it that
 * has no entries of its own.
 */
export type OwnRights = (path: string, ...privileges: readonly string[]) => boolean

/** Up to this many paths are queried one by one: the full answer lists all privileges on every VM of every pool, 9 MB for 10,000 VMs. */
const pathsOneByOne = 16

/** Reads `GET /access/permissions` for these paths; the answer may contain others too. */
export const readOwnRights = Effect.fnUntraced(function* (
  client: PveClient,
  paths: ReadonlySet<string>,
  doing: string,
): Effect.fn.Return<Fields, HypervisorFault> {
  const read = (params: { readonly path?: string }): Effect.Effect<Fields, HypervisorFault> =>
    Effect.map(client.get("/access/permissions", params, { doing }), (reply) => recordOf(reply.data))
  if (paths.size > pathsOneByOne) return yield* read({})
  const one = (path: string) => Effect.map(read({ path }), (answer) => [path, child(answer, path)] as const)
  return Object.fromEntries(yield* Effect.forEach(paths, one, { concurrency: "unbounded" }))
})

/** Paths that the answer always contains when anything is held there, even if they have no entries. */
const alwaysThere = ["/", "/access", "/access/groups", "/pool"]

/** The paths with entries for the service's account, its tokens or its groups. */
export const ownEntries = (rights: readonly Right[], self: ServiceAccount, groups: readonly string[]): ReadonlySet<string> => {
  const isOwn = ({ type, subject }: Right): boolean =>
    type === "group" ? groups.includes(subject) : type === "user" ? subject === self.id : subject.startsWith(`${self.id}!`)
  return new Set(rights.filter(isOwn).map(({ path }) => path))
}

const above = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("/"), 1))

/**
 * Interprets what `readOwnRights` read: by path, 1 for a privilege there and below, 0 for there only. Of paths missing from the answer,
 * those with own entries hold nothing; the others inherit from above.
 */
export const ownRightsIn = (answer: Fields, entries: ReadonlySet<string>): OwnRights => {
  const known = new Set([...alwaysThere, ...entries])
  return (path, ...privileges) => {
    for (let at = path; ; at = above(at)) {
      const here = child(answer, at)
      if (Object.hasOwn(answer, at))
        return privileges.some((name) => (at === path ? Object.hasOwn(here, name) : flag(here, name)))
      if (known.has(at)) return false
    }
  }
}

/** Name of the service's credentials in messages. */
const ownName = ({ byToken }: ServiceAccount): string => (byToken ? "the service's API token" : "the service's account")

/**
 * Privileges needed to see the lists of accounts, groups, rights, pools and VNets in full: they silently omit what the caller may not see.
 * `below`: needed at every path below as well.
 */
const toSee = (
  zone: string | undefined,
): readonly { readonly path: string; readonly anyOf: readonly string[]; readonly below: boolean }[] => [
  { path: "/access/groups", anyOf: ["User.Modify", "Sys.Audit"], below: true },
  { path: "/access", anyOf: ["Sys.Audit"], below: false },
  { path: "/pool", anyOf: ["Pool.Audit"], below: true },
  ...(zone === undefined ? [] : [{ path: `/sdn/zones/${zone}`, anyOf: ["SDN.Audit", "SDN.Allocate"], below: true }]),
]

const entriesBelow = (entries: ReadonlySet<string>, path: string): readonly string[] =>
  [...entries].filter((entry) => entry.startsWith(`${path}/`))

/** The paths that `blindness` checks. */
export const pathsToSee = (entries: ReadonlySet<string>, zone: string | undefined): readonly string[] =>
  toSee(zone).flatMap(({ path, below }) => [path, ...(below ? entriesBelow(entries, path) : [])])

/** The fault when the service may not see all of these lists; of VNets, those of the zone. */
export const blindness = (
  holds: OwnRights,
  entries: ReadonlySet<string>,
  self: ServiceAccount,
  zone: string | undefined,
  doing: string,
): HypervisorFault | undefined => {
  const missing = toSee(zone).flatMap(({ path, anyOf, below }) => {
    if (!holds(path, ...anyOf) || (below && !holds(`${path}/`, ...anyOf))) return [`${anyOf[0]} on ${path}`]
    return (below ? entriesBelow(entries, path) : [])
      .filter((entry) => !holds(entry, ...anyOf))
      .map((entry) => `${anyOf[0]} on ${entry}`)
  })
  return missing.length === 0
    ? undefined
    : new HypervisorFault({
        doing,
        reason: "forbidden",
        detail: `${ownName(self)} lacks ${missing.slice(0, 5).join(", ")}, so Proxmox hides what it may not see`,
        hint: "Give its role these privileges on these paths, with propagation; docs/guides/install.md lists the commands.",
      })
}

/** The privileges needed to delete an account and recreate it with these rights of others, each with its path. */
const toRemake = (realm: string, rights: readonly { readonly path: string }[]): readonly (readonly [string, string])[] => [
  ["User.Modify", "/access/groups"],
  ["Realm.AllocateUser", `/access/realm/${realm}`],
  ...rights.map(({ path }) => ["Permissions.Modify", path] as const),
]

/** The paths that `remakeObstacle` checks. */
export const pathsToRemake = (...about: Parameters<typeof toRemake>): readonly string[] =>
  toRemake(...about).map(([, path]) => path)

/**
 * Why the service may not delete an account and recreate it with these rights of others, phrased to follow "because"; undefined when it
 * may.
 */
export const remakeObstacle = (
  holds: OwnRights,
  self: ServiceAccount,
  realm: string,
  rights: readonly { readonly path: string }[],
): string | undefined => {
  const missing = toRemake(realm, rights).find(([privilege, path]) => !holds(path, privilege))
  return missing && `${ownName(self)} lacks ${missing.join(" on ")}`
}
