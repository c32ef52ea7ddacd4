import {
  Conflict,
  noAmounts,
  rangeOf,
  RangeNotFound,
  type RangeRunKind,
  rangeRunKinds,
  rangeStateAfter,
  rangeStateDuring,
} from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import type { RunKind, ServicesOfActions, ShownState } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { finishRun } from "./finish-run.ts"
import { notifyEnd } from "./notify-end.ts"
import { RunPlanner } from "./planner.ts"
import { rangeActions } from "./range-actions.ts"
import { restoreRequest, resumedRequest } from "./request.ts"
import { Settings } from "../settings.ts"

const doing: Readonly<Record<RangeRunKind, string>> = {
  deploy: "a deploy",
  destroy: "the removal of its VMs",
  "delete-range": "its removal",
  "destroy-vm": "the removal of a VM",
  power: "a power change",
  "auto-shutdown": "an automatic shutdown",
  access: "a change of access to it",
  "snapshot-create": "a snapshot",
  "snapshot-rollback": "a rollback to a snapshot",
  "snapshot-remove": "the removal of a snapshot",
  "testing-start": "the start of testing",
  "testing-stop": "the end of testing",
  "testing-change": "a change of what is allowed while testing",
  "testing-update": "an update of Windows",
  "kms-license": "the activation of Windows",
  "kms-install": "the set-up of a KMS host",
  "anti-sandbox-enable": "a disguise of machines",
  "anti-sandbox-disable": "the end of a disguise of machines",
}

const systemLimits = Settings.use(({ quotaDefaults = noAmounts }) => Effect.succeed(quotaDefaults))

const shownState = (name: RangeRunKind): { readonly rangeState?: ShownState } => {
  const during = rangeStateDuring(name)
  return during === undefined ? {} : { rangeState: { during, after: (status) => rangeStateAfter(name, status) ?? during } }
}

const rangeKind = (
  name: RangeRunKind,
): RunKind<
  | Effect.Services<ReturnType<typeof finishRun | typeof notifyEnd>>
  | ServicesOfActions<typeof rangeActions>
  | RunPlanner
  | Ranges
  | Settings
> => ({
  name,
  doing: doing[name],
  whenBusy: "refuse",
  plan: Effect.fnUntraced(function* (head, isOpen) {
    const ranges = yield* Ranges
    const planner = yield* RunPlanner
    const request = restoreRequest(head.options)
    const rangeId = rangeOf(head)
    if (request === undefined || rangeId === undefined)
      return yield* new Conflict({
        what: `Cannot continue run ${head.id}: its request cannot be read from the store`,
        hint: "Start a new run.",
      })
    const range = yield* ranges.find(rangeId)
    if (range === undefined) return yield* new RangeNotFound({ rangeId })
    return yield* planner.plan(range, request, head.by, isOpen ? "when open" : "before opening")
  }),
  resumed: resumedRequest,
  actions: rangeActions,
  basis: (subject) =>
    subject.type === "range"
      ? Effect.map(
          Ranges.use((ranges) => ranges.config(subject.id)),
          (config) => String(config?.updatedAt.getTime()),
        )
      : Effect.succeed(""),
  ...shownState(name),
  isShownAtWork: name === "deploy",
  ...(name === "deploy" ? { systemLimits } : {}),
  removesSubject: name === "delete-range",
  owner: () => Effect.succeed(undefined),
  finish: finishRun,
  ...(name === "deploy" ? { notify: notifyEnd } : {}),
})

/** The kinds of runs that change machines of a range: they share the planner, the actions and the handling of their end. */
export const rangeKinds = rangeRunKinds.map(rangeKind)
