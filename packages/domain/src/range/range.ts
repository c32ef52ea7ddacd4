import type { RangeId, RecordId, UserId } from "../access/ids.ts"
import type { Disguises } from "../machine/disguise.ts"

/** States of a range on the wire. A range with a waiting run shows as DEPLOYING. */
export const rangeStates = ["NEVER DEPLOYED", "DEPLOYING", "SUCCESS", "ERROR", "ABORTED", "DESTROYING", "DESTROYED"] as const
export type RangeState = (typeof rangeStates)[number]

/** `entering` and `leaving`: a run is beginning, changing or ending testing mode, or broke off there. */
export const testingModes = ["off", "entering", "on", "leaving"] as const
export type TestingMode = (typeof testingModes)[number]

/** Testing mode: the range is cut off from the internet except for what is allowed. */
export interface TestingState {
  readonly mode: TestingMode
  /** Each `<domain> (<ipv4>)`. */
  readonly allowedDomains: readonly string[]
  readonly allowedIps: readonly string[]
}

export const noTesting: TestingState = { mode: "off", allowedDomains: [], allowedIps: [] }

/**
 * Whether the range is to be cut off: from before its router gets the rules until every machine is rolled back. The router may be open
 * nonetheless, except in the mode `on`.
 */
export const isClosed = ({ mode }: Pick<TestingState, "mode">): boolean => mode !== "off"

/** A range as the service stores it. Its configuration text is stored separately. */
export interface Range {
  readonly id: RangeId
  readonly recordId: RecordId
  /** 1 to 153: the second octet of its addresses; its router's outer address ends in 100 + this. */
  readonly number: number
  readonly name: string
  readonly description: string
  readonly purpose: string
  /** Name of its picture; undefined: it has none. */
  readonly thumbnail: string | undefined
  readonly state: RangeState
  readonly testing: TestingState
  /** Undefined: no machine is disguised. */
  readonly disguises: Disguises | undefined
  readonly lastDeploymentAt: Date | undefined
  readonly lastActiveAt: Date | undefined
  /** As given: a Go duration, `0` for never, undefined for the server's default. */
  readonly autoShutdown: string | undefined
  /** Somebody asked that it is not shut down for idleness before then. */
  readonly stayOnUntil: Date | undefined
  readonly createdBy: UserId | undefined
  /** The user who is charged for it while they have it directly (`payerOf`): the first to have it. */
  readonly madeFor: UserId | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
  /** True: an older service created it, and with it its network (ADR 24). */
  readonly takenOver: boolean
}

/** What is given for a new range; the rest is derived. */
export interface RangeDraft extends Pick<
  Range,
  "id" | "recordId" | "name" | "description" | "purpose" | "createdBy" | "createdAt"
> {
  /** Its state at the older service that it is taken over from; absent: it is new. */
  readonly past?: Pick<Range, "state" | "testing" | "lastDeploymentAt">
}

/** `owners`: users who have it directly. */
export const newlyMadeRange = ({ past, ...said }: RangeDraft, number: number, owners: readonly UserId[]): Range => ({
  ...said,
  number,
  thumbnail: undefined,
  madeFor: owners.find((id) => id === said.createdBy) ?? owners[0],
  state: past?.state ?? "NEVER DEPLOYED",
  testing: past?.testing ?? noTesting,
  disguises: undefined,
  lastDeploymentAt: past?.lastDeploymentAt,
  lastActiveAt: undefined,
  autoShutdown: undefined,
  stayOnUntil: undefined,
  updatedAt: said.createdAt,
  takenOver: past !== undefined,
})
