import type { ZoneToMake } from "./action.ts"
import type { Installation } from "./installation.ts"

/** The peers of a zone over all nodes, in the order of the nodes' names, and the nodes whose address is unknown. */
export const peersOf = ({
  nodes,
}: Pick<Installation, "nodes">): { readonly addresses: readonly string[]; readonly unknown: readonly string[] } => {
  const sorted = nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    addresses: sorted.flatMap(({ address }) => address ?? []),
    unknown: sorted.filter(({ address }) => address === undefined).map(({ name }) => name),
  }
}

/** The MTU that VXLAN leaves of 1500 bytes. */
export const vxlanMtu = 1450

/** The zone that an installation needs: over all nodes whose addresses are known. */
export const zoneToMake = (name: string, installation: Pick<Installation, "nodes">): ZoneToMake => ({
  name,
  peers: peersOf(installation).addresses,
  mtu: vxlanMtu,
})

/** The commands that create and apply a zone, for a shell on any node. */
export const zoneCommands = ({ name, peers, mtu }: ZoneToMake): string =>
  `pvesh create /cluster/sdn/zones --type vxlan --zone ${name} --peers ${peers.join(",")} --mtu ${mtu} && pvesh set /cluster/sdn`
