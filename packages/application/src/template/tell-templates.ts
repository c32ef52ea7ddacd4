import { CannotPlan, type Fault, unbuilt, type User, withTemplatesKnown } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { listTemplates } from "./list-templates.ts"

/** A failure for missing templates says which of them the user can build, and how, and which not. What nobody can tell now stays as it is. */
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
