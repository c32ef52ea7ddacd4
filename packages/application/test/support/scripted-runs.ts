import { type Fault, Failed, type Plan, type RangeId, type Step, type UserId, wholeDeploy } from "@rangewright/domain"
import { handlerServicesLayer, runKinds, RunPlanner, type RunRequest } from "@rangewright/application"
import { type RunKind, runEngineLayer } from "@rangewright/run-engine"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { rangeKinds } from "../../src/run/range-kinds.ts"
import { restoreRequest } from "../../src/run/request.ts"

/** The ending of a run: it ends, continues until the test is over, or waits for the hypervisor. */
export type Ending =
  | { readonly status: "success" }
  | { readonly status: "failure"; readonly message: string }
  | "running"
  | "waiting"

/** Runs of ranges that a test scripts: the requests, and their endings. */
export interface ScriptedRuns {
  readonly asked: { readonly request: RunRequest; readonly by: UserId }[]
  plan: (request: RunRequest) => Plan
  ending: (request: RunRequest) => Ending
  /** Runs while the run is planned. */
  planning: (request: RunRequest) => Effect.Effect<void, Fault>
  /** What the run does to the world before it ends. */
  effect: (request: RunRequest) => Effect.Effect<void, Fault>
}

const emptyPlan = (rangeId: RangeId): Plan => ({
  rangeId,
  steps: [],
  changes: [],
  placements: [],
  allocations: [],
  notes: [],
  criticalPathSeconds: 0,
})

export const stepOf = (key: string, action: Step["action"]): Step => ({
  key,
  title: `Do ${key}`,
  tag: undefined,
  machine: undefined,
  action,
  after: [],
  uses: [],
  estimate: 1,
})

export const scriptedRuns = (rangeId: string): ScriptedRuns => ({
  asked: [],
  plan: () => emptyPlan(rangeId as RangeId),
  ending: () => ({ status: "success" }),
  planning: () => Effect.void,
  effect: () => Effect.void,
})

/** The range kind with the script's plan, which has at least one step, and the script's ending for each step. */
const scripted = <R>(runs: ScriptedRuns, kind: RunKind<R>): RunKind<R> => {
  const endings = new Map<string, Ending>()
  const requestOf = ({ options, id }: Parameters<RunKind["plan"]>[0]) => {
    const request = restoreRequest(options)
    if (request === undefined) throw new Error(`the request of run ${id} cannot be read`)
    return request
  }
  return {
    ...kind,
    plan: (head, isOpen) =>
      Effect.gen(function* () {
        const request = requestOf(head)
        yield* runs.planning(request)
        if (!isOpen) runs.asked.push({ request, by: head.by })
        endings.set(head.id, runs.ending(request))
        const plan = runs.plan(request)
        return plan.steps.length > 0
          ? plan
          : { ...plan, steps: [stepOf("work", { kind: "work", work: "scripted", input: null })] }
      }),
    actions: {
      dispatch: () => Effect.succeed(null),
      settle: (_step, _token, { head }) =>
        Effect.gen(function* () {
          yield* runs.effect(requestOf(head))
          const ending = endings.get(head.id)
          if (ending === "running") return yield* Effect.never
          if (ending === "waiting")
            return yield* new HypervisorFault({ doing: "work", reason: "away", detail: "node1 does not answer" })
          if (ending?.status === "failure") return yield* new Failed({ what: ending.message })
          return { facts: {}, output: "" }
        }),
    },
  }
}

const scriptedPlans = (runs: ScriptedRuns) =>
  Layer.succeed(RunPlanner, {
    plan: (_range, request) => Effect.map(runs.planning(request), () => runs.plan(request)),
    drift: () =>
      Effect.sync(() => {
        const { changes, kept = [], notes } = runs.plan({ kind: "deploy", options: { ...wholeDeploy, verbose: false } })
        const differences = changes.filter(({ kind }) => kind !== "none")
        return { inSync: differences.length === 0, differences, kept, notes }
      }),
  })

/** The engine with scripted runs of ranges; all other runs are unchanged. */
export const scriptedRunsLayer = (runs: ScriptedRuns) =>
  runEngineLayer({ owner: "test", fenced: [] }, [...rangeKinds.map((kind) => scripted(runs, kind)), ...runKinds]).pipe(
    Layer.provideMerge(scriptedPlans(runs)),
    (engine) => Layer.provideMerge(handlerServicesLayer, engine),
  )
