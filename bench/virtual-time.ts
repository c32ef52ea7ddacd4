/**
 * The real planner, engine and Proxmox adapter over the simulator in this process, with the store in memory, on the simulator's own clock.
 * Whenever nothing can run, time jumps to the next due event: a deploy of an hour takes a second, and is the same every time.
 */
import { cryptoLayer } from "@rangewright/adapter-crypto"
import {
  licenseLayer,
  makeMemoryArtifacts,
  makeMemoryBuilds,
  makeMemoryNames,
  makeMemoryStore,
  makeMemoryWorld,
  type MemoryArtifacts,
  memoryArtifactsLayer,
  memoryBuilderLayer,
  memoryNamesLayer,
  makeMemoryProvider,
  memoryProviderLayer,
  memoryStorageLayer,
  memoryTemplatesLayer,
  openLicense,
  memoryVpnLayer,
  memoryPackagesLayer,
} from "@rangewright/adapter-memory"
import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import {
  activityLayer,
  signInsLayer,
  sourceContentsLayer,
  ApiDescription,
  type AppServices,
  rangeEngineLayer,
  runKinds,
  handlerServicesLayer,
  packageLooksLayer,
  runPlannerLayer,
  type RunRequest,
  Settings,
  type SettingsShape,
  rangeRequest,
} from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import type { Range, RangeId, RecordId, RoleSequence, RunId, RunState, UserId } from "@rangewright/domain"
import { wholeDeploy } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import {
  createManualClock,
  createSimulator,
  shippedTemplates,
  type Simulator,
  type TemplateSpec,
} from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { runOnSimTime } from "../test/contracts/hypervisor/support/sim-time.ts"

/** The administrator who owns and deploys the range. */
export const owner = "OWNER" as UserId

const settingsFor = (nodes: number): SettingsShape => ({
  version: "0.0.0",
  peerVersion: "2.3.0",
  reservedRangeNumbers: [],
  hypervisorRealm: "pve",
  clusterMode: nodes > 1,
  sdnZone: "ludus",
  vxlanTagBase: 1000,
  natNetwork: "vmbr1000",
  defaultNode: undefined,
  vmStorage: undefined,
  vmidSpan: { from: 20_000, to: 29_999 },
  maxLogHistory: 100,
  inactivityShutdown: "0",
  rangeDefaults: {},
  onlyAdminsChangeArtifacts: false,
  protectedAddresses: [],
  hypervisorUrl: "https://pve.example",
  observeEverySeconds: 10,
})

/** Calls the simulator directly as root, not through the adapter. */
const asRoot = async (simulator: Simulator, method: string, path: string, body = ""): Promise<void> => {
  const headers = { authorization: `PVEAPIToken=${simulator.rootToken}`, "content-type": "application/x-www-form-urlencoded" }
  const answer = await simulator.handle({ method, path: `/api2/json${path}`, headers, body })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
}

/** Creates and applies the VXLAN zone that an operator creates once for a cluster. */
const makeZone = async (simulator: Simulator, zone: string, nodes: number): Promise<void> => {
  const peers = Array.from({ length: nodes }, (_, i) => `10.0.0.${11 + i}`).join("%2C")
  await asRoot(simulator, "POST", "/cluster/sdn/zones", `type=vxlan&zone=${zone}&peers=${peers}`)
  await asRoot(simulator, "PUT", "/cluster/sdn")
}

const newRange = (id: string, number: number, config: string, by: UserId) => ({
  id: id as RangeId,
  recordId: id.toLowerCase().padEnd(15, "0") as RecordId,
  number,
  reservedNumbers: [],
  name: id,
  description: "",
  purpose: "",
  config,
  createdBy: by,
  owners: [by],
  createdAt: new Date(0),
})

const newOwner = (id: UserId) => ({
  id,
  recordId: id.toLowerCase().padEnd(15, "0") as RecordId,
  name: id,
  email: `${id.toLowerCase()}@lab.example`,
  isAdmin: true,
  hypervisorUsername: id === owner ? "root" : id.toLowerCase(),
  hypervisorRealm: "pam",
  secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: id },
  createdAt: new Date(0),
})

export interface VirtualLab {
  readonly simulator: Simulator
  readonly range: Range
  /** The content that sources are fetched from. */
  readonly artifacts: MemoryArtifacts
  /** Runs an effect in a process of its own; the store and the simulated machines outlive it. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, AppServices>) => Promise<A>
}

export interface VirtualLabOptions {
  /** The configuration of range LAB, number 7. */
  readonly config: string
  readonly nodes?: number
  readonly seed?: number
  /** Templates in addition to those of common labs. */
  readonly templates?: readonly TemplateSpec[]
  readonly kms?: SettingsShape["kms"]
}

