import { accountIdOf, type GroupName, type RangeId, type UserId } from "@rangewright/domain"
import type { AccessOperation } from "./operations.ts"
import type { Chance } from "./random.ts"
import type { Call, Site } from "./site.ts"

const users = ["ANN", "BOB", "CAT", "DAN", "EVE", "FAY"] as const
const groups = ["TEAM", "CREW", "IDLE", "FRESH"] as const
const ranges = ["LAB", "DEN", "NEW", "HUT", "BOB", "CAT"] as const

const nothing = (): boolean => false

/** Rights of these users on these ranges, and whom the routers let in. */
const rightsOf = (site: Site, people: readonly string[], things: readonly string[]): ((fact: string) => boolean) => {
  const accounts = people.flatMap((id) => {
    const user = site.store.users.get(id as UserId)?.user
    return user === undefined ? [] : [accountIdOf(user)]
  })
  const facts = new Set(
    accounts.flatMap((account) => things.flatMap((id) => [`${account} has ${id}`, `the router of ${id} lets ${account} in`])),
  )
  return (fact) => facts.has(fact)
}

/** A random change of access, possible or not, to the lab in its current state. */
export const anyOperation = (site: Site, { one, below, chance }: Chance): AccessOperation => {
  const kind = below(15)
  // existing objects are named more often than missing ones, except where an object is created
  const some = <T extends string>(names: readonly [T, ...T[]], there: ReadonlyMap<string, unknown>, isMade: boolean): T => {
    const fit = names.filter((name) => there.has(name) !== isMade)
    return fit.length === 0 || chance(0.1) ? one(names) : one(fit as [T, ...T[]])
  }
  const user = some(users, site.store.users, kind === 10)
  const group = some(groups, site.store.groups, kind === 2)
  const range = some(ranges, site.store.ranges, kind === 12)
  const { roles = new Map<UserId, unknown>(), ranges: owned = new Set<RangeId>() } =
    site.store.groups.get(group as GroupName) ?? {}
  const account = site.store.users.get(user as UserId)?.user
  const ofUser = account === undefined ? nothing : (fact: string) => fact.startsWith(`${accountIdOf(account)} `)
  const make = (asked: Omit<Call, "as">, takes?: AccessOperation["takes"]): AccessOperation => {
    const { id, ...rest } = asked
    return {
      name: `${id} ${JSON.stringify(rest)}`,
      call: { ...asked, as: "BOSS" },
      ...(takes === undefined ? {} : { takes }),
      about: [],
    }
  }
  switch (kind) {
    case 0:
    case 1:
      return make(
        { id: "postCredentials", body: { userID: user, proxmoxPassword: `Word-${++site.serial}-of-many` } },
        (fact) => ofUser(fact) && fact.includes("signs in"),
      )
    case 2:
      return make({ id: "createGroup", body: { name: group } })
    case 3:
      return make({ id: "addUsersToGroup", group, body: { userIDs: [user, one(users)], managers: chance(0.5) ? [user] : [] } })
    case 4:
      return make({ id: "removeUsersFromGroup", group, body: { userIDs: [user] } }, rightsOf(site, [user], [...owned]))
    case 5:
      return make({ id: "addRangesToGroup", group, body: { rangeIDs: [range] } })
    case 6:
      return make({ id: "removeRangesFromGroup", group, body: { rangeIDs: [range] } }, rightsOf(site, [...roles.keys()], [range]))
    case 7:
      return make({ id: "deleteGroup", group, path: { groupName: group } }, rightsOf(site, [...roles.keys()], [...owned]))
    case 8:
      return make({ id: "assignRangeToUser", path: { userID: user, rangeID: range }, range })
    case 9:
      return make(
        { id: "revokeRangeFromUser", path: { userID: user, rangeID: range }, range, query: { force: chance(0.5) } },
        rightsOf(site, [user], [range]),
      )
    case 10:
      return make({
        id: "addUser",
        body: {
          name: user.toLowerCase(),
          userID: user,
          email: `${user}@lab.example`,
          password: `First-${++site.serial}-of-many`,
        },
      })
    case 11:
      return make({ id: "deleteUser", path: { userID: user }, query: { deleteDefaultRange: String(chance(0.5)) } }, ofUser)
    case 12:
      return make({ id: "createRange", body: { name: "A range", rangeID: range, userID: [user] } })
    case 13:
      return make({ id: "deleteRange", range, query: { force: true } }, (fact) => fact.endsWith(` has ${range}`))
    default: {
      const isAdmin = chance(0.5)
      const takes = (fact: string) => ofUser(fact) && fact.includes("administrator")
      return make({ id: "setUserAdmin", path: { userID: user }, body: { isAdmin } }, isAdmin ? undefined : takes)
    }
  }
}
