import type { YieldableError } from "effect/Cause"
import * as Data from "effect/Data"

/** The kind of failure. Only adapter-http knows which HTTP status a kind has. */
export type FaultKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "precondition"
  | "exhausted"
  | "too-large"
  | "unavailable"
  | "timeout"
  | "cancelled"
  /** Too many requests; `retryAfter` says when to try again. */
  | "throttled"
  /** The work was tried and failed, or its object was never made; the request itself is valid. */
  | "failed"

/** One finding about a part of the input. `path` is dotted with array indexes (`ludus[2].vlan`), line and column count from 1. */
export interface FaultIssue {
  readonly path: string
  readonly message: string
  readonly line?: number
  readonly column?: number
  readonly allowed?: string
}

/** The text of a fault: what could not be done, to what, and why; `hint` says how to proceed. */
export interface FaultText {
  readonly message: string
  readonly hint?: string
  readonly issues?: readonly FaultIssue[]
  /** Seconds after which the request may be repeated. */
  readonly retryAfter?: number
}

/** An expected failure. Everything else is a defect. Faults can be yielded in Effect generators and thrown as errors. */
export interface Fault<Tag extends string = string, Facts = unknown> extends Error {
  readonly _tag: Tag
  readonly kind: FaultKind
  readonly facts: Facts
  readonly hint: string | undefined
  readonly issues: readonly FaultIssue[]
  readonly retryAfter: number | undefined
}

/** The class of a fault, constructed from its facts. */
export interface FaultClass<Tag extends string, Facts> {
  new (facts: Facts): Fault<Tag, Facts> & YieldableError
}

/**
 * Defines the class of a fault: `class RangeNotFound extends defineFault("RangeNotFound", "not-found", (f: { rangeId: string }) => ({ … }))
 * {}`. The kind may depend on the facts, for a source of faults (such as a hypervisor) that fails in several ways.
 */
export const defineFault = <const Tag extends string, Facts>(
  tag: Tag,
  kind: FaultKind | ((facts: Facts) => FaultKind),
  describe: (facts: Facts) => FaultText,
): FaultClass<Tag, Facts> => {
  class Defined extends Data.TaggedError(tag)<{ readonly message: string }> {
    readonly kind: FaultKind
    readonly facts: Facts
    readonly hint: string | undefined
    readonly issues: readonly FaultIssue[]
    readonly retryAfter: number | undefined
    constructor(facts: Facts) {
      const text = describe(facts)
      super({ message: text.message } as never)
      this.kind = typeof kind === "function" ? kind(facts) : kind
      this.facts = facts
      this.hint = text.hint
      this.issues = text.issues ?? []
      this.retryAfter = text.retryAfter
    }
  }
  return Defined
}

/** Distinguishes an expected failure from any other thrown value. */
export const isFault = (u: unknown): u is Fault =>
  u instanceof Error && "_tag" in u && "kind" in u && "facts" in u && "issues" in u
