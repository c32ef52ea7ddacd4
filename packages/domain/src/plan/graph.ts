/** What a graph of steps is made of: a unique key, and the keys of those that must be over before. */
export interface Vertex {
  readonly key: string
  readonly after: readonly string[]
}

/**
 * The vertices in an order in which each comes after all that it waits for; otherwise as given. A graph with a cycle, or with an edge
 * to nowhere, is a defect of whoever made it.
 */
export const inOrder = <V extends Vertex>(vertices: readonly V[]): readonly V[] => {
  const waiting = new Map<string, number>()
  const followers = followersOf(vertices)
  for (const v of vertices) waiting.set(v.key, v.after.length)
  const ordered = vertices.filter((v) => v.after.length === 0)
  for (let at = 0; at < ordered.length; at++)
    for (const next of followers.get(ordered[at]!.key) ?? []) {
      const left = waiting.get(next.key)! - 1
      waiting.set(next.key, left)
      if (left === 0) ordered.push(next)
    }
  if (ordered.length === vertices.length) return ordered
  const stuck = vertices.filter((v) => waiting.get(v.key)! > 0).map((v) => v.key)
  throw new Error(`the steps ${stuck.slice(0, 10).join(", ")} wait for each other, or for a step that does not exist`)
}

/** Who waits for whom: key -> the vertices that name it in `after`. */
export const followersOf = <V extends Vertex>(vertices: readonly V[]): ReadonlyMap<string, readonly V[]> => {
  const followers = new Map<string, V[]>()
  for (const v of vertices)
    for (const before of v.after) {
      const list = followers.get(before)
      if (list === undefined) followers.set(before, [v])
      else list.push(v)
    }
  return followers
}

/**
 * The part of a graph that is kept. Where a vertex waits for one that is left out, it waits for what that one waits for instead, so that
 * the order of the kept ones stays what it was. Edges that follow from others are left out.
 */
export const keepOnly = <V extends Vertex>(vertices: readonly V[], kept: (v: V) => boolean): readonly V[] => {
  /** Kept vertices that come before, nearest ones, by key of any vertex. */
  const nearest = new Map<string, ReadonlySet<string>>()
  /** All kept vertices that come before, by key of a kept vertex. */
  const earlier = new Map<string, ReadonlySet<string>>()
  const result = new Map<string, V>()
  for (const v of inOrder(vertices)) {
    const all = [...new Set(v.after.flatMap((key) => (result.has(key) ? [key] : [...nearest.get(key)!])))]
    const before = new Set(all.filter((key) => !all.some((other) => earlier.get(other)!.has(key))))
    if (!kept(v)) {
      nearest.set(v.key, before)
      continue
    }
    earlier.set(v.key, new Set([...before].flatMap((key) => [key, ...earlier.get(key)!])))
    result.set(v.key, { ...v, after: [...before].sort() })
  }
  return vertices.flatMap((v) => result.get(v.key) ?? [])
}
