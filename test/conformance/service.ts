import { apiDescriptionLayer } from "@rangewright/adapter-http"
import {
  makeMemoryBuilds,
  addTemplate,
  makeMemoryNames,
  makeMemoryProvider,
  makeMemoryWorld,
  memoryBuilderLayer,
  type MemoryFiles,
  memoryHypervisorLayer,
  memoryNamesLayer,
  makeMemoryPackages,
  type MemoryPackages,
  memoryPackagesLayer,
  memoryProviderLayer,
  type MemoryProvider,
  type MemoryWorld,
} from "@rangewright/adapter-memory"
import {
  bringInLine,
  Doctor,
  giveMissingVpnKeys,
  operations,
  packageLooksLayer,
  Settings,
  type AppServices,
  type Operation,
  type SettingsShape,
  type SingleSignOn,
  rangeRequest,
} from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import type {
  BlueprintId,
  Fault,
  GroupName,
  GroupRole,
  License,
  ObservedCluster,
  RangeId,
  RecordId,
  RunEvent,
  RunId,
  Session,
  UserId,
  Vmid,
} from "@rangewright/domain"
import { wholeDeploy, writeDescription } from "@rangewright/domain"
import {
  Blueprints,
  ConsoleTickets,
  CredentialHasher,
  Groups,
  Identities,
  Machines,
  Ranges,
  ScopedKeys,
  SecretStore,
  Sessions,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { idOf, type Kept, startService, type Service, type ServiceOptions } from "../../packages/adapter-http/test/support.ts"
import { settings as testSettings } from "../../packages/application/test/support/app.ts"
import { scriptedRuns, scriptedRunsLayer } from "../../packages/application/test/support/scripted-runs.ts"
import { copyOfArtifacts, copyOfWorld } from "../support/memory-copies.ts"
import { fillGalaxy, seedRoles } from "./seed-roles.ts"
import { fillRepositories, seedSources } from "./seed-sources.ts"
import { fillRegistry } from "./seed-subscription.ts"
import { seedTemplates, startBuilds } from "./seed-templates.ts"

/** The identity provider, at which the member has just signed in. */
export const signedInThere = { code: "a code", issuer: "https://login.example/", subject: "248289761001" }
export const ownPage = "https://lab.example"

/** A node, and a patched package for it. */
const patchedPackages = (): MemoryPackages => {
  const version = { name: "pve-qemu-kvm", version: "10.0.2-4+lab1" } as const
  const memory = makeMemoryPackages([
    { for: "10.0.2-4", packages: [{ ...version, architecture: "amd64", bytes: 1, sha256: "0".repeat(64) }] },
  ])
  memory.nodes.set("node1", {
    architecture: "amd64",
    packages: [{ name: "pve-qemu-kvm", version: "10.0.2-4", held: false, settled: true, offered: ["10.0.2-4"] }],
    reachable: true,
    broken: undefined,
  })
  return memory
}

const ownSingleSignOn: SingleSignOn = {
  name: "Example",
  origin: ownPage,
  redirectUrls: [],
  claim: "email",
  domains: [],
  makesUsers: false,
}

const settings: SettingsShape = {
  ...testSettings,
  reservedRangeNumbers: [],
  templateBuilds: 2,
  singleSignOn: ownSingleSignOn,
  kms: { host: { host: "kms.example.org", port: 1688 }, server: undefined, hostKey: undefined },
  vpn: { host: "vpn.example.org", port: 51_820, publicKey: "6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI=" },
}

/** The password of every user except the bootstrap account. */
export const password = "correct horse battery"

/** Configuration of R1, one Windows machine. */
export const config = `ludus:
  - vm_name: "{{ range_id }}-win11"
    hostname: "{{ range_id }}-WIN11"
    template: win11-template
    vlan: 10
    ip_last_octet: 21
    ram_gb: 4
    cpus: 2
    windows: {}
`

const machine = {
  node: "node1",
  power: "running",
  template: false,
  pool: "R1" as RangeId,
  cpus: 2,
  memoryMiB: 4096,
  tags: ["rangewright"],
} as const

const cluster: ObservedCluster = {
  at: new Date("2026-01-02T03:04:05Z"),
  nodes: [{ name: "node1", online: true, cpus: 8, cpuLoad: 0, memoryMiB: 65_536, memoryUsedMiB: 0 }],
  storages: [],
  machines: [
    { ...machine, vmid: 20_000 as Vmid, name: "R1-win11" },
    { ...machine, vmid: 900 as Vmid, name: "win11-template", power: "stopped", template: true, pool: "SHARED" as RangeId },
  ],
}

/** A session of the member, without a browser. */
export const seededSession: Session = {
  id: "session00000000" as RecordId,
  hash: "0".repeat(64),
  userId: idOf.member,
  createdAt: new Date(),
  lastSeenAt: new Date(),
  remote: "192.0.2.7",
  agent: "Browser/1.0",
}

/** A ticket for the console of R1's machine, for the member, valid on any page. */
export const consoleTicket = "t".repeat(43)

const seedConsole = Effect.gen(function* () {
  yield* (yield* ConsoleTickets).issue({
    hash: (yield* CredentialHasher).hash(consoleTicket),
    callerId: idOf.member,
    userId: idOf.member,
    rangeId: "R1" as RangeId,
    vmid: 20_000 as Vmid,
    origin: undefined,
    expiresAt: new Date(Date.now() + 3_600_000),
  })
})

/** A further key of the member. */
export const seededKeyId = "k".repeat(12)

const seedScopedKey = Effect.gen(function* () {
  const now = Date.now()
  yield* (yield* ScopedKeys).create({
    id: seededKeyId,
    userId: idOf.member,
    name: "seeded",
    hash: "0".repeat(64),
    scope: { kind: "read" },
    createdAt: new Date(now),
    expiresAt: new Date(now + 3_600_000),
  })
})

const deploy = { kind: "deploy", options: { ...wholeDeploy, verbose: false } } as const

/** G1, which the member manages and which has one of the member's ranges; G2, which the member and the stranger belong to. */
const seedGroups = Effect.gen(function* () {
  const groups = yield* Groups
  const roles = {
    G1: [[idOf.member, "manager"]],
    G2: [
      [idOf.member, "member"],
      [idOf.stranger, "member"],
    ],
  } as const
  for (const [n, name] of (["G1", "G2"] as const).entries()) {
    const recordId = `group${String(n).padStart(10, "0")}` as RecordId
    yield* groups.create({ name: name as GroupName, recordId, description: "", createdAt: cluster.at })
    yield* groups.setRoles(name as GroupName, new Map<UserId, GroupRole>(roles[name]))
  }
  yield* groups.addRange("G1" as GroupName, "lab/web/1" as RangeId)
})

/** web/basic of the member, shared with the group that the member manages. */
const seedBlueprints = Effect.gen(function* () {
  const blueprints = yield* Blueprints
  const { id } = yield* blueprints.create({
    id: "web/basic" as BlueprintId,
    recordId: "blueprint000000" as RecordId,
    owner: idOf.member,
    name: "A web server",
    description: "One machine",
    version: "1.0.0",
    tags: ["web"],
    minVersion: "",
    config,
    requirements: undefined,
    bundle: undefined,
    thumbnail: { name: "web_x.png", type: "image/png", bytes: new Uint8Array([0x89, 0x50]) },
    createdAt: cluster.at,
  })
  yield* blueprints.shareWithGroup(id, "G1" as GroupName)
})

/** Passwords, hypervisor accounts, groups, a blueprint, a machine in R1 with configuration, and a failed run of R1; returns the run's id. */
const seed = Effect.gen(function* () {
  const users = yield* Users
  const secrets = yield* SecretStore
  const ranges = yield* Ranges
  for (const id of [idOf.admin, idOf.member, idOf.stranger]) {
    yield* users.setSecrets(id, { sealedPassword: secrets.seal(password, `password of ${id}`) })
  }
  yield* giveMissingVpnKeys
  yield* seedGroups
  yield* seedBlueprints
  yield* seedSources
  yield* seedConsole
  yield* (yield* Sessions).begin(seededSession, (yield* users.forAuthentication(seededSession.userId))!.secrets)
  yield* seedScopedKey
  const { issuer, subject } = signedInThere
  const identity = { issuer, subject, userId: idOf.member, createdAt: cluster.at }
  yield* (yield* Identities).link(identity, { administrators: false })
  yield* seedRoles
  yield* seedTemplates
  yield* users.change(idOf.admin, { defaultRangeId: "R2" as RangeId })
  yield* (yield* Machines).replace(cluster)
  yield* ranges.setConfig("R1" as RangeId, config)
  yield* bringInLine({ doing: "begin", by: idOf.admin, concerns: () => true })
  return yield* runUntil("Ended")
})

/** A run of R1, once this is in its journal. */
const runUntil = Effect.fnUntraced(function* (reached: RunEvent["type"]) {
  const range = yield* (yield* Ranges).find("R1" as RangeId)
  if (range === undefined) return yield* Effect.die("R1 was not seeded")
  const engine = yield* RunEngine
  const { id } = yield* engine.start(rangeRequest(range, deploy), idOf.member)
  yield* engine.events(id, 0).pipe(
    Stream.takeUntil(({ event: { type } }) => type === reached),
    Stream.runDrain,
  )
  return id
})

/** Here an archive is the JSON of its files; real formats are tested with the adapter that reads them. */
const uploadedFiles = (path: string): MemoryFiles | undefined => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as MemoryFiles
  } catch {
    return undefined
  }
}

