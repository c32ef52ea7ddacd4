import {
  Activity,
  bringInLine,
  type AppServices,
  ApiDescription,
  type HandlerRequest,
  limitedLibraryLayer,
  type MarkedJson,
  type Operation,
  operations,
  packageLooksLayer,
  Settings,
  type SettingsShape,
  signInsLayer,
  sourceContentsLayer,
} from "@rangewright/application"
import {
  licenseLayer,
  makeMemoryArtifacts,
  makeMemoryBuilds,
  makeMemoryNames,
  makeMemoryProvider,
  type MemoryProvider,
  memoryProviderLayer,
  type MemoryNames,
  makeMemoryStore,
  makeMemoryWorld,
  type MemoryArtifacts,
  memoryArtifactsLayer,
  memoryBuilderLayer,
  type MemoryBuilds,
  memoryHypervisorLayer,
  memoryInstallerLayer,
  memoryNamesLayer,
  memoryStorageLayer,
  type MemoryStore,
  type MemoryWorld,
  openLicense,
  type MemoryVpn,
  memoryVpnLayer,
  memoryPackagesLayer,
} from "@rangewright/adapter-memory"
import {
  type Fault,
  groupOfAccount,
  rootUserId,
  type License,
  type ObservedCluster,
  type ObservedMachine,
  type Range,
  type RangeId,
  type RecordId,
  type RunId,
  type User,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import {
  type Archives,
  type ArtifactLibrary,
  type ContentFetcher,
  CredentialHasher,
  Machines,
  type MachineSighting,
  Ranges,
  type RoleInstaller,
  SecretStore,
  TokenSigner,
  Users,
  type VpnKeys,
  type VpnServer,
} from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { onTestFinished, vi } from "vitest"
import { scriptedRuns, type ScriptedRuns, scriptedRunsLayer } from "./scripted-runs.ts"
import { newRange } from "./new-range.ts"

export const settings: SettingsShape = {
  version: "0.0.0",
  peerVersion: "2.3.0",
  reservedRangeNumbers: [3],
  hypervisorRealm: "pve",
  clusterMode: false,
  sdnZone: "zone",
  vxlanTagBase: 1000,
  natNetwork: "vmbr1000",
  defaultNode: undefined,
  vmStorage: undefined,
  vmidSpan: { from: 20_000, to: 29_999 },
  maxLogHistory: 10,
  inactivityShutdown: "4h",
  rangeDefaults: {},
  onlyAdminsChangeArtifacts: false,
  protectedAddresses: [],
  hypervisorUrl: "https://pve.example:8006",
  observeEverySeconds: 5,
}

let randomTexts = 0
const secrets = Layer.mergeAll(
  Layer.succeed(CredentialHasher, {
    hash: (key) => `hash of ${key}`,
    verify: (key, hash) => hash === `hash of ${key}`,
    verifyFirstGeneration: () => Effect.succeed(false),
    equal: (a, b) => a === b,
    // distinct, and in the alphabet of record IDs
    randomText: (length) => (++randomTexts).toString(36).padStart(length, "0"),
    vncAnswer: (password, challenge) => challenge.map((byte, i) => byte ^ (password.codePointAt(i % password.length) ?? 0)),
  }),
  Layer.succeed(SecretStore, { seal: (plain) => plain, open: (sealed) => Effect.succeed(sealed) }),
  Layer.succeed(TokenSigner, { sign: () => Effect.succeed(""), subject: () => undefined, verify: () => Effect.succeed(false) }),
)

type Request = Partial<Omit<HandlerRequest, "meta">> & { readonly lastEventId?: string }

/** The application in memory: a store, a world, scripted runs, and operations called by their IDs. */
export interface TestApp {
  readonly artifacts: MemoryArtifacts
  /** The tool that builds templates. */
  readonly builds: MemoryBuilds
  readonly store: MemoryStore
  readonly world: MemoryWorld
  readonly runs: ScriptedRuns
  /** The simulated public internet. */
  readonly names: MemoryNames
  /** The identity provider. */
  readonly provider: MemoryProvider
  readonly run: <A>(effect: Effect.Effect<A, Fault, AppServices>) => Promise<A>
  /** Calls the handler as `user`, with decoded input. */
  readonly handle: (operationId: string, user: User, request?: Request) => Effect.Effect<unknown, Fault, AppServices>
  /** The same, without the answer's headers. */
  readonly call: (operationId: string, user: User, request?: Request) => Promise<unknown>
  /** The fault that the call fails with. */
  readonly fails: (operationId: string, user: User, request?: Request) => Promise<Fault>
  readonly addUser: (id: string, more?: { readonly isAdmin?: boolean }) => Promise<User>
  readonly addRange: (id: string, owners?: readonly User[], config?: string) => Promise<Range>
  readonly addMachine: (range: Range, vmid: number, name: string, more?: Partial<MachineSighting>) => Promise<void>
  readonly range: (id: string) => Promise<Range>
  /** The accounts that have rights on the range's pool through their groups. */
  readonly rightsOn: (id?: string) => readonly string[]
  /** Returns when a run has ended. */
  readonly ended: (runID: string) => Promise<void>
  /** Returns when access on the hypervisor is in line. */
  readonly inLine: () => Promise<void>
  readonly observe: (machines: readonly ObservedMachine[], at?: Date) => Promise<void>
}

const jsonOf = (answer: MarkedJson<unknown>): unknown =>
  "json" in answer
    ? answer.json
    : JSON.parse(typeof answer.prepared === "string" ? answer.prepared : new TextDecoder().decode(answer.prepared))

const named = (operationId: string): Operation => {
  const found = operations.find((operation) => operation.id === operationId)
  if (found === undefined) throw new Error(`no operation ${operationId}`)
  return found
}

export interface TestAppOptions {
  /** The ports for fetching sources and archives and for installing, if given; the others are in memory. */
  readonly content?:
    | Context.Context<Archives | ContentFetcher>
    | Context.Context<Archives | ArtifactLibrary | ContentFetcher | RoleInstaller>
  /** The licence in force; absent: one that includes everything. */
  readonly license?: License
  readonly settings?: Partial<SettingsShape>
  /** The VPN server, or keys and a real one; absent: there is none. */
  readonly vpn?: MemoryVpn | Layer.Layer<VpnKeys | VpnServer>
  /** The app before its process was restarted; its state is kept. */
  readonly after?: Pick<TestApp, "artifacts" | "builds" | "store" | "world">
  /** Scope of the app's services. Default: the running test. */
  readonly scope?: Scope.Scope
}

const scopeOfTest = (): Scope.Scope => {
  const scope = Scope.makeUnsafe()
  onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return scope
}

export const makeTestApp = ({
  content,
  license = openLicense,
  settings: chosen,
  vpn,
  after,
  scope = scopeOfTest(),
}: TestAppOptions = {}): TestApp => {
  const artifacts = after?.artifacts ?? makeMemoryArtifacts()
  const store = after?.store ?? makeMemoryStore()
  const world = after?.world ?? makeMemoryWorld()
  const builds = after?.builds ?? makeMemoryBuilds()
  const runs = scriptedRuns("LAB")
  const names = makeMemoryNames()
  const provider = makeMemoryProvider()
  const kept = new Map<RangeId, string>()
  const storage = memoryStorageLayer(store)
  const decided = Layer.succeed(Settings, { ...settings, ...chosen })
  const inMemory = memoryInstallerLayer(artifacts.galaxy).pipe(
    Layer.provideMerge(limitedLibraryLayer),
    Layer.provideMerge(Layer.mergeAll(memoryArtifactsLayer(artifacts), storage, decided)),
  )
  const fetched = content === undefined ? inMemory : Layer.merge(inMemory, Layer.succeedContext(content))
  const services = Layer.mergeAll(
    decided,
    storage,
    memoryHypervisorLayer(world),
    memoryBuilderLayer(world, builds),
    secrets,
    Layer.provide(signInsLayer, Layer.merge(storage, secrets)),
    Layer.provideMerge(sourceContentsLayer, fetched),
    licenseLayer(license),
    vpn === undefined || "peers" in vpn ? memoryVpnLayer(vpn) : vpn,
    Layer.provideMerge(packageLooksLayer, memoryPackagesLayer()),
    memoryNamesLayer(names),
    memoryProviderLayer(provider),
    Layer.succeed(ApiDescription, { yaml: "" }),
    Layer.succeed(Activity, {
      user: () => undefined,
      range: () => undefined,
      lastOfRange: () => undefined,
      keptOn: (id, because) => void (because === undefined ? kept.delete(id) : kept.set(id, because)),
      keptOnBecause: (id) => kept.get(id),
      countIdleFrom: () => undefined,
      idleCountsFrom: () => undefined,
      flush: Effect.void,
    }),
  )
  const layer: Layer.Layer<AppServices> = Layer.provideMerge(scriptedRunsLayer(runs), services)
  // built once: caches of a store must stay with it
  const context = Effect.runSync(Layer.buildWithScope(layer, scope))
  const run = <A>(effect: Effect.Effect<A, Fault, AppServices>) => Effect.runPromise(Effect.provideContext(effect, context))

  const handle = (operationId: string, user: User, { lastEventId, ...request }: Request = {}) =>
    named(operationId).handle({
      path: {},
      query: {},
      body: undefined,
      file: undefined,
      caller: user,
      user,
      range: undefined,
      group: undefined,
      ...request,
      meta: { requestId: "r1", remote: "127.0.0.1", lastEventId },
    })

  return {
    artifacts,
    builds,
    store,
    world,
    runs,
    names,
    provider,
    run,
    handle,
    rightsOn: (id = "LAB") => {
      const held = [...world.acl.values()].filter(({ path }) => path === `/pool/${id}`)
      const groups = new Set(held.map(({ subject }) => subject.name))
      return [...world.accounts.keys()].filter((account) => groups.has(groupOfAccount(account))).sort()
    },
    ended: (runID) => run(RunEngine.use((engine) => Effect.asVoid(engine.wait(runID as RunId)))),
    inLine: () =>
      vi.waitFor(() => run(Effect.asVoid(bringInLine({ doing: "wait", by: rootUserId, concerns: () => true }))), {
        timeout: 20_000,
      }),
    call: (id, user, request) =>
      run(
        Effect.map(handle(id, user, request), (answer) =>
          named(id).output.type === "marked-json" ? jsonOf(answer as MarkedJson<unknown>) : answer,
        ),
      ),
    fails: (id, user, request) => run(Effect.flip(handle(id, user, request)) as Effect.Effect<Fault, Fault, AppServices>),
    addUser: (id, { isAdmin = false } = {}) =>
      run(
        Effect.flatMap(Users, (users) =>
          users.create({
            id: id as UserId,
            recordId: id.toLowerCase().padStart(15, "0") as RecordId,
            name: `User ${id}`,
            email: `${id}@lab.example`,
            isAdmin,
            hypervisorUsername: id.toLowerCase(),
            hypervisorRealm: "pve",
            secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: id },
            createdAt: new Date(0),
          }),
        ),
      ),
    addRange: (id, owners = [], config = "ludus: []\n") =>
      run(
        Effect.flatMap(Ranges, (ranges) =>
          ranges.create(
            newRange(id, {
              reservedNumbers: settings.reservedRangeNumbers,
              name: `Range ${id}`,
              config,
              owners: owners.map((owner) => owner.id),
            }),
          ),
        ),
      ),
    addMachine: (range, vmid, name, more = {}) =>
      run(
        Effect.flatMap(Machines, (machines) =>
          machines.record({
            vmid: vmid as Vmid,
            node: "node1",
            name,
            power: "running",
            template: false,
            pool: range.id,
            cpus: 2,
            memoryMiB: 4608,
            tags: [],
            ...more,
          }),
        ),
      ),
    range: (id) =>
      run(
        Effect.flatMap(Ranges, (ranges) =>
          Effect.flatMap(ranges.find(id as RangeId), (range) =>
            range === undefined ? Effect.die("no range") : Effect.succeed(range),
          ),
        ),
      ),
    observe: (machines, at = new Date()) => {
      const cluster: ObservedCluster = {
        at,
        nodes: [{ name: "node1", online: true, cpus: 8, cpuLoad: 0, memoryMiB: 65_536, memoryUsedMiB: 0 }],
        storages: [],
        machines,
      }
      return run(Effect.flatMap(Machines, (service) => service.replace(cluster)))
    },
  }
}
