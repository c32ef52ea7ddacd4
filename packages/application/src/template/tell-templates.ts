import { CannotPlan, type Fault, unbuilt, type User, withTemplatesKnown } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { listTemplates } from "./list-templates.ts"

/**
 * Adds to a failure for missing templates which of them the user can build, and how, and which not. Unchanged when that cannot be
 * determined.
 */
export const tellTemplates = (user: User) =>
  Effect.catch((fault: Fault) =>
    Effect.gen(function* () {
      if (!(fault instanceof CannotPlan) || fault.facts.issues.every(({ templates }) => templates === undefined))
        return yield* Effect.fail(fault)
      const { doing, issues } = fault.facts
      const known = yield* Effect.mapError(listTemplates(user), () => fault)
      return yield* new CannotPlan({ doing, issues: withTemplatesKnown(issues, unbuilt(known)) })
    }),
  )
