/*
 * What an installation of the first generation left behind. None of it is trusted: its numbers may be any number, its texts any text.
 * Reading bounds them; `planImport` decides what becomes of them.
 */

export interface LegacyUser {
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
  /** bcrypt of the whole API key; empty: none. */
  readonly apiKeyHash: string
  readonly hypervisorUsername: string
  readonly createdAt: Date | undefined
  /** Password on the hypervisor; undefined when the installation's files do not contain it. */
  readonly password: string | undefined
  /** Configuration of the user's range, byte for byte; undefined when there is none. */
  readonly config: string | undefined
  /** Files of the user that exist but were not read, each with the reason. */
  readonly unread: readonly string[]
}

export interface LegacyRange {
  readonly userId: string
  readonly number: number
  /** As the old service wrote it; not necessarily one of our states. */
  readonly state: string
  readonly testing: { readonly enabled: boolean; readonly domains: readonly string[]; readonly addresses: readonly string[] }
  readonly lastDeploymentAt: Date | undefined
}

/** A machine as the old service last saw it. */
export interface LegacyMachine {
  readonly vmid: number
  readonly rangeNumber: number
  readonly name: string
  readonly poweredOn: boolean
  readonly address: string
}

/** Users (source) who have the range of another one (target). */
export interface LegacyAccess {
  readonly targetUserId: string
  readonly sourceUserIds: readonly string[]
}

export interface LegacyInstallation {
  readonly users: readonly LegacyUser[]
  readonly ranges: readonly LegacyRange[]
  readonly machines: readonly LegacyMachine[]
  readonly access: readonly LegacyAccess[]
  /** The note of a service that has taken the database over, where there is one: what was done since then is not in the database. */
  readonly takenOver: string | undefined
  /** Parts that could not be read, each with the reason. */
  readonly unread: readonly string[]
}
