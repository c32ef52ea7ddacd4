export const hypervisorAway = "the hypervisor is away or refused"

/** For operations that wait while a run changes the whole installation. */
export const waitCutShort =
  "the service stops, or the client leaves, while the call waits for a run that changes the whole installation"

/** For operations that wait while other work on the source goes on. */
export const sourceWaitCutShort = "the service stops, or the client leaves, while the call waits for other work on the source"

/** For operations on a run. */
export const runStatuses = {
  403: "the caller may not use the run's range, or has nothing to do with what the run is about",
  404: "no run has this ID",
} as const

/** For operations on a blueprint that whoever has it may use; an operation adds its own causes to them. */
export const blueprintStatuses = {
  403: "the blueprint is not shared with the caller",
  404: "no blueprint has this ID",
} as const

/** For operations on a blueprint that only its owner and administrators may use. */
export const ownBlueprintStatuses = { ...blueprintStatuses, 403: "the caller is neither the owner nor an administrator" } as const

/** For operations on a source that its owner and administrators may use; to others it does not exist. */
export const sourceStatuses = {
  404: "no source of this ID is the user's",
} as const

/** For revocations: what is stored stays. */
export const revocationPending =
  "the hypervisor is away or refused; here the access is gone all the same, and there it goes as soon as the hypervisor takes it"
