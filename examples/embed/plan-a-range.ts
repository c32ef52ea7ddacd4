/**
 * Rangewright as a library: plan a range, without a service, a database or a hypervisor.
 *
 * The planner asks ports for what it needs. Here they are the in-memory adapters; an embedder gives adapters of its own, or
 * those of adapter-storage and adapter-proxmox.
 */
import {
  addTemplate,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
} from "@rangewright/adapter-memory"
import { RunPlanner, runPlannerLayer, Settings } from "@rangewright/application"
import { renderPlan, type RangeId, type RecordId, type UserId, wholeDeploy } from "@rangewright/domain"
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

const settings = Layer.succeed(Settings, {
  version: "0",
  peerVersion: "2.3.0",
  reservedRangeNumbers: [],
  hypervisorRealm: "pve",
  clusterMode: undefined,
  sdnZone: "ludus",
  vxlanTagBase: 0,
  natNetwork: "vmbr1000",
  defaultNode: undefined,
  vmStorage: undefined,
  vmidSpan: { from: 20_000, to: 29_999 },
  maxLogHistory: 100,
  inactivityShutdown: "0",
  rangeDefaults: {},
  onlyAdminsChangeArtifacts: false,
  protectedAddresses: [],
  hypervisorUrl: "",
  observeEverySeconds: 10,
})

const world = makeMemoryWorld()
addTemplate(world, 100, "debian-11-x64-server-template")
addTemplate(world, 101, "debian-12-x64-server-template")

const planned = Effect.gen(function* () {
  const ranges = yield* Ranges
  const range = yield* ranges.create({
    id: "LAB" as RangeId,
    recordId: "aaaaaaaaaaaaaaa" as RecordId,
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
  return yield* (yield* RunPlanner).plan(range, { kind: "deploy", options }, "ROOT" as UserId, "preview")
})

const adapters = Layer.mergeAll(memoryStorageLayer(makeMemoryStore()), memoryHypervisorLayer(world), settings)
const plan = await Effect.runPromise(planned.pipe(Effect.provide(runPlannerLayer.pipe(Layer.provideMerge(adapters)))))
process.stdout.write(`${renderPlan(plan)}\n`)
