import { type AccountId, ownRealm, realmOf } from "@rangewright/domain"
import { type Fields, flag, list, recordOf, child, text, words } from "../wire/read.ts"
import { isGroupName } from "./names.ts"

/** Comment on accounts and groups that the service created; others are never removed or recreated. */
export const ourComment = "rangewright"

/** An account, as read from the list of accounts or by itself. */
export interface Account {
  readonly ours: boolean
  readonly groups: readonly string[]
  /** Fields that others may have set and that nothing depends on. */
  readonly names: Readonly<Record<string, string>>
  readonly hasTokens: boolean
  readonly hasSecondFactor: boolean
  /** Disabled, or with an expiry date. */
  readonly isEnding: boolean
}

const nameFields = ["email", "firstname", "lastname"] as const

const namesIn = (row: Fields): Account["names"] =>
  Object.fromEntries(
    nameFields.flatMap((key) => {
      const value = text(row, key)
      return value === undefined ? [] : [[key, value]]
    }),
  )

export const accountIn = (value: unknown): Account => {
  const row = recordOf(value)
  const disabled = Object.hasOwn(row, "enable") && !flag(row, "enable")
  return {
    ours: text(row, "comment") === ourComment,
    groups: words(row, "groups").filter(isGroupName),
    names: namesIn(row),
    hasTokens: list(row, "tokens").length + Object.keys(child(row, "tokens")).length > 0,
    hasSecondFactor: text(row, "keys") !== undefined,
    isEnding: disabled || (text(row, "expire") ?? "0") !== "0",
  }
}

/**
 * Why a service with a token cannot set the account's password: it would have to recreate the account. `remake`: why it may not do that.
 */
export const obstacleOf = (id: AccountId, account: Account, remake?: string): string | undefined => {
  const because = "an API token cannot set passwords, and the account cannot be created again: "
  if (realmOf(id) !== ownRealm) return `the realm ${realmOf(id)} stores it`
  if (!account.ours) return `${because}the service did not create it`
  if (account.hasTokens) return `${because}it has API tokens, which would be lost`
  if (account.hasSecondFactor) return `${because}it has a second factor, which would be lost`
  if (account.isEnding) return `${because}somebody disabled it or let it expire`
  return remake && `${because}${remake}`
}
