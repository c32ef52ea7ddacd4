import type { TreeProblem } from "@rangewright/domain/tree"

/** Why content is not taken. Plain data: it crosses from the thread that unpacks. */
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

/** Content that is not taken. `asFault` makes the caller's fault of it. */
export class Refusal extends Error {
  readonly why: RefusalReason
  constructor(why: RefusalReason) {
    super(why.type === "tree" ? why.problem.detail : why.detail)
    this.why = why
  }
}

export const refuseTree = (problem: TreeProblem): Refusal => new Refusal({ type: "tree", problem })

/** An archive that is not what it should be. */
export const damaged = (detail: string, item?: string): Refusal =>
  new Refusal({ type: "archive", reason: "broken", rule: "archive", detail, ...(item === undefined ? {} : { item }) })

/** An archive that asks for more than it may have. */
export const tooLarge = (rule: string, detail: string, hint?: string): Refusal =>
  new Refusal({ type: "archive", reason: "too-large", rule, detail, ...(hint === undefined ? {} : { hint }) })
