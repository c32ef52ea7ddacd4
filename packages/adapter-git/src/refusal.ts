import type { TreeProblem } from "@rangewright/domain/tree"

/** Why content is refused. Plain data, because it is sent from the unpacking thread. */
export type RefusalReason =
  | { readonly type: "tree"; readonly problem: TreeProblem }
  | {
      readonly type: "archive"
      readonly reason: "broken" | "too-large"
      readonly rule: string
      readonly detail: string
      readonly item?: string
      readonly hint?: string
    }

/** Refused content. `asFault` turns it into a fault for the caller. */
export class Refusal extends Error {
  readonly why: RefusalReason
  constructor(why: RefusalReason) {
    super(why.type === "tree" ? why.problem.detail : why.detail)
    this.why = why
  }
}

export const refuseTree = (problem: TreeProblem): Refusal => new Refusal({ type: "tree", problem })

/** A malformed archive. */
export const damaged = (detail: string, item?: string): Refusal =>
  new Refusal({ type: "archive", reason: "broken", rule: "archive", detail, ...(item === undefined ? {} : { item }) })

/** An archive that exceeds a limit. */
export const tooLarge = (rule: string, detail: string, hint?: string): Refusal =>
  new Refusal({ type: "archive", reason: "too-large", rule, detail, ...(hint === undefined ? {} : { hint }) })
