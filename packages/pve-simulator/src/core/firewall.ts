import type { Firewall, State } from "./state.ts"

/** An empty firewall. */
const emptyFirewall = (): Firewall => ({ options: {}, rules: [], aliases: new Map(), ipsets: new Map(), groups: new Map() })

/** The firewall of the cluster (`cluster`), of a node (`node pve`) or of a VM (`vm 100`), for reading. */
export const firewallOf = (state: State, owner: string): Firewall => state.firewalls.get(owner) ?? emptyFirewall()

/** The same, for changes. */
export const firewallToChange = (state: State, owner: string): Firewall => {
  const known = state.firewalls.get(owner)
  if (known !== undefined) return known
  const made = emptyFirewall()
  state.firewalls.set(owner, made)
  return made
}

/** Copies the parts of a VM's firewall that another VM gets from it. */
export const copyFirewall = (state: State, from: number, to: number): void => {
  const source = state.firewalls.get(`vm ${from}`)
  if (source !== undefined) state.firewalls.set(`vm ${to}`, structuredClone(source))
}
