import { type GuestAutomation, GuestFault, type GuestTask } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const unsupported = ({ stage, name }: GuestTask): Effect.Effect<never, GuestFault> =>
  Effect.fail(
    new GuestFault({
      doing: `run stage ${stage}`,
      machine: name,
      reason: "unsupported",
      detail: "nothing is configured that can run stages in guests",
    }),
  )

/** For operators who want nothing done inside machines: plans omit such work and say so. */
export const noGuestAutomation: Context.Service.Shape<typeof GuestAutomation> = {
  leftOut: true,
  roles: () => Effect.succeed(undefined),
  dispatch: unsupported,
  settle: unsupported,
}
