import { waitForRangeRuns } from "@rangewright/application"
import { runKind, work } from "@rangewright/run-engine"
import { workPlan } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Nothing = Schema.Struct({})

const rest = work({ name: "rest", input: Nothing, settle: () => Effect.as(waitForRangeRuns, {}) })
const carry = work({ name: "carry", input: Nothing, settle: () => Effect.as(Effect.sleep(5_000), {}) })

/** A minimal run about the whole installation: it waits until no range is being changed, then works twice for five seconds. */
export const move = runKind({
  name: "move",
  doing: "a move",
  request: Nothing,
  plan: () =>
    Effect.succeed(
      workPlan([
        rest.step({ key: "rest", title: "Wait until no range is being changed", estimate: 1 }, {}),
        ...["one", "two"].map((room, at, rooms) =>
          carry.step({ key: room, title: `Carry ${room}`, after: [at === 0 ? "rest" : (rooms[at - 1] ?? "")], estimate: 5 }, {}),
        ),
      ]),
    ),
  works: [rest, carry],
  whenBusy: "join",
})
