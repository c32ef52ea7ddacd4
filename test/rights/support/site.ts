import {
  addTemplate,
  licenseLayer,
  makeMemoryArtifacts,
  makeMemoryNames,
  makeMemoryStore,
  makeMemoryWorld,
  memoryArtifactsLayer,
  memoryHypervisorLayer,
  memoryNamesLayer,
  memoryStorageLayer,
  openLicense,
  memoryVpnLayer,
  memoryPackagesLayer,
} from "@rangewright/adapter-memory"
import {
  accessControlLayer,
  accessKeeperLayer,
  Activity,
  ApiDescription,
  type AppServices,
  operations,
  packageLooksLayer,
  rangeEngineLayer,
  runKinds,
  runPlannerLayer,
  Settings,
  SignIns,
  sourceContentsLayer,
} from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { type Fault, type GroupName, isFault, type RangeId, type User, type UserId } from "@rangewright/domain"
import {
  AccessRecords,
  CredentialHasher,
  Groups,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  Machines,
  Ranges,
  RunJournal,
  SecretStore,
  TokenSigner,
  Users,
} from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Random from "effect/Random"
import * as References from "effect/References"
import { labSettings } from "../../runs/support/lab.ts"
import { skewed } from "../../runs/support/skewed-clock.ts"
import { makeVirtualClock } from "../../runs/support/virtual-clock.ts"
import { guardedPorts } from "../../support/guarded-ports.ts"
import { copyOfWorld } from "../../support/memory-copies.ts"
import { type CallGate, makeCallGate } from "./call-gate.ts"
import { makeRandom } from "./random.ts"

/** What outlives a process: the store, the world and time. `watch` is called after each change of access in the world. */
export interface Site {
  readonly store: ReturnType<typeof makeMemoryStore>
  readonly world: ReturnType<typeof makeMemoryWorld>
  readonly clock: ReturnType<typeof makeVirtualClock>
  watch: () => void
  serial: number
  /** The hypervisor as this process sees it, if different from the world's. */
  readonly hypervisor?: (gate: CallGate) => ReturnType<typeof memoryHypervisorLayer>
}

const templates = ["debian-11-x64-server-template", "debian-12-x64-server-template"]

export const makeSite = (): Site => {
  const world = makeMemoryWorld()
  templates.forEach((name, i) => addTemplate(world, 9001 + i, name))
  return { store: makeMemoryStore(), world, clock: makeVirtualClock(), watch: () => undefined, serial: 0 }
}

/** A copy of the store and world, at the same time. */
export const copySite = (site: Site): Site => ({
  store: structuredClone(site.store),
  world: copyOfWorld(site.world),
  clock: makeVirtualClock(site.clock.now()),
  watch: () => undefined,
  serial: site.serial,
})

type Guarded =
  | AccessRecords
  | Groups
  | GuestAutomation
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | Machines
  | Ranges
  | RunJournal
  | Users
const guardedKeys = [
  AccessRecords,
  Groups,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  Machines,
  Ranges,
  RunJournal,
  Users,
] as const

/** Notifies the site's watcher of every change of access, whatever caused it. */
const watchedLayer = (site: Site) =>
  Layer.effectContext(
    Effect.map(Effect.context<HypervisorAccess>(), (context) => {
      const access = Context.get(context, HypervisorAccess)
      const apply: typeof access.apply = (change, password) =>
        Effect.ensuring(
          access.apply(change, password),
          Effect.sync(() => site.watch()),
        )
      return Context.add(context, HypervisorAccess, { ...access, apply })
    }),
  )

const sealed = (plain: string, context: string): string => `${context}\n${plain}`
export const unsealed = (text: string): string => text.slice(text.indexOf("\n") + 1)

export interface ProcessOptions {
  readonly gate?: CallGate
  /** Names the process among those that share the store. */
  readonly owner?: string
  /** Runs the service's background work: keeps access in line and takes over runs of dead processes. */
  readonly background?: boolean
  /** Seconds by which its host's clock is ahead; a function if somebody sets the clock later. */
  readonly ahead?: number | (() => number)
}

const lookEverySeconds = 15

const backgroundLayer = Layer.merge(
  accessKeeperLayer,
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { recover } = yield* RunEngine
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(recover), Effect.sleep(lookEverySeconds * 1000))))
    }),
  ),
)

