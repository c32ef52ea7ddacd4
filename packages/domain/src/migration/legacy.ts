/*
 * What an installation of the first generation left behind. Nothing of it is trusted: its numbers may be any number, its
 * texts any text. Reading bounds them; what they come to here is decided by `planImport`.
 */

export interface LegacyUser {
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
  /** bcrypt of the whole API key; empty: none. */
  readonly apiKeyHash: string
  readonly hypervisorUsername: string
  readonly createdAt: Date | undefined
  /** His password on the hypervisor; undefined when the installation's files do not tell. */
  readonly password: string | undefined
  /** His range's configuration, byte for byte; undefined when he has none. */
  readonly config: string | undefined
  /** Files of his that are there and were not read, each with the reason. */
  readonly unread: readonly string[]
}

export interface LegacyRange {
  readonly userId: string
  readonly number: number
  /** As the old service wrote it; not one of ours by force. */
  readonly state: string
  readonly testing: { readonly enabled: boolean; readonly domains: readonly string[]; readonly addresses: readonly string[] }
  readonly lastDeploymentAt: Date | undefined
}

/** A machine as the old service saw it last. */
export interface LegacyMachine {
  readonly vmid: number
  readonly rangeNumber: number
  readonly name: string
  readonly poweredOn: boolean
  readonly address: string
}

/** That users have the range of another one. */
export interface LegacyAccess {
  readonly targetUserId: string
  readonly sourceUserIds: readonly string[]
}

export interface LegacyInstallation {
  readonly users: readonly LegacyUser[]
  readonly ranges: readonly LegacyRange[]
  readonly machines: readonly LegacyMachine[]
  readonly access: readonly LegacyAccess[]
  /** The note by which a service says that it has taken the database over, where there is one: what was done since then is not in it. */
  readonly takenOver: string | undefined
  /** Parts that could not be read, each with the reason. */
  readonly unread: readonly string[]
}
