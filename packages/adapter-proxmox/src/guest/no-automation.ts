import { type GuestAutomation, GuestFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** For operators who want nothing done inside machines: plans leave such work out and say so. */
export const noGuestAutomation: Context.Service.Shape<typeof GuestAutomation> = {
  leftOut: true,
  roles: () => Effect.succeed(undefined),
  dispatch: (task) =>
    Effect.fail(
      new GuestFault({
        doing: `run stage ${task.stage}`,
        machine: task.name,
        reason: "unsupported",
        detail: "nothing is configured that runs stages in guests",
      }),
    ),
  settle: (task) =>
    Effect.fail(
      new GuestFault({
        doing: `run stage ${task.stage}`,
        machine: task.name,
        reason: "unsupported",
        detail: "nothing is configured that runs stages in guests",
      }),
    ),
}
