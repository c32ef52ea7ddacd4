import {
  addTemplate,
  makeMemoryNames,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryNamesLayer,
  memoryStorageLayer,
} from "@rangewright/adapter-memory"
import {
  rangeEngineLayer,
  type RangeEngineOptions,
  runPlannerLayer,
  RunPlanner,
  type RunRequest,
  Settings,
  type SettingsShape,
  rangeRequest,
} from "@rangewright/application"
import { RunEngine, type RunKind } from "@rangewright/run-engine"
import {
  carriesMark,
  type Plan,
  type Range,
  type RangeId,
  readDescription,
  type UserId,
  type Vmid,
  wholeDeploy,
} from "@rangewright/domain"
import {
  AccessRecords,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  Machines,
  Notifications,
  Ranges,
  RunJournal,
  StepDurations,
  type StorageFault,
  Users,
} from "@rangewright/ports"
import { readFileSync } from "node:fs"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import { newRange } from "../../contracts/storage/samples.ts"
import { guardedPorts } from "../../support/guarded-ports.ts"
import { keptCopy } from "../../support/memory-copies.ts"
import { plainSecrets } from "../../support/plain-secrets.ts"
import { type CrashGate, makeCrashGate } from "./crash-gate.ts"
import { deletePlan, deployPlan, labTemplate, planOf, stepOf } from "./lab-plan.ts"
import { makeVirtualClock } from "./virtual-clock.ts"

export const admin = "ADMIN1" as UserId
export const deploy: Extract<RunRequest, { readonly kind: "deploy" }> = {
  kind: "deploy",
  options: { ...wholeDeploy, verbose: false },
}

export const labSettings: SettingsShape = {
  version: "0.0.0",
  peerVersion: "2.3.0",
  reservedRangeNumbers: [],
  hypervisorRealm: "pve",
  clusterMode: false,
  sdnZone: "range",
  vxlanTagBase: 1000,
  natNetwork: "vmbr1000",
  defaultNode: undefined,
  vmStorage: undefined,
  vmidSpan: { from: 20_000, to: 20_999 },
  maxLogHistory: 100,
  inactivityShutdown: "0",
  rangeDefaults: {},
  onlyAdminsChangeArtifacts: false,
  protectedAddresses: [],
  hypervisorUrl: "https://pve.example",
  observeEverySeconds: 10,
}

/** What outlives a process: the store, the world and time. `planner` makes its plans. */
export const makeLab = (
  names: readonly string[] = ["vm1", "vm2", "vm3", "vm4", "vm5", "vm6"],
  planner: Layer.Layer<RunPlanner, never, PlannerNeeds> = labPlanner(names),
) => {
  const world = makeMemoryWorld()
  addTemplate(world, labTemplate, "debian")
  const hypervisor: Layer.Layer<HypervisorPorts> = memoryHypervisorLayer(world)
  const store = makeMemoryStore()
  const storage: Layer.Layer<StoragePorts, StorageFault> = memoryStorageLayer(store)
  const internet = makeMemoryNames()
  return { store, storage, world, hypervisor, internet, clock: makeVirtualClock(), planner, config: "", settings: labSettings }
}
export type Lab = ReturnType<typeof makeLab>

/** Takes down a lab over memory adapters as it is now, and makes copies of that. Functions of its world, as of its faults, are shared. */
export const keptLab = (lab: Lab): (() => Lab) => {
  const [store, world, internet] = [keptCopy(lab.store), keptCopy(lab.world), keptCopy(lab.internet)]
  const now = lab.clock.now()
  return () => {
    const copy = { ...lab, store: store(), world: world(), internet: internet(), clock: makeVirtualClock(now) }
    return { ...copy, storage: memoryStorageLayer(copy.store), hypervisor: memoryHypervisorLayer(copy.world) }
  }
}

const templates = [
  "debian-11-x64-server-template",
  "debian-12-x64-server-template",
  "kali-x64-desktop-template",
  "win11-22h2-x64-enterprise-template",
  "win2022-server-x64-template",
]

/** A lab whose range is the example of a small company: a router and five machines, with the real planner. */
export const makeCompany = (): Lab => {
  const lab = makeLab([], runPlannerLayer)
  templates.forEach((name, i) => addTemplate(lab.world, 9001 + i, name))
  return { ...lab, config: readFileSync(new URL("../../../examples/ad-lab.yml", import.meta.url), "utf8") }
}

type HypervisorPorts = GuestAutomation | Hypervisor | HypervisorAccess | HypervisorNetwork
type StoragePorts = AccessRecords | Machines | Ranges | RunJournal | StepDurations | Users
type Ports = HypervisorPorts | StoragePorts | Notifications
type PlannerNeeds = Ports | Settings
const keys = [
  AccessRecords,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  Machines,
  Notifications,
  Ranges,
  RunJournal,
  StepDurations,
  Users,
] as const