export interface WholeService extends Service {
  /** A run of R1: failed, unless one in progress was asked for. */
  readonly runId: RunId
  /** The hypervisor. */
  readonly world: MemoryWorld
  /** The identity provider. */
  readonly provider: MemoryProvider
}

const checked = Effect.succeed({ at: new Date(0), findings: [{ level: "ok" as const, what: "disk", detail: "9 GiB free" }] })

interface WholeOptions {
  readonly running?: boolean
  /** The member and the administrator build a template each. */
  readonly building?: boolean
  /** R1 is in testing mode, and may reach 203.0.113.9. */
  readonly testing?: boolean
  readonly license?: License
  /** Settings that differ from the defaults. */
  readonly singleSignOn?: Partial<SingleSignOn>
  readonly more?: readonly Operation[]
  readonly storage?: ServiceOptions["storage"]
  /** What it begins with, besides what is in `storage`; absent: it is seeded. */
  readonly seeded?: Seeded | undefined
}

/** What a seeded service leaves when it stops. */
export interface Seeded {
  readonly kept: Kept
  readonly world: MemoryWorld
  readonly runId: RunId
}

/** Seeds a service and stops it: seeding one takes far longer than starting another with a copy of what it left. */
export const seedService = async (options: Pick<WholeOptions, "storage"> = {}): Promise<Seeded> => {
  const { stop, world, runId, ...kept } = await startSeeded({ ...options, seeded: undefined })
  await stop()
  return { kept, world, runId }
}

