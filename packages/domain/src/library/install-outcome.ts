import type { InstalledState } from "./installed-state.ts"

/** What became of one requirement, or of something that one needs. */
export interface InstallOutcome {
  readonly type: "role" | "collection"
  /** As the requirement names it; empty where the failure is of none in particular. */
  readonly name: string
  readonly version?: string
  /**
   * `installed`: it was fetched now, or replaced · `present`: it was there already, or comes with the host's tools, in a version that
   * fits · `other-version`: it is there in another version than the wanted one, and stays · `failed`: it could not be had.
   */
  readonly outcome: "installed" | "present" | "other-version" | "failed"
  /** Says why, for `other-version` and `failed`. */
  readonly because?: string
  /** It failed because its owner may keep no more. */
  readonly exceedsLimit?: true
}

/** The outcome of what is settled without anything being fetched. */
export const outcomeOf = ({ type, asked, decision, version, because, exceedsLimit }: InstalledState): InstallOutcome => ({
  type,
  name: asked,
  outcome: decision,
  ...(version === undefined ? {} : { version }),
  ...(because === undefined ? {} : { because }),
  ...(exceedsLimit === undefined ? {} : { exceedsLimit }),
})

const longestReason = 500

/** A reason that tells of other reasons, not too long. */
export const shortReason = (text: string): string =>
  text.length > longestReason ? `${text.slice(0, longestReason).toWellFormed()}…` : text
