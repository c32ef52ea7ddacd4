import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { presentMachines } from "../host/present-machines.ts"
import { operation } from "../operation/operation.ts"
import { NodesObject, nodesObject } from "../wire/nodes.ts"

export const listNodes = operation({
  id: "listNodes",
  route: "GET /nodes",
  group: "Host",
  origin: "ours",
  does: "list the nodes",
  summary: "The nodes of the hypervisor: what is in use, and what is allocated to ranges",
  access: "admin",
  target: "none",
  output: { type: "json", schema: NodesObject },
  statuses: { 200: "the nodes as they were last seen; none before the first observation" },
  handle: () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const ranges = yield* Ranges
      return nodesObject(yield* machines.cluster, presentMachines(yield* ranges.overview({})), yield* machines.freshness)
    }),
})
