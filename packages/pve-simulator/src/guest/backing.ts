/** A guest whose system is up, as its backing gets it. */
export interface BackedGuest {
  readonly vmid: number
  readonly name: string
  /** The accounts of the guest from its first boot on; absent: those of every host. */
  readonly accounts?: readonly { readonly name: string; readonly password: string }[]
  readonly nics: readonly {
    /** Lower case. */
    readonly mac: string
    readonly bridge: string | undefined
    readonly tag: number | undefined
  }[]
}

/** Real hosts for a simulator's Linux guests, instead of simulated systems. */
export interface GuestBacking {
  /** The guest's system is up; also called after a restart. */
  readonly up: (guest: BackedGuest) => void
  readonly down: (vmid: number) => void
  /** Fetches a small text over HTTP from the guest's place in the network, before it has a system. Absent: this machine fetches it. */
  readonly fetch?: (guest: BackedGuest, url: string) => Promise<string>
  /** The guest is deleted; a new one may get its VMID. */
  readonly gone: (vmid: number) => void
  /** A new guest's disks are copies of another guest's, as they are now or as saved under this name. */
  readonly copy: (from: number, to: number, name?: string) => void
  /** Saves the guest's present disks under this name. */
  readonly keep: (vmid: number, name: string) => void
  /** Restores the guest's disks as saved under this name, or as before its first boot if there are none. The guest is down. */
  readonly goBack: (vmid: number, name: string) => void
  /** Drops the disks saved under this name. */
  readonly drop: (vmid: number, name: string) => void
  /** Whether any of these is still in progress. */
  readonly isBusy: (vmid: number) => boolean
  /** IPv4 addresses by card, as the agent reports them; undefined while there are none. */
  readonly addresses: (
    vmid: number,
  ) => readonly { readonly mac: string; readonly address: string; readonly prefix: number }[] | undefined
}
