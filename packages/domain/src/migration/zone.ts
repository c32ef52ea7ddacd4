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
