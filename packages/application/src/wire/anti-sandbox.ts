import { disguiseVendors } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { hypervisorAway } from "./statuses.ts"

/** Names or VMIDs of machines, separated by commas. */
const vmIDs = Schema.String.check(Schema.isMaxLength(100_000))
const text = Schema.optionalKey(Schema.String)
const flag = Schema.optionalKey(Schema.Boolean)

export const AntiSandboxSelectPayload = Schema.Struct({ vmIDs }).annotate({ identifier: "AntiSandboxSelectPayload" })

/** The disguise of machines. An empty text counts as absent. */
export const AntiSandboxPayload = Schema.Struct({
  vmIDs,
  registeredOwner: text,
  registeredOrganization: text,
  vendor: Schema.optionalKey(Schema.Literals(["", ...disguiseVendors])),
  product: text,
  processorName: text,
  processorVendor: text,
  /** Megahertz. */
  processorSpeed: text,
  processorIdentifier: text,
  systemBiosVersion: text,
  /** Puts documents into the folders of the machine's user. */
  dropFiles: flag,
  /** Adds addresses and bookmarks to the browser. */
  browserData: flag,
  /** Restores at each start what Windows recreates then. */
  persist: flag,
}).annotate({ identifier: "AntiSandboxPayload" })

/** The outcome for each named machine. Empty lists are left out. */
export const AntiSandboxOutcome = Schema.Struct({
  success: Schema.optionalKey(Schema.Array(Schema.String)),
  errors: Schema.optionalKey(Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))),
  /** What failed on machines that succeeded otherwise. */
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The run that did it; absent: there was nothing to do. */
  runID: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "AntiSandboxOutcome" })

/** For both operations that change disguises. */
export const antiSandboxStatuses = {
  200: "the outcome for each machine",
  400: "no machine is named; the body is malformed or wrongly typed, or has text that cannot be shown",
  409: "testing is on; a run is changing the range; it has not been deployed",
  502: hypervisorAway,
} as const

/** For both operations that change the packages on nodes. */
export const packagesStatuses = {
  404: "no packages, or no nodes, are configured for this",
  409: "another run changes the whole installation; no packages are signed for the version that a node has: nothing was changed",
  500: "the folder of packages is not as it was signed, or a node failed: nodes after it were left as they are",
  502: "a node cannot be reached, so nothing was changed",
} as const
