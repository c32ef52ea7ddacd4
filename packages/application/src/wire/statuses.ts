export const hypervisorAway = "the hypervisor is unreachable or refused"

/** For operations that wait while a run changes the whole installation. */
export const waitCutShort =
  "the service stops, or the client leaves, while the call waits for a run that changes the whole installation"

/** For operations that wait for other work on the source. */
export const sourceWaitCutShort = "the service stops, or the client leaves, while the call waits for other work on the source"

/** For operations that store something of a user's on the service's host. */
export const diskLimitReached = "it is more than the user may keep on the service's host"

/** For operations on a run. */
export const runStatuses = {
  403: "the caller may not use the run's range, or has no access to what the run is about",
  404: "no run has this ID",
} as const

/** For operations on a blueprint that everybody with access may use; operations add their own causes. */
export const blueprintStatuses = {
  403: "the blueprint is not shared with the caller",
  404: "no blueprint has this ID",
} as const

/** For operations on a blueprint that only its owner and administrators may use. */
export const ownBlueprintStatuses = { ...blueprintStatuses, 403: "the caller is neither the owner nor an administrator" } as const

/** For operations on a source that its owner and administrators may use; for others it does not exist. */
export const sourceStatuses = {
  404: "the user has no source with this ID",
} as const

/** For revocations: they stay stored. */
export const revocationPending =
  "the hypervisor is unreachable or refused; the access is revoked here all the same, and there as soon as the hypervisor accepts it"
