import type { AdmissionRules, Amounts, KmsHost, KmsServer, TemplateLogin, VpnEndpoint } from "@rangewright/domain"
import * as Context from "effect/Context"

/** Enough for a class in front of one lab, with some to spare. */
export const usualConsolesPerUser = 32

/** How Windows machines are activated: `host`, `server` or both. */
export interface KmsSettings {
  /** Where machines find the KMS host; undefined: at `server`. */
  readonly host: KmsHost | undefined
  /** The machine of a range on which the service sets up a KMS host; undefined: it sets none up. */
  readonly server: KmsServer | undefined
  /** The operator's KMS host key, a secret; set together with `server`. */
  readonly hostKey: string | undefined
}

/** Sign-in through an identity provider. */
export interface SingleSignOn extends AdmissionRules {
  /** The provider's name as the page shows it. */
  readonly name: string
  /** The origin of the page in browsers: `https://lab.example:8080`. */
  readonly origin: string
  /** Other addresses to which the provider may send browsers, for clients of the record API. */
  readonly redirectUrls: readonly string[]
  /** Whether a person without a user gets one at sign-in. */
  readonly makesUsers: boolean
}

/** The operator's settings that the application needs; read once at start. */
export interface SettingsShape {
  /** Version of the service, `1.2.3`. */
  readonly version: string
  /** Version reported to clients, `2.3.0`: they decide by it what to call. */
  readonly peerVersion: string
  /** Range numbers that are never assigned. */
  readonly reservedRangeNumbers: readonly number[]
  /** Realm of users on the hypervisor: `pve`, or `pam` where SSH to the node is configured. */
  readonly hypervisorRealm: string
  /** Undefined: decided by the number of nodes seen. */
  readonly clusterMode: boolean | undefined
  readonly sdnZone: string
  readonly vxlanTagBase: number
  /** Bridge or VNet of the NAT network (192.0.2.0/24); undefined: `natNetworkName`. */
  readonly natNetwork: string | undefined
  /** Node with the bridges of a single-node installation, and for VMs that nothing else places; undefined: the first one. */
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
  /** Logins of templates that differ from the default of their system, by template name; secrets. Absent: none. */
  readonly templateLogins?: ReadonlyMap<string, TemplateLogin>
  /** Quota of users who have no limit from another source. Absent: unlimited. */
  readonly quotaDefaults?: Amounts
  /** Most bytes that one user may keep on the service's host; administrators are exempt. Absent or 0: unlimited. */
  readonly userDiskBytes?: number
  /** The address of the VPN for its clients. Absent: there is no VPN. */
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

/** The defaults: one node, bridges, no quotas, no protected addresses. */
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
