/** A guest whose system came up, as whoever backs it learns of it. */
export interface BackedGuest {
  readonly vmid: number
  readonly name: string
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
  /** The guest is deleted; another may get its number. */
  readonly gone: (vmid: number) => void
  /** IPv4 addresses by card, as the agent tells them; undefined while the guest has none to tell. */
  readonly addresses: (
    vmid: number,
  ) => readonly { readonly mac: string; readonly address: string; readonly prefix: number }[] | undefined
}