let inMemory: Promise<Seeded> | undefined
/** The same for storage in memory, once for all tests. */
export const seededInMemory = (): Promise<Seeded> => (inMemory ??= seedService())

/** Every operation of the registry, and `more`, over the memory adapters. Runs end at once; with `running`, R1 has one that does not end. */
export const startWholeService = async (options: WholeOptions = {}): Promise<WholeService> =>
  startSeeded(options.storage === undefined ? { ...options, seeded: await seededInMemory() } : options)

const newWorld = (): MemoryWorld => {
  const world = makeMemoryWorld()
  const vm = addTemplate(world, 20_000, "R1-win11")
  // in no pool, so that a range can be deleted here although no real run deletes its machines
  const mark = { range: "R1" as RangeId, machine: "R1-win11" }
  world.vms.set(vm.vmid, { ...vm, template: false, power: "running", pool: undefined, description: writeDescription(mark, []) })
  return world
}

const startSeeded = async ({
  running = false,
  building = false,
  testing = false,
  license,
  singleSignOn,
  more = [],
  storage,
  seeded,
}: WholeOptions): Promise<WholeService> => {
  const runs = scriptedRuns("R1")
  const world = seeded === undefined ? newWorld() : copyOfWorld(seeded.world)
  const kept = seeded?.kept
  const builds = makeMemoryBuilds()
  const provider = makeMemoryProvider()
  provider.codes.set(signedInThere.code, { ...signedInThere, claims: {} })
  builds.script = () => ({ prints: ["==> debian-own: Creating VM\n"], seconds: 3600 })
  const service = await startService({
    operations: [...operations, ...more],
    ...(license === undefined ? {} : { license }),
    ...(storage === undefined ? {} : { storage }),
    ...(kept === undefined
      ? {}
      : { kept: { ...kept, store: structuredClone(kept.store), artifacts: copyOfArtifacts(kept.artifacts) } }),
    services: scriptedRunsLayer(runs).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          memoryHypervisorLayer(world),
          memoryBuilderLayer(world, builds),
          memoryProviderLayer(provider),
          Layer.provideMerge(packageLooksLayer, memoryPackagesLayer(patchedPackages())),
          memoryNamesLayer({ ...makeMemoryNames(), listening: new Set(["kms.example.org:1688"]) }),
          Layer.succeed(Doctor, { recent: checked, again: checked }),
          Layer.succeed(Settings, { ...settings, singleSignOn: { ...ownSingleSignOn, ...singleSignOn } }),
          apiDescriptionLayer(operations, settings),
        ),
      ),
    ) as unknown as Layer.Layer<AppServices>,
  })
  service.artifacts.content.archives.get = uploadedFiles
  const start = async (effect: Effect.Effect<RunId, Fault, AppServices>): Promise<RunId> => {
    const exit = await Effect.runPromise(Fiber.await(service.run(effect)))
    if (Exit.isFailure(exit)) throw new Error(`The service could not be seeded: ${String(exit.cause)}`)
    return exit.value
  }
  fillRepositories(service.artifacts.content)
  fillRegistry(service.artifacts.registry)
  fillGalaxy(service.artifacts.galaxy)
  runs.ending = () => ({ status: "failure", message: "the disk is full" })
  const failed = seeded?.runId ?? (await start(seed))
  if (testing) {
    const closed = { mode: "on", allowedDomains: [], allowedIps: ["203.0.113.9"] } as const
    await start(
      Effect.as(
        Ranges.use((ranges) => ranges.change("R1" as RangeId, { testing: closed })),
        failed,
      ),
    )
  }
  runs.ending = () => "running"
  const runId = running ? await start(runUntil("StepDispatched")) : failed
  if (building) await start(startBuilds)
  runs.ending = () => ({ status: "success" })
  return { ...service, runId, world, provider }
}
