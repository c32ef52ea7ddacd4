import type { ZoneToMake } from "./action.ts"
import type { Installation } from "./installation.ts"

/** The peers of a zone over all nodes, in the nodes' order, and the nodes whose address nobody knows. */
export const peersOf = ({
  nodes,
}: Pick<Installation, "nodes">): { readonly addresses: readonly string[]; readonly unknown: readonly string[] } => {
  const sorted = nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    addresses: sorted.flatMap(({ address }) => address ?? []),
    unknown: sorted.filter(({ address }) => address === undefined).map(({ name }) => name),
  }
}

/** What VXLAN leaves of packets of 1500 bytes. */
export const vxlanMtu = 1450

/** The zone that an installation needs: over all its nodes, as far as their addresses are known. */
export const zoneToMake = (name: string, installation: Pick<Installation, "nodes">): ZoneToMake => ({
  name,
  peers: peersOf(installation).addresses,
  mtu: vxlanMtu,
})

/** The commands that make a zone and put it into force, to be copied to a shell of any node. */
export const zoneCommands = ({ name, peers, mtu }: ZoneToMake): string =>
  `pvesh create /cluster/sdn/zones --type vxlan --zone ${name} --peers ${peers.join(",")} --mtu ${mtu} && pvesh set /cluster/sdn`
