import {
  copiesThatFit,
  freeNumbers,
  howTo,
  InvalidInput,
  isCluster,
  nodeUse,
  NotFound,
  type Range,
  rangeNumberSpan,
  singleNode,
  sizedMachines,
  type User,
} from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { blueprintConfig, readableBlueprint } from "../blueprint/find-blueprint.ts"
import { presentMachines } from "../host/present-machines.ts"
import { operation } from "../operation/operation.ts"
import { readRangeConfig, refusedConfig } from "../range/read-config.ts"
import { Settings } from "../settings.ts"
import { Capacity } from "../wire/capacity.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

/** The configuration of the blueprint, else of the range. */
const textOf = Effect.fnUntraced(function* (blueprintId: string | undefined, range: Range | undefined, user: User) {
  const ranges = yield* Ranges
  if (blueprintId !== undefined) return yield* blueprintConfig(yield* readableBlueprint(blueprintId, user))
  if (range === undefined)
    return yield* new InvalidInput({
      what: "Cannot tell how many ranges fit: neither a blueprint nor a range was named",
      hint: "Name one: blueprintID or rangeID.",
    })
  const stored = yield* ranges.config(range.id)
  if (stored === undefined)
    return yield* new NotFound({
      what: `Cannot tell how many ranges like ${range.id} fit: it has no configuration`,
      hint: `Upload one: ${howTo("PUT /range/config", {}, range.id)}.`,
    })
  return stored.text
})

export const getCapacity = operation({
  id: "getCapacity",
  route: "GET /capacity",
  group: "Host",
  origin: "ours",
  does: "read how many ranges fit",
  summary: "How many more ranges of a blueprint, or like a range, fit on the nodes",
  access: "admin",
  target: "none",
  query: { blueprintID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Capacity },
  statuses: {
    200: "how many fit, by the memory of nodes that are up, as they were last seen",
    ...blueprintStatuses,
    400: "neither blueprintID nor rangeID was sent; the configuration is not valid",
    403: "the caller is not an administrator; the user acted as may not use the blueprint or the range",
    404: "the blueprint or the range is unknown; the range has no configuration",
  },
  handle: ({ query, range, user }) =>
    Effect.gen(function* () {
      const settings = yield* Settings
      const machineStore = yield* Machines
      const ranges = yield* Ranges
      const parsed = yield* readRangeConfig(yield* textOf(query.blueprintID, range, user))
      if (Result.isFailure(parsed)) return yield* refusedConfig(parsed.failure)
      const cluster = (yield* machineStore.cluster) ?? { nodes: [] }
      const inCluster = isCluster(settings.clusterMode, cluster.nodes)
      const single = singleNode({ cluster }, settings)
      const nodes = cluster.nodes.filter(({ name, online }) => online && (inCluster || name === single))
      const there = yield* ranges.overview({})
      const present = presentMachines(there)
      const free = new Map(nodes.map((node) => [node.name, nodeUse(node, present).freeMemoryMiB]))
      const machines = sizedMachines(parsed.success.config, { rangeId: range?.id ?? "", inCluster })
      const numbers = freeNumbers(
        rangeNumberSpan,
        new Set([...settings.reservedRangeNumbers, ...there.map((one) => one.range.number)]),
      )
      const fits = copiesThatFit(free, machines, numbers)
      return {
        fits,
        limitedBy: fits === numbers ? ("range numbers" as const) : ("memory" as const),
        one: {
          machines: machines.length,
          cpus: machines.reduce((sum, { cpus }) => sum + cpus, 0),
          memoryMiB: machines.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0),
        },
      }
    }),
})
