import { disguiseVendors } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { hypervisorAway } from "./statuses.ts"

/** Names or VMIDs of machines, between commas. */
const vmIDs = Schema.String.check(Schema.isMaxLength(100_000))
const text = Schema.optionalKey(Schema.String)
const flag = Schema.optionalKey(Schema.Boolean)

export const AntiSandboxSelectPayload = Schema.Struct({ vmIDs }).annotate({ identifier: "AntiSandboxSelectPayload" })

/** What machines are to be taken for. An empty text is none. */
export const AntiSandboxPayload = Schema.Struct({
  vmIDs,
  registeredOwner: text,
  registeredOrganization: text,
  vendor: Schema.optionalKey(Schema.Literals(disguiseVendors)),
  product: text,
  processorName: text,
  processorVendor: text,
  /** Megahertz. */
  processorSpeed: text,
  processorIdentifier: text,
  systemBiosVersion: text,
  /** Puts documents into the folders of the machine's user. */
  dropFiles: flag,
  /** Gives the browser addresses and favourites. */
  browserData: flag,
  /** Writes again at each start what Windows makes anew there. */
  persist: flag,
}).annotate({ identifier: "AntiSandboxPayload" })

/** What became of each machine that was named. An empty list is left out. */
export const AntiSandboxOutcome = Schema.Struct({
  success: Schema.optionalKey(Schema.Array(Schema.String)),
  errors: Schema.optionalKey(Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))),
  /** What could not be had of what succeeded. */
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The run that did it; absent where there was nothing to do. */
  runID: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "AntiSandboxOutcome" })

/** Of both operations that change what machines are taken for. */
export const antiSandboxStatuses = {
  200: "the outcome for each machine",
  400: "no machine is named; the body is malformed or wrongly typed, or has text that cannot be shown",
  409: "testing is on; a run is changing the range; it has not been deployed",
  502: hypervisorAway,
} as const

/** For both changes of the packages on nodes. */
export const packagesStatuses = {
  404: "no packages, or no nodes, are configured for this",
  409: "another run changes the whole installation; no packages are signed for the version that a node has: nothing was changed",
  500: "the folder of packages is not as it was signed, or a node failed: nodes after it were left as they are",
  502: "a node cannot be reached, so nothing was changed",
} as const