/** A cluster with this many nodes on virtual time, and a range that has a configuration but is not deployed. */
export const makeVirtualLab = async ({
  config,
  nodes = 1,
  seed = 1,
  templates = [],
  kms,
}: VirtualLabOptions): Promise<VirtualLab> => {
  const clock = createManualClock()
  const simulator = createSimulator({ nodes, seed, clock, templates: [...shippedTemplates, ...templates] })
  const settings = { ...settingsFor(nodes), ...(kms === undefined ? {} : { kms }) }
  const artifacts = makeMemoryArtifacts()
  const [id = "", secret = ""] = simulator.rootToken.split("=")
  const ports = Layer.mergeAll(
    memoryStorageLayer(makeMemoryStore()),
    proxmoxLayer({
      urls: [],
      transport: handlerTransport(simulator.handle),
      auth: { type: "token", id, secret: Redacted.make(secret) },
    }),
    cryptoLayer({ bytes: new Uint8Array(32) }),
    memoryArtifactsLayer(artifacts),
    memoryBuilderLayer(makeMemoryWorld(), makeMemoryBuilds()),
    memoryTemplatesLayer(makeMemoryWorld()),
    licenseLayer(openLicense),
    memoryVpnLayer(),
    Layer.provideMerge(packageLooksLayer, memoryPackagesLayer()),
    memoryNamesLayer(makeMemoryNames()),
    memoryProviderLayer(makeMemoryProvider()),
    Layer.succeed(Settings, settings),
    Layer.succeed(ApiDescription, { yaml: "" }),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  const service: Layer.Layer<AppServices> = handlerServicesLayer.pipe(
    Layer.provideMerge(rangeEngineLayer({ owner: "service" }, runKinds)),
    Layer.provideMerge(runPlannerLayer),
    Layer.provideMerge(Layer.mergeAll(activityLayer, signInsLayer, sourceContentsLayer)),
    Layer.provideMerge(ports),
  )
  let processes = 0
  // run ids come from the seed too, and no two processes may create the same ones
  const run: VirtualLab["run"] = (effect) => runOnSimTime(clock, Random.withSeed(effect, `${seed} ${++processes}`), service)
  const range = await run(
    Effect.gen(function* () {
      if (nodes > 1) {
        yield* Effect.promise(() => makeZone(simulator, settings.sdnZone, nodes))
        yield* Effect.sleep("30 seconds")
      }
      yield* (yield* Users).create(newOwner(owner))
      return yield* (yield* Ranges).create(newRange("LAB", 7, config, owner))
    }),
  )
  simulator.calls.clear()
  return { simulator, range, artifacts, run }
}

const everything: Extract<RunRequest, { readonly kind: "deploy" }> = {
  kind: "deploy",
  options: { ...wholeDeploy, verbose: false },
}

export interface VirtualDeploy {
  readonly runId: RunId
  readonly state: RunState
  /** Simulated seconds from the request, its planning included, to the end of the run. */
  readonly seconds: number
}

/** Deploys the whole range and waits for the end, whatever it is. Without `roleSequence`, the configuration's counts. */
export const deployLab = (lab: VirtualLab, roleSequence?: RoleSequence): Promise<VirtualDeploy> =>
  lab.run(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const start = lab.simulator.clock.now()
      const options = { ...everything.options, ...(roleSequence === undefined ? {} : { roleSequence }) }
      const { id } = yield* engine.start(rangeRequest(lab.range, { ...everything, options }), owner)
      const state = yield* engine.wait(id)
      return { runId: id, state, seconds: (lab.simulator.clock.now() - start) / 1000 }
    }),
  )

/** A range to deploy beside others. */
export interface SharedDeploy {
  readonly config: string
  /** The user who deploys it; created if missing. Default: `owner`. */
  readonly by?: UserId
}

/**
 * Deploys new ranges of a lab at the same moment, without LAB. Returns the results in the order of `deploys`; seconds count from the
 * requests.
 */
export const deployTogether = (lab: VirtualLab, deploys: readonly SharedDeploy[]): Promise<readonly VirtualDeploy[]> =>
  lab.run(
    Effect.gen(function* () {
      const [engine, users, ranges] = [yield* RunEngine, yield* Users, yield* Ranges]
      const start = lab.simulator.clock.now()
      const asked = yield* Effect.forEach(deploys, ({ config, by = owner }, i) =>
        Effect.gen(function* () {
          if ((yield* users.find(by)) === undefined) yield* users.create(newOwner(by))
          return { by, range: yield* ranges.create(newRange(`R${i + 1}`, 10 + i, config, by)) }
        }),
      )
      return yield* Effect.forEach(
        asked,
        ({ by, range }) =>
          Effect.gen(function* () {
            const { id } = yield* engine.start(rangeRequest(range, everything), by)
            const state = yield* engine.wait(id)
            return { runId: id, state, seconds: (lab.simulator.clock.now() - start) / 1000 }
          }),
        { concurrency: "unbounded" },
      )
    }),
  )
