import type { InstalledState } from "./installed-state.ts"

/** The outcome of one requirement, or of one of its dependencies. */
export interface InstallOutcome {
  readonly type: "role" | "collection"
  /** The name in the requirement; empty if the failure does not concern a particular one. */
  readonly name: string
  readonly version?: string
  /**
   * `installed`: it was installed or replaced now · `present`: a fitting version was already there, or comes with the host's tools ·
   * `other-version`: it is installed in another version than the requested one, and stays · `failed`: it could not be installed.
   */
  readonly outcome: "installed" | "present" | "other-version" | "failed"
  /** The reason, for `other-version` and `failed`. */
  readonly because?: string
  /** It failed because its owner has reached a limit. */
  readonly exceedsLimit?: true
}

/** The outcome of a requirement that needs no fetch. */
export const outcomeOf = ({ type, asked, decision, version, because, exceedsLimit }: InstalledState): InstallOutcome => ({
  type,
  name: asked,
  outcome: decision,
  ...(version === undefined ? {} : { version }),
  ...(because === undefined ? {} : { because }),
  ...(exceedsLimit === undefined ? {} : { exceedsLimit }),
})

const longestReason = 500

/** Shortens a reason that includes other reasons. */
export const shortReason = (text: string): string =>
  text.length > longestReason ? `${text.slice(0, longestReason).toWellFormed()}…` : text
