/** A guest whose system came up, as whoever backs it learns of it. */
export interface BackedGuest {
  readonly vmid: number
  readonly name: string
  /** Who may log in once it is up for the first time; absent: the people of every host. */
  readonly accounts?: readonly { readonly name: string; readonly password: string }[]
  readonly nics: readonly {
    /** Lower case. */
    readonly mac: string
    readonly bridge: string | undefined
    readonly tag: number | undefined
  }[]
}

/** What stands behind the guests of a simulator with Linux, in place of its own notion of their systems: hosts that can be spoken to. */
export interface GuestBacking {
  /** The guest's system is up; called again for one that restarted. */
  readonly up: (guest: BackedGuest) => void
  readonly down: (vmid: number) => void
  /** Gets a small text over HTTP from where the guest is on the network, before it has a system. Absent: this machine gets it. */
  readonly fetch?: (guest: BackedGuest, url: string) => Promise<string>
  /** The guest is deleted; another may get its number. */
  readonly gone: (vmid: number) => void
  /** A new guest's disks are copies of another's, as they are now or as they were kept under this name. */
  readonly copy: (from: number, to: number, name?: string) => void
  /** Keeps the guest's disks as they are now under this name. */
  readonly keep: (vmid: number, name: string) => void
  /** The guest's disks are again what was kept under this name, and as they were before its first boot where nothing was. It is down. */
  readonly goBack: (vmid: number, name: string) => void
  /** What was kept under this name is not needed any more. */
  readonly drop: (vmid: number, name: string) => void
  /** Whether something of this is still being done. */
  readonly isBusy: (vmid: number) => boolean
  /** IPv4 addresses by card, as the agent tells them; undefined while the guest has none to tell. */
  readonly addresses: (
    vmid: number,
  ) => readonly { readonly mac: string; readonly address: string; readonly prefix: number }[] | undefined
}
