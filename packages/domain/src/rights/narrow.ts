import { type DesiredAccess, getsAt, mayAt } from "./desired.ts"
import {
  type AccessChange,
  adminGroup,
  type AccountId,
  groupOfAccount,
  type RevokedSubject,
  rolesAt,
  userGroup,
} from "./model.ts"

/** Whether a group should exist. */
const isWantedGroup = ({ accounts }: DesiredAccess, group: string): boolean =>
  group === userGroup || group === adminGroup || [...accounts.keys()].some((account) => groupOfAccount(account) === group)

const wants = ({ accounts }: DesiredAccess, account: AccountId, group: string): boolean =>
  accounts.get(account)?.groups.includes(group) === true

const some = <T>(items: readonly T[], change: (items: readonly T[]) => AccessChange): AccessChange | undefined =>
  items.length === 0 ? undefined : change(items)

/**
 * The part of a planned change that is still desired, because access may have changed since planning; undefined if nothing is. Idempotent.
 */
export const stillWanted = (change: AccessChange, desired: DesiredAccess): AccessChange | undefined => {
  switch (change.kind) {
    case "revoke": {
      const granted = rolesAt(change.place)
      const left = change.subjects.flatMap((subject): readonly RevokedSubject[] => {
        if (subject.type !== "group" || !mayAt(desired, change.place, subject.name)) return [subject]
        // it should keep what the service grants, and nothing else
        const roles = subject.roles?.filter((role) => !granted.includes(role)) ?? []
        return roles.length === 0 ? [] : [{ ...subject, roles }]
      })
      return some(left, (subjects) => ({ ...change, subjects }))
    }
    case "leave-groups": {
      const left = change.groups.filter((group) => !wants(desired, change.account, group))
      return some(left, (groups) => ({ ...change, groups }))
    }
    case "remove-account":
      return desired.accounts.has(change.account) ? undefined : change
    case "remove-group":
      return isWantedGroup(desired, change.group) ? undefined : change
    case "remove-pool":
      return desired.ranges.has(change.rangeId) ? undefined : change
    case "create-group":
      return isWantedGroup(desired, change.group) ? change : undefined
    case "create-account":
    case "set-password":
      // groups added since planning are not part of the plan, so they are not held
      return desired.accounts.has(change.account)
        ? { ...change, groups: change.groups.filter((group) => wants(desired, change.account, group)) }
        : undefined
    case "restore":
      return desired.accounts.has(change.account) ? change : undefined
    case "join-groups": {
      const left = change.groups.filter((group) => wants(desired, change.account, group))
      return some(left, (groups) => ({ ...change, groups }))
    }
    case "create-pool":
      return desired.ranges.get(change.rangeId)?.leaving === false ? change : undefined
    case "grant": {
      const left = change.groups.filter((group) => getsAt(desired, change.place, group))
      return some(left, (groups) => ({ ...change, groups }))
    }
  }
}

/**
 * The changes that undo what a change granted but is no longer desired, because access was changed, or another worker took over, in the
 * meantime. Empty if there is nothing to undo.
 */
export const takeBack = (change: AccessChange, desired: DesiredAccess): readonly AccessChange[] => {
  if (change.kind === "grant") {
    const lost = change.groups.filter((group) => !getsAt(desired, change.place, group))
    const subjects = lost.map((name) => ({ type: "group" as const, name }))
    return lost.length === 0 ? [] : [{ kind: "revoke", place: change.place, subjects }]
  }
  const isMade = change.kind === "create-account" || change.kind === "set-password"
  if (!isMade && change.kind !== "join-groups") return []
  if (isMade && !desired.accounts.has(change.account)) return [{ kind: "remove-account", account: change.account }]
  const lost = change.groups.filter((group) => !wants(desired, change.account, group))
  return lost.length === 0 ? [] : [{ kind: "leave-groups", account: change.account, groups: lost }]
}
