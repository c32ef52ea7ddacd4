import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** What one check of the installation found. */
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

/** Looks at everything that the service needs, also at the hypervisor and at programs of the host. */
export interface DoctorShape {
  /** What was found at most a minute ago; one look serves all who ask meanwhile. */
  readonly recent: Effect.Effect<Findings>
  readonly again: Effect.Effect<Findings>
}

/** Undefined: whoever composed the service left it out. */
export const Doctor: Context.Reference<DoctorShape | undefined> = Context.Reference<DoctorShape | undefined>(
  "rangewright/Doctor",
  { defaultValue: () => undefined },
)
