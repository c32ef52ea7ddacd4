/** Groups items by key, in their order. `Map.groupBy` is missing in Node 20. */
export const groupBy = <A, K>(items: Iterable<A>, keyOf: (item: A) => K): Map<K, readonly A[]> => {
  const groups = new Map<K, A[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
