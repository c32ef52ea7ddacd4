import type {
  AccessRecords,
  Archives,
  ArtifactLibrary,
  AuditTrail,
  Blueprints,
  ContentFetcher,
  CredentialHasher,
  Groups,
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  LegacyData,
  LicenseProvider,
  Machines,
  MigrationRecords,
  NetworkMigration,
  NodeShell,
  Ranges,
  RoleInstaller,
  RunJournal,
  SecretStore,
  Sources,
  SubscriptionProvider,
  TokenSigner,
  Users,
} from "@rangewright/ports"
import type { Activity } from "./activity.ts"
import type { ApiDescription } from "./api-description.ts"
import type { RunEngine } from "@rangewright/run-engine"
import type { Settings } from "./settings.ts"
import type { SignIns } from "./sign-in/sign-ins.ts"
import type { RunPlanner } from "./run/planner.ts"
import type { SourceContents } from "./source/source-contents.ts"

/** Every port. */
export type PortServices =
  | AccessRecords
  | Archives
  | ArtifactLibrary
  | AuditTrail
  | Blueprints
  | ContentFetcher
  | CredentialHasher
  | Groups
  | GuestAutomation
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | LegacyData
  | LicenseProvider
  | Machines
  | MigrationRecords
  | NetworkMigration
  | NodeShell
  | Ranges
  | RoleInstaller
  | RunJournal
  | SecretStore
  | Sources
  | SubscriptionProvider
  | TokenSigner
  | Users

/** What the handlers of operations may ask for. */
export type AppServices = PortServices | Activity | ApiDescription | RunEngine | RunPlanner | Settings | SignIns | SourceContents
