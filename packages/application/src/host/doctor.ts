import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The finding of one check of the installation. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail"
  readonly what: string
  readonly detail: string
  /** What to do about it. */
  readonly hint?: string
}

export interface Findings {
  readonly at: Date
  readonly findings: readonly Finding[]
}

/** Checks everything that the service needs, including the hypervisor and programs of the host. */
export interface DoctorShape {
  /** Findings at most a minute old; one check serves all callers meanwhile. */
  readonly recent: Effect.Effect<Findings>
  readonly again: Effect.Effect<Findings>
}

/** Undefined: the service was composed without it. */
export const Doctor: Context.Reference<DoctorShape | undefined> = Context.Reference<DoctorShape | undefined>(
  "rangewright/Doctor",
  { defaultValue: () => undefined },
)
