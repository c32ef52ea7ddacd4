import type { SettledDecision } from "@rangewright/domain"
import type { InstallOutcome } from "./role-installer.ts"

/** The outcome of a requirement for which nothing is to be fetched. */
export const settledOutcome = (decision: SettledDecision): InstallOutcome => ({
  type: decision.type,
  name: decision.asked,
  outcome: decision.decision,
  ...(decision.version === undefined ? {} : { version: decision.version }),
  ...("because" in decision ? { because: decision.because } : {}),
})
