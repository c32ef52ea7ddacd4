import { type Database, databaseClockLayer } from "@rangewright/adapter-storage"
import { type ApiDescription, applicationLayer, type AppServices, Settings, type SettingsShape } from "@rangewright/application"
import type {
  CredentialHasher,
  GuestFault,
  Hypervisor,
  LegacyData,
  IdentityProvider,
  ImageServers,
  NameLookup,
  NodePackages,
  Notifications,
  PackageFolder,
  SecretStore,
  StorageFault,
  StoragePorts,
  TemplateBuilder,
  TokenSigner,
  VpnKeys,
  VpnServer,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ContentPorts } from "./content.ts"
import { ownerNamed } from "./owner-name.ts"
import type { GuestLayer } from "./guest.ts"
import type { SubscriptionPorts } from "./subscription.ts"
import type { LibraryNeeds, LibraryPorts } from "./library.ts"
import type { HypervisorPorts } from "./hypervisor.ts"

/** All storage ports, the data of an older installation, and the underlying database. */
export type Storage = StoragePorts | Database | LegacyData

/** Services that hold the installation's secrets. */
export type CryptoPorts = CredentialHasher | SecretStore | TokenSigner | VpnKeys

/** The adapters chosen by inversify. */
export interface Parts<E> {
  readonly settings: SettingsShape
  readonly crypto: Layer.Layer<CryptoPorts, E, Database>
  readonly subscription: Layer.Layer<SubscriptionPorts, E, ContentPorts>
  readonly storage: Layer.Layer<Storage, E>
  readonly hypervisor: Layer.Layer<HypervisorPorts>
  /** Replaces the guest automation of the hypervisor's adapter. */
  readonly guest: GuestLayer | undefined
  readonly content: Layer.Layer<ContentPorts, E>
  readonly library: Layer.Layer<LibraryPorts, E, LibraryNeeds>
  readonly internet: Layer.Layer<NameLookup | ImageServers | Notifications>
  readonly vpn: Layer.Layer<VpnServer>
  readonly packages: Layer.Layer<NodePackages | PackageFolder>
  readonly provider: Layer.Layer<IdentityProvider>
  readonly builder: Layer.Layer<TemplateBuilder, E, Hypervisor | ImageServers>
  readonly description: Layer.Layer<ApiDescription>
  readonly doctor: Layer.Layer<never, never, Exclude<Storage, LegacyData>>
  readonly auditDays: number
  /** Identifies this process among those that share the store; a service whose name another one uses gets a different one. */
  readonly owner: string
  /** See `RunEngineOptions`. */
  readonly deployShownSeconds: number
  /** False for a command: it does what it is told and runs no background work. */
  readonly background: boolean
}

export type Service = AppServices | Database

/** The whole dependency graph, checked by the compiler: a missing dependency does not compile. */
export const assemble = <E>({
  owner,
  deployShownSeconds,
  background,
  auditDays,
  ...parts
}: Parts<E>): Layer.Layer<Service, E | GuestFault | StorageFault> => {
  const driven = Layer.mergeAll(
    Layer.provideMerge(parts.builder, Layer.merge(parts.hypervisor, parts.internet)),
    Layer.provideMerge(Layer.merge(parts.library, parts.subscription), parts.content),
    parts.description,
    parts.vpn,
    parts.packages,
    parts.provider,
    parts.doctor,
    // before everything else: nothing starts until the key has opened the database
  ).pipe(
    Layer.provideMerge(Layer.succeed(Settings, parts.settings)),
    Layer.provideMerge(parts.crypto),
    Layer.provideMerge(databaseClockLayer),
    Layer.provideMerge(parts.storage),
  )
  const ports = parts.guest === undefined ? driven : Layer.provideMerge(parts.guest, driven)
  const application = Layer.unwrap(
    Effect.map(background ? ownerNamed(owner) : Effect.succeed(owner), (name) =>
      applicationLayer({ owner: name, deployShownSeconds, background, auditDays }),
    ),
  )
  return Layer.provideMerge(application, ports)
}