/** A process over a site. */
export const boot = (
  site: Site,
  { gate = makeCallGate(site.clock.stir), owner = "service", background = false, ahead = 0 }: ProcessOptions = {},
) => {
  const clock =
    ahead === 0 ? site.clock : { ...site.clock, ...skewed(site.clock, typeof ahead === "function" ? ahead : () => ahead) }
  const hypervisor = site.hypervisor?.(gate) ?? memoryHypervisorLayer(site.world)
  const seen = Layer.effectContext(
    Effect.map(Effect.context<Guarded>(), (context) => guardedPorts(gate, guardedKeys, context)),
  ).pipe(Layer.provide(Layer.mergeAll(memoryStorageLayer(site.store), Layer.provideMerge(watchedLayer(site), hypervisor))))
  const serial = () => ++site.serial
  /** At least 0 and below 1; no two runs get the same identity. */
  const random = () => makeRandom(serial()).share()
  const base = Layer.mergeAll(
    Layer.provideMerge(seen, Layer.merge(memoryStorageLayer(site.store), hypervisor)),
    licenseLayer(openLicense),
    memoryNamesLayer(makeMemoryNames()),
    // a cluster, where ranges have rights on VNets too
    Layer.succeed(Settings, { ...labSettings, clusterMode: true }),
    Layer.succeed(Clock.Clock, clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
    // identities are distinct and reproducible
    Layer.succeed(Random.Random, { nextIntUnsafe: () => Math.floor(random() * 2 ** 32), nextDoubleUnsafe: random }),
  )
  const others = Layer.mergeAll(
    Layer.provideMerge(sourceContentsLayer, memoryArtifactsLayer(makeMemoryArtifacts())),
    Layer.succeed(ApiDescription, { yaml: "" }),
    Layer.succeed(Activity, {
      user: () => undefined,
      range: () => undefined,
      lastOfRange: () => undefined,
      keptOn: () => undefined,
      keptOnBecause: () => undefined,
      countIdleFrom: () => undefined,
      idleCountsFrom: () => undefined,
      flush: Effect.void,
    }),
    Layer.succeed(CredentialHasher, {
      hash: (key) => key,
      verify: (key, hash) => key === hash,
      verifyFirstGeneration: () => Effect.succeed(false),
      equal: (a, b) => a === b,
      randomText: (length) => serial().toString(36).padStart(length, "0"),
      vncAnswer: (_password, challenge) => challenge,
    }),
    Layer.succeed(SecretStore, { seal: sealed, open: (text) => Effect.succeed(unsealed(text)) }),
    memoryVpnLayer(),
    Layer.provideMerge(packageLooksLayer, memoryPackagesLayer()),
    Layer.succeed(TokenSigner, { sign: () => Effect.succeed(""), subject: () => undefined, verify: () => Effect.succeed(false) }),
  )
  const engine = rangeEngineLayer({ owner }, runKinds).pipe(
    Layer.provideMerge(Layer.merge(runPlannerLayer, accessControlLayer)),
    Layer.provideMerge(others),
    Layer.provideMerge(base),
  )
  const layer = background ? Layer.provideMerge(backgroundLayer, engine) : engine
  // signing in plays no part here
  const runtime = ManagedRuntime.make(layer as unknown as Layer.Layer<Exclude<AppServices, SignIns> | SignIns>)
  return { gate, site, runtime }
}
export type Process = ReturnType<typeof boot>

/** A request to one operation, as the pipeline passes it to the handler. */
export interface Call {
  readonly id: string
  readonly as: string
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly range?: string
  readonly group?: string
}

export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: Fault }
  /** The process died, or the call was never answered. */
  | { readonly ok: false; readonly fault: undefined }

const userIn = ({ store }: Site, id: string): User | undefined => store.users.get(id as UserId)?.user

/** Runs an operation on a process. The objects it names are looked up at the time of the call; undefined: one does not exist. */
export const call = (process: Process, asked: Call): Promise<Answer> | undefined => {
  const { site, runtime, gate } = process
  const operation = operations.find(({ id }) => id === asked.id)
  if (operation === undefined) throw new Error(`there is no operation ${asked.id}`)
  const user = userIn(site, asked.as)
  const range = asked.range === undefined ? undefined : site.store.ranges.get(asked.range as RangeId)
  const group = asked.group === undefined ? undefined : site.store.groups.get(asked.group as GroupName)?.group
  if (user === undefined || (asked.range !== undefined && range === undefined)) return undefined
  if (asked.group !== undefined && group === undefined) return undefined
  const meta = { requestId: "r", remote: "", lastEventId: undefined }
  const { path = {}, query = {}, body } = asked
  const answer = runtime
    .runPromiseExit(operation.handle({ path, query, body, file: undefined, caller: user, user, range, group, meta }))
    .then((exit): Answer => {
      if (Exit.isSuccess(exit)) return { ok: true, value: exit.value }
      const fault = Cause.squash(exit.cause)
      if (isFault(fault)) return { ok: false, fault }
      if (gate.dead()) return { ok: false, fault: undefined }
      throw fault
    })
  const died = gate.struck.then((): Promise<Answer> | Answer => (gate.dead() ? { ok: false, fault: undefined } : answer))
  return Promise.race([answer, died])
}

export const sleep = ({ runtime }: Process, seconds: number): Promise<void> => runtime.runPromise(Effect.sleep(seconds * 1000))

export const stop = ({ runtime }: Process): Promise<void> => runtime.dispose().catch(() => undefined)
