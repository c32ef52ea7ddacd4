/**
 * Use Rangewright as a library with your own adapters: the planner gets what it needs from ports. This example uses the in-memory adapters;
 * provide your own, or those of adapter-storage and adapter-proxmox. It uses Effect; plan-a-range.ts does the same without it.
 */
import {
  addTemplate,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
} from "@rangewright/adapter-memory"
import { RunPlanner, runPlannerLayer, Settings, usualSettings } from "@rangewright/application"
import { renderPlan, rootUserId, wholeDeploy } from "@rangewright/domain"
import { rangeId, recordId } from "@rangewright/embed"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const configuration = `
ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 20
    ip_last_octet: 5
    ram_gb: 2
    cpus: 1
    linux: true
`

const settings = Layer.succeed(Settings, { ...usualSettings, sdnZone: "labs" })

const world = makeMemoryWorld()
addTemplate(world, 100, "debian-11-x64-server-template")
addTemplate(world, 101, "debian-12-x64-server-template")

const planned = Effect.gen(function* () {
  const ranges = yield* Ranges
  const range = yield* ranges.create({
    id: rangeId("LAB"),
    recordId: recordId("aaaaaaaaaaaaaaa"),
    number: undefined,
    reservedNumbers: [],
    name: "A lab",
    description: "",
    purpose: "",
    config: configuration,
    createdBy: undefined,
    owners: [],
    createdAt: new Date(0),
  })
  const options = { ...wholeDeploy, verbose: false } as const
  return yield* (yield* RunPlanner).plan(range, { kind: "deploy", options }, rootUserId, "preview")
})

const adapters = Layer.mergeAll(memoryStorageLayer(makeMemoryStore()), memoryHypervisorLayer(world), settings)
const plan = await Effect.runPromise(planned.pipe(Effect.provide(runPlannerLayer.pipe(Layer.provideMerge(adapters)))))
process.stdout.write(`${renderPlan(plan)}\n`)
