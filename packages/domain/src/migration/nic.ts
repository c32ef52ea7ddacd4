/** A network card of a VM, with its configuration line as the hypervisor keeps it: `virtio=BC:24:…,bridge=vmbr1001,tag=10`. */
export interface NicText {
  /** `net0` to `net31`. */
  readonly nic: string
  readonly text: string
}

/** How many network cards a VM may have. */
export const nicsAtMost = 32

const nicKey = /^net(?:[0-9]|[12][0-9]|3[01])$/u

export const isNicKey = (key: string): boolean => nicKey.test(key)

const bridgeKey = "bridge="

/** The network that a card is attached to, compared as a whole: `vmbr10010` is never `vmbr1001`. Undefined when there is none. */
export const nicNetwork = (text: string): string | undefined => {
  for (const part of text.split(",")) if (part.startsWith(bridgeKey)) return part.slice(bridgeKey.length)
  return undefined
}

/** The same card on another network; every other byte stays, unknown keys included. */
export const onNetwork = (text: string, network: string): string =>
  text
    .split(",")
    .map((part) => (part.startsWith(bridgeKey) ? bridgeKey + network : part))
    .join(",")

/** The MTU that a card is set to; undefined when it uses that of the guest or of the network. */
export const nicMtu = (text: string): number | undefined => {
  const given = /(?:^|,)mtu=(\d{1,5})(?:,|$)/u.exec(text)?.[1]
  // 1 is the hypervisor's value for "the same as the network"
  return given === undefined || given === "1" ? undefined : Number(given)
}
