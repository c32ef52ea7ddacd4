import type { AdmissionRules, Amounts, KmsHost, KmsServer, TemplateLogin, VpnEndpoint } from "@rangewright/domain"
import * as Context from "effect/Context"

/** A class in front of one lab, with some to spare. */
export const usualConsolesPerUser = 32

/** How machines with Windows are activated: `host`, `server` or both. */
export interface KmsSettings {
  /** Where machines find it; undefined: at `server`. */
  readonly host: KmsHost | undefined
  /** The machine of a range that the service sets a KMS host up on; undefined: it sets none up. */
  readonly server: KmsServer | undefined
  /** The operator's key of a KMS host, a secret; there with `server`. */
  readonly hostKey: string | undefined
}

/** How people sign in by way of a provider of identities. */
export interface SingleSignOn extends AdmissionRules {
  /** What the provider is called on the page. */
  readonly name: string
  /** Where browsers have the page: `https://lab.example:8080`. */
  readonly origin: string
  /** Other addresses to which the provider may send browsers, for clients of the record API. */
  readonly redirectUrls: readonly string[]
  /** Whether somebody who is no user becomes one. */
  readonly makesUsers: boolean
}

/** What the operator decides and the application needs; read once at start. */
export interface SettingsShape {
  /** Version of the service, `1.2.3`. */
  readonly version: string
  /** Version that clients are told, `2.3.0`: clients choose by it what to call. */
  readonly peerVersion: string
  /** Range numbers never given. */
  readonly reservedRangeNumbers: readonly number[]
  /** Realm of users on the hypervisor: `pve`, or `pam` where SSH to the node is configured. */
  readonly hypervisorRealm: string
  /** Undefined: decided by the number of nodes seen. */
  readonly clusterMode: boolean | undefined
  readonly sdnZone: string
  readonly vxlanTagBase: number
  /** Bridge or VNet of the NAT network (192.0.2.0/24); undefined: `natNetworkName`. */
  readonly natNetwork: string | undefined
  /** Node that holds the bridges of a single-node installation, and where VMs go that nothing else places; undefined: the first one. */
  readonly defaultNode: string | undefined
  /** Storage for full clones; undefined: the template's own. */
  readonly vmStorage: string | undefined
  /** VMIDs given to ranges. */
  readonly vmidSpan: { readonly from: number; readonly to: number }
  /** Finished runs kept per range. */
  readonly maxLogHistory: number
  /** Go duration; `0` never. */
  readonly inactivityShutdown: string
  /** Merged key by key under the configuration's `defaults`. */
  readonly rangeDefaults: Readonly<Record<string, unknown>>
  /** Logins of templates that have others than their system's, by the template's name; secrets. Absent: none. */
  readonly templateLogins?: ReadonlyMap<string, TemplateLogin>
  /** What each user may take who has no limit of another source. Absent: as much as there is. */
  readonly quotaDefaults?: Amounts
  /** What one user may keep on the service's host, administrators apart. Absent or 0: as much as there is. */
  readonly userDiskBytes?: number
  /** Where clients find the VPN. Absent: there is none. */
  readonly vpn?: VpnEndpoint | undefined
  /** Absent: no machine is activated. */
  readonly kms?: KmsSettings | undefined
  /** Absent: people sign in with passwords and keys alone. */
  readonly singleSignOn?: SingleSignOn | undefined
  /** Templates that are built at once. Absent: one. */
  readonly templateBuilds?: number
  /** How often one build may begin. Absent: three times. */
  readonly templateBuildAttempts?: number
  /** Only administrators upload and build templates. Absent: everybody does. */
  readonly onlyAdminsBuildTemplates?: boolean
  /** How many consoles one user may have open in one process. Absent: `usualConsolesPerUser`. */
  readonly consolesPerUser?: number
  /** Only administrators install and remove roles and collections. */
  readonly onlyAdminsChangeArtifacts: boolean
  /** Addresses that machines of a range may not reach: the hypervisor's own. */
  readonly protectedAddresses: readonly string[]
  /** URL by which users reach the hypervisor's own interface. */
  readonly hypervisorUrl: string
  /** Seconds between two whole observations. */
  readonly observeEverySeconds: number
  /** The hypervisor is the built-in simulator. Absent: it is not. */
  readonly simulator?: boolean
}

export class Settings extends Context.Service<Settings, SettingsShape>()("rangewright/Settings") {}

/** What holds where nobody decides otherwise: one node, bridges, no quotas, no machine of another's protected. */
export const usualSettings: SettingsShape = {
  version: "0.0.0",
  peerVersion: "2.3.0",
  reservedRangeNumbers: [],
  hypervisorRealm: "pve",
  clusterMode: undefined,
  sdnZone: "ludus",
  vxlanTagBase: 0,
  natNetwork: undefined,
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
}
