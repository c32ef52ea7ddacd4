import type {
  Archives,
  ArtifactLibrary,
  BuilderFiles,
  ContentFetcher,
  CredentialHasher,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  HypervisorTemplates,
  IdentityProvider,
  ImageServers,
  LegacyData,
  LicenseProvider,
  MachineConsole,
  NameLookup,
  NetworkMigration,
  NodePackages,
  NodeShell,
  Notifications,
  PackageFolder,
  RoleInstaller,
  SecretStore,
  StoragePorts,
  SubscriptionProvider,
  TemplateBuilder,
  TokenSigner,
  VpnKeys,
  VpnServer,
} from "@rangewright/ports"
import type { AccessControl } from "./rights/access-control.ts"
import type { Activity } from "./activity.ts"
import type { ApiDescription } from "./api-description.ts"
import type { Consoles } from "./console/consoles.ts"
import type { EventFeed } from "./feed/event-feed.ts"
import type { NodeFigures } from "./host/node-figures.ts"
import type { PackageLooks } from "./host/package-looks.ts"
import type { Migrations } from "./migration/migrations.ts"
import type { RunEngine } from "@rangewright/run-engine"
import type { Settings } from "./settings.ts"
import type { SignIns } from "./sign-in/sign-ins.ts"
import type { SnapshotReader } from "./range/snapshot-reader.ts"
import type { RunPlanner } from "./run/planner.ts"
import type { SourceContents } from "./source/source-contents.ts"

/** Every port. */
export type PortServices =
  | Archives
  | ArtifactLibrary
  | BuilderFiles
  | ContentFetcher
  | CredentialHasher
  | GuestAutomation
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | HypervisorTemplates
  | IdentityProvider
  | ImageServers
  | LegacyData
  | LicenseProvider
  | MachineConsole
  | NameLookup
  | NetworkMigration
  | NodePackages
  | NodeShell
  | Notifications
  | PackageFolder
  | RoleInstaller
  | SecretStore
  | StoragePorts
  | SubscriptionProvider
  | TemplateBuilder
  | TokenSigner
  | VpnKeys
  | VpnServer

/** All services of the application, ports included. */
export type AppServices =
  | PortServices
  | AccessControl
  | Activity
  | ApiDescription
  | Consoles
  | EventFeed
  | Migrations
  | NodeFigures
  | PackageLooks
  | RunEngine
  | RunPlanner
  | Settings
  | SignIns
  | SnapshotReader
  | SourceContents

/**
 * The services that handlers of operations may require: not the hypervisor or the VPN server, which only runs and services of the
 * application may use.
 */
export type HandlerServices = Exclude<
  AppServices,
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | HypervisorTemplates
  | MachineConsole
  | NetworkMigration
  | NodePackages
  | NodeShell
  | Notifications
  | VpnServer
>
