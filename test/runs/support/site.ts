import {
  licenseLayer,
  makeMemoryArtifacts,
  makeMemoryBuilds,
  makeMemoryNames,
  makeMemoryPackages,
  makeMemoryRegistry,
  makeMemoryStore,
  makeMemoryWorld,
  memoryArtifactsLayer,
  memoryBuilderLayer,
  memoryHypervisorLayer,
  memoryNamesLayer,
  memoryStorageLayer,
  memorySubscriptionLayer,
  openLicense,
  publishTo,
  memoryVpnLayer,
  memoryPackagesLayer,
} from "@rangewright/adapter-memory"
import {
  packageLooksLayer,
  rangeEngineLayer,
  runKinds,
  runPlannerLayer,
  Settings,
  sourceContentsLayer,
} from "@rangewright/application"
import type { RecordId, UserId } from "@rangewright/domain"
import {
  ArtifactLibrary,
  Blueprints,
  ContentFetcher,
  CredentialHasher,
  HypervisorTemplates,
  type LegacyData,
  type NewUser,
  NodePackages,
  PackageFolder,
  RoleInstaller,
  RunJournal,
  SecretStore,
  Sources,
  type StorageFault,
  TemplateBuilder,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import { guardedPorts } from "../../support/guarded-ports.ts"
import { type CrashGate, makeCrashGate } from "./crash-gate.ts"
import { labSettings } from "./lab.ts"
import { makeVirtualClock } from "./virtual-clock.ts"

/** The user who installs. */
export const ada = "ADA" as UserId
export const newAda: NewUser = {
  id: ada,
  recordId: "user00000000001" as RecordId,
  name: "Ada",
  email: "ada@lab.example",
  isAdmin: false,
  hypervisorUsername: "ada",
  hypervisorRealm: "pve",
  secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "" },
  createdAt: new Date(0),
}

/** What outlives a process: its store, fetchable content, the published pub.docker 7.4.4, and a clock. */
export const makeSite = () => {
  const [store, world, artifacts] = [makeMemoryStore(), makeMemoryWorld(), makeMemoryArtifacts()]
  const [builds, packages] = [makeMemoryBuilds(), makeMemoryPackages()]
  const bytes = new TextEncoder().encode("[]\n")
  publishTo(artifacts.galaxy, "role", "pub.docker", "7.4.4", {
    entries: [
      { kind: "file", path: "tasks/main.yml", size: bytes.length, executable: false, read: Effect.succeed(bytes) },
      { kind: "file", path: "meta/main.yml", size: 0, executable: false, read: Effect.succeed(new Uint8Array()) },
    ],
  })
  let texts = 0
  const randomText = (length: number) => (++texts).toString(36).padStart(length, "0")
  const storage: Layer.Layer<StoragePorts, StorageFault> = memoryStorageLayer(store)
  return { store, storage, world, artifacts, builds, packages, clock: makeVirtualClock(), randomText }
}
export type Site = ReturnType<typeof makeSite>

type StoragePorts = Exclude<Layer.Success<ReturnType<typeof memoryStorageLayer>>, LegacyData>
type Guarded =
  | ArtifactLibrary
  | Blueprints
  | ContentFetcher
  | HypervisorTemplates
  | NodePackages
  | PackageFolder
  | RoleInstaller
  | RunJournal
  | Sources
  | TemplateBuilder
const keys = [
  ArtifactLibrary,
  Blueprints,
  ContentFetcher,
  HypervisorTemplates,
  NodePackages,
  PackageFolder,
  RoleInstaller,
  RunJournal,
  Sources,
  TemplateBuilder,
] as const

/** A process on a site that installs content, with its ports behind a gate. */
export const boot = (
  { storage, world, artifacts, builds, packages, clock, randomText }: Site,
  gate: CrashGate = makeCrashGate(),
) => {
  const ports = Layer.mergeAll(
    storage,
    memoryArtifactsLayer(artifacts),
    memoryHypervisorLayer(world),
    memoryBuilderLayer(world, builds),
    memoryPackagesLayer(packages),
  )
  const seen = Layer.effectContext(Effect.map(Effect.context<Guarded>(), (context) => guardedPorts(gate, keys, context)))
  const base = Layer.mergeAll(
    licenseLayer(openLicense),
    memoryNamesLayer(makeMemoryNames()),
    memorySubscriptionLayer(makeMemoryRegistry()),
    Layer.succeed(CredentialHasher, {
      hash: String,
      verify: () => true,
      vncAnswer: (_password, challenge) => challenge,
      verifyFirstGeneration: () => Effect.succeed(false),
      equal: (a, b) => a === b,
      randomText,
    }),
    memoryVpnLayer(),
    Layer.succeed(SecretStore, { seal: (plain) => plain, open: (sealed) => Effect.succeed(sealed) }),
    Layer.succeed(Settings, labSettings),
    Layer.succeed(Clock.Clock, clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  const services = Layer.provideMerge(
    Layer.merge(sourceContentsLayer, packageLooksLayer),
    Layer.merge(base, Layer.provideMerge(seen, ports)),
  )
  return ManagedRuntime.make(
    rangeEngineLayer({ owner: "service" }, runKinds).pipe(Layer.provideMerge(runPlannerLayer), Layer.provideMerge(services)),
  )
}
export type Process = ReturnType<typeof boot>
