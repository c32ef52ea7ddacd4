import { type RangeId, rangeSubject } from "@rangewright/domain"
import { Machines, RunJournal } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { longRead } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { rangeTopology } from "../range/range-topology.ts"
import { topologyObject, TopologyObject } from "../wire/topology.ts"

/** Titles of the steps in progress, by machine name. */
const stepsAtWork = Effect.fnUntraced(function* (rangeId: RangeId) {
  const journal = yield* RunJournal
  const engine = yield* RunEngine
  const run = yield* journal.active(rangeSubject(rangeId))
  if (run === undefined) return new Map<string, string>()
  const { steps } = yield* engine.state(run.id)
  const atWork = [...steps.values()].filter(({ phase }) => phase === "started" || phase === "dispatched")
  return new Map(atWork.flatMap(({ step: { machine, title } }) => (machine === undefined ? [] : [[machine, title] as const])))
})

export const getTopology = operation({
  id: "getTopology",
  route: "GET /range/topology",
  group: "Range",
  origin: "ours",
  does: "read the network of a range",
  summary: "The range's network: router, VLANs with their machines, and the rules between them",
  access: "range-access",
  target: "range",
  output: { type: "json", schema: TopologyObject },
  statuses: { 200: "as it is deployed, or, before the first deploy, as it is configured; with the machines that are there" },
  handle: ({ range }) =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const topology = yield* rangeTopology(range, yield* machines.ofRange(range.id))
      return topologyObject(range.id, topology, yield* longRead(stepsAtWork(range.id)))
    }),
})
