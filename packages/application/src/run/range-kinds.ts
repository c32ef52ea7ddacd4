import { Conflict, rangeOf, RangeNotFound, type RangeRunKind, rangeRunKinds } from "@rangewright/domain"
import { type GuestAutomation, type Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { finishRun } from "./finish-run.ts"
import { RunPlanner } from "./planner.ts"
import { restoreRequest } from "./request.ts"
import type { RunKind } from "./run-kind.ts"

const doing: Readonly<Record<RangeRunKind, string>> = {
  deploy: "a deploy",
  destroy: "the removal of its VMs",
  "delete-range": "its removal",
  "destroy-vm": "the removal of a VM",
  power: "a power change",
  "auto-shutdown": "an automatic shutdown",
  access: "a change of who may use it",
}

const rangeKind = (name: RangeRunKind): RunKind<GuestAutomation | RunPlanner | Ranges | Machines> => ({
  name,
  doing: doing[name],
  whenBusy: "refuse",
  plan: Effect.fnUntraced(function* (head, isOpen) {
    const request = restoreRequest(head.options)
    const rangeId = rangeOf(head)
    if (request === undefined || rangeId === undefined)
      return yield* new Conflict({
        what: `Cannot go on with run ${head.id}: what it was asked to do cannot be read from the store`,
        hint: "Start a new run.",
      })
    const range = yield* (yield* Ranges).find(rangeId)
    if (range === undefined) return yield* new RangeNotFound({ rangeId })
    return yield* (yield* RunPlanner).plan(range, request, head.by, isOpen ? "when open" : "before opening")
  }),
  workNamed: () => undefined,
  owner: () => Effect.succeed(undefined),
  guestOptions: ({ options }) => {
    const request = restoreRequest(options)
    const { verbose, onlyRoles } = request?.kind === "deploy" ? request.options : { verbose: false, onlyRoles: [] }
    return { verbose, onlyRoles }
  },
  finish: finishRun,
})

/** The runs that change machines of a range: they share the planner, the actions and what their end means. */
export const rangeKinds = rangeRunKinds.map(rangeKind)