/** A planner of whole labs: VMIDs are reserved, everything is planned anew each time, and existing effects cost nothing. */
const labPlanner = (names: readonly string[]) =>
  Layer.effect(
    RunPlanner,
    Effect.gen(function* () {
      const machines = yield* Machines
      const hypervisor = yield* Hypervisor
      return RunPlanner.of({
        drift: () => Effect.die(new Error("labs of hand-made plans have no configuration")),
        plan: Effect.fnUntraced(function* (range, request) {
          const { machines: seen } = yield* hypervisor.observe
          const taken = new Set<number>(seen.map(({ vmid }) => vmid))
          if (request.kind === "deploy")
            return deployPlan(range.id, yield* machines.reserve(range.id, names, taken, labSettings.vmidSpan))
          const known = yield* machines.reservations(range.id)
          const there = new Map([...known].filter(([, vmid]) => taken.has(vmid)))
          if (request.kind !== "power") return deletePlan(range.id, there)
          return planOf(
            range.id,
            [...there].map(([machine, vmid]) =>
              stepOf(
                `power:${machine}`,
                {
                  kind: request.change === "on" ? "start" : "stop",
                  machine: { vmid, node: "node1", mark: { range: range.id, machine } },
                  untilAgent: false,
                },
                [],
                1,
              ),
            ),
          )
        }),
      })
    }),
  )

/** A process on a lab: an engine on its store and world, behind a gate. */
export const boot = (
  lab: Lab,
  gate: CrashGate = makeCrashGate(),
  options: RangeEngineOptions = { owner: "service" },
  kinds: readonly RunKind<RunJournal>[] = [],
) => {
  const ports = Layer.effectContext(Effect.map(Effect.context<Ports>(), (context) => guardedPorts(gate, keys, context))).pipe(
    Layer.provide(Layer.mergeAll(lab.storage, lab.hypervisor, memoryNamesLayer(lab.internet))),
  )
  const base = Layer.mergeAll(
    ports,
    Layer.succeed(Settings, lab.settings),
    plainSecrets,
    Layer.succeed(Clock.Clock, lab.clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  const layer = rangeEngineLayer(options, kinds).pipe(Layer.provideMerge(lab.planner), Layer.provideMerge(base))
  return ManagedRuntime.make(layer)
}
export type Process = ReturnType<typeof boot>

export const createRange = async (lab: Lab, id = "LAB", number = 7): Promise<Range> => {
  const process = boot(lab)
  const range = await process.runPromise(
    Effect.flatMap(Ranges, (ranges) => ranges.create(newRange(id, { number, config: lab.config }))),
  )
  await process.dispose()
  return range
}

export const engineOf = <A, E>(process: Process, use: (engine: RunEngine["Service"]) => Effect.Effect<A, E>): Promise<A> =>
  process.runPromise(Effect.flatMap(RunEngine, use))

export const startAndWait = (process: Process, range: Range, request: RunRequest = deploy) =>
  engineOf(process, (engine) =>
    Effect.flatMap(engine.start(rangeRequest(range, request), admin), (head) =>
      Effect.map(engine.wait(head.id), (state) => ({ head, state })),
    ),
  )

/** Everything of ours in the world and in the store that outlasts a run, as data to compare. */
export const endOf = ({ world, store }: Lab) => ({
  vms: [...world.vms.values()]
    .filter(({ template }) => !template)
    .map(({ name, power, pool, cpus, memoryMiB, tags, description, nics, addresses, stages }) => ({
      name,
      power,
      pool,
      cpus,
      memoryMiB,
      tags,
      description,
      nics: nics.length,
      addresses,
      stages: Object.fromEntries(stages),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  networks: [...world.networks.keys()],
  pools: [...world.pools],
  rights: [...world.acl.keys()],
  states: [...store.ranges.values()].map(({ id, state }) => [id, state]),
  remembered: Object.fromEntries(
    [...store.stages.values()].flatMap((byVm) =>
      [...byVm].map(([vmid, stages]) => [world.vms.get(vmid)?.name ?? vmid, stages.size]),
    ),
  ),
})

/** Everything that a process leaves when it dies. */
export const outlives = ({ world, store, clock }: Lab) => ({
  store,
  world: { ...world, calls: world.calls.filter(({ mutating }) => mutating) },
  now: clock.now(),
})

/** VMs that carry our mark twice, or that no reservation knows. */
export const strays = ({ world, store }: Lab): readonly string[] => {
  const ours = [...world.vms.values()].filter(({ description }) => readDescription(description).mark !== undefined)
  const known = new Set<Vmid>([...store.reservations.values()].flatMap((byName) => [...byName.values()]))
  const orphans = ours.filter(({ vmid }) => !known.has(vmid)).map(({ vmid, name }) => `orphan ${vmid} ${name}`)
  const twice = ours
    .filter((a) =>
      ours.some(
        (b) =>
          b.vmid !== a.vmid &&
          carriesMark(b.description, readDescription(a.description).mark ?? { range: "" as RangeId, machine: "" }),
      ),
    )
    .map(({ vmid, name }) => `twice ${vmid} ${name}`)
  return [...orphans, ...twice]
}

export type { Plan }
