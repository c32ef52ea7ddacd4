import type { Access } from "@rangewright/domain"

/** The base path: `/` for the record API, `/ui` for requests that only our page makes. */
export type Base = "/api/v2" | "/" | "/ui"

/**
 * What the pipeline loads before the handler runs. `range`: the range selected by `?rangeID=`, else the user's default range.
 * `range-in-path`: the range named by the path parameter `rangeID`. `group-in-path`: the group of users named by the path
 * parameter `groupName`. `none`: nothing is needed (a `?rangeID=` that is sent is still checked).
 */
export type Target = "none" | "range" | "range-in-path" | "group-in-path"

/** 429 is for signing in alone: clients that only hold a key misread it. */
type Status = 101 | 200 | 201 | 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 502

/** The possible statuses and their meanings, success first (contract `x-statuses`). */
export type Statuses = Readonly<Partial<Record<Status, string>>>

/** An operation's own statuses, added to the usual ones or replacing them. Undefined: that status is never answered. */
export type OwnStatuses = Readonly<Partial<Record<Status, string | undefined>>>

/** Who is admitted, and to what. */
interface Admitted {
  readonly base?: Base
  readonly access: Access
  readonly alsoFor?: "group-manager"
  readonly tier?: "enterprise"
  readonly target: Target
}

const ofTarget: Readonly<Record<Target, OwnStatuses>> = {
  none: {},
  range: { 403: "the caller may not use the range", 404: "the range is unknown, or none is selected" },
  "range-in-path": { 403: "the caller may not use the range", 404: "no range has this ID" },
  "group-in-path": { 403: "the caller does not manage the group", 404: "no group has this name" },
}

/** The failures that the pipeline itself may answer, and their meanings. The record API has its own statuses. */
const usualStatuses = ({ base, access, alsoFor, tier, target }: Admitted): OwnStatuses => {
  if (access === "anonymous" || base === "/") return {}
  const of = ofTarget[target]
  const always = { ...of, 400: "userID names an unknown user", 500: "unexpected server failure" }
  if (access === "admin" && alsoFor === undefined)
    return { ...always, 401: "no valid credentials", 403: "the caller is not an administrator" }
  const refusals = [of[403], tier === "enterprise" ? "the licence does not include it" : undefined].filter(Boolean)
  return {
    ...always,
    401: "no valid credentials; only administrators may act as another user",
    403: refusals.length === 0 ? undefined : refusals.join("; "),
  }
}

/** An operation's own meanings, which replace the usual ones; for 400 an unknown user is added as a cause. */
export const statusesOf = (declared: Admitted & { readonly statuses: OwnStatuses }): Statuses => {
  const usual = usualStatuses(declared)
  const own = declared.statuses
  const invalid = own[400] === undefined || usual[400] === undefined ? {} : { 400: `${own[400]}; ${usual[400]}` }
  return Object.fromEntries(
    Object.entries({ ...usual, ...own, ...invalid }).flatMap(([status, meaning]) =>
      meaning === undefined ? [] : [[status, meaning]],
    ),
  )
}
