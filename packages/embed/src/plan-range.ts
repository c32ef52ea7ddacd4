import {
  addTemplate,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
} from "@rangewright/adapter-memory"
import { RunPlanner, runPlannerLayer, Settings, type SettingsShape, usualSettings } from "@rangewright/application"
import { rootUserId } from "@rangewright/domain/access"
import { type Plan, renderPlan, wholeDeploy } from "@rangewright/domain/plan"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { rangeId, recordId } from "./ids.ts"
import { invalid, requireKinds, withDefaults } from "./invalid.ts"

export interface RangeToPlan {
  /** The range configuration, YAML. */
  readonly configuration: string
  /** Names of the built templates. */
  readonly templates: readonly string[]
  /** `LAB` if absent. */
  readonly rangeId?: string
  /** Names of the hypervisor's nodes; one if absent. */
  readonly nodes?: readonly string[]
  /** Settings that differ from the defaults. */
  readonly settings?: Partial<SettingsShape>
}

export interface RangePlan {
  readonly plan: Plan
  /** The plan as text for display, in several lines. */
  readonly text: string
}

/** First VMID for templates: below those for ranges. */
const firstTemplate = 100

/**
 * The plan of a range's first deploy: each step with its dependencies, the addresses, and how long it takes. No hypervisor is contacted.
 * Rejects with `InvalidInputError`, including the reason, if the configuration cannot be deployed.
 */
export const planRange = async (wanted: RangeToPlan): Promise<RangePlan> => {
  requireKinds("planRange", { "its argument": wanted }, { "its argument": "object" })
  const { configuration, templates, rangeId: id = "LAB", nodes = ["node1"], settings = {} } = wanted
  requireKinds(
    "planRange",
    { configuration, templates, rangeId: id, nodes, settings },
    { configuration: "text", templates: "texts", rangeId: "text", nodes: "texts", settings: "object" },
  )
  const decided = withDefaults(usualSettings, settings)
  requireKinds(
    "planRange: settings",
    { ...decided },
    {
      reservedRangeNumbers: "list",
      sdnZone: "text",
      vxlanTagBase: "number",
      vmidSpan: "object",
      rangeDefaults: "object",
      protectedAddresses: "texts",
    },
  )
  requireKinds("planRange: settings: vmidSpan", { ...decided.vmidSpan }, { from: "number", to: "number" })
  const world = makeMemoryWorld(nodes)
  for (const [index, name] of templates.entries()) addTemplate(world, firstTemplate + index, name, nodes[0])
  const planned = Effect.gen(function* () {
    const ranges = yield* Ranges
    const range = yield* ranges.create({
      id: rangeId(id),
      recordId: recordId("aaaaaaaaaaaaaaa"),
      number: undefined,
      reservedNumbers: decided.reservedRangeNumbers,
      name: id,
      description: "",
      purpose: "",
      config: configuration,
      createdBy: undefined,
      owners: [],
      createdAt: new Date(0),
    })
    const planner = yield* RunPlanner
    return yield* planner.plan(range, { kind: "deploy", options: { ...wholeDeploy, verbose: false } }, rootUserId, "preview")
  })
  const adapters = Layer.mergeAll(
    memoryStorageLayer(makeMemoryStore()),
    memoryHypervisorLayer(world),
    Layer.succeed(Settings, decided),
  )
  const result = await Effect.runPromise(
    planned.pipe(Effect.result, Effect.provide(runPlannerLayer.pipe(Layer.provideMerge(adapters)))),
  )
  if (Result.isFailure(result)) return invalid(result.failure.message)
  return { plan: result.success, text: renderPlan(result.success) }
}
