/** A vertex of a graph of steps: a unique key, and the keys of those that come before. */
export interface Vertex {
  readonly key: string
  /** Those that must have succeeded before: when one of them fails, this one is skipped. */
  readonly after: readonly string[]
  /** Those that must be over before, however they ended. A skipped one is over as soon as all before it are. */
  readonly behind?: readonly string[]
}

/** The keys of all that come before, of both kinds. */
export const predecessors = ({ after, behind }: Vertex): readonly string[] =>
  behind === undefined ? after : [...after, ...behind]

/**
 * The vertices in topological order. A graph with a cycle, or with an edge to a vertex that does not exist, is a defect of the caller.
 */
export const inOrder = <V extends Vertex>(vertices: readonly V[]): readonly V[] => {
  const waiting = new Map<string, number>()
  const followers = followersOf(vertices)
  for (const v of vertices) waiting.set(v.key, predecessors(v).length)
  const ordered = vertices.filter((v) => waiting.get(v.key) === 0)
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

/** The dependents of each vertex: key -> the vertices that name it. `edges`: which of their edges count; by default all. */
export const followersOf = <V extends Vertex>(
  vertices: readonly V[],
  edges: (v: V) => readonly string[] = predecessors,
): ReadonlyMap<string, readonly V[]> => {
  const followers = new Map<string, V[]>()
  for (const v of vertices)
    for (const key of edges(v)) {
      const list = followers.get(key)
      if (list === undefined) followers.set(key, [v])
      else list.push(v)
    }
  return followers
}

/**
 * The part of a graph that is kept. A vertex that waits for one that is left out waits for that one's predecessors instead, so that the
 * kept ones keep their order; such an edge demands success (`after`) only if every edge on the way does. Edges that follow from others are
 * left out.
 */
export const keepOnly = <V extends Vertex>(vertices: readonly V[], kept: (v: V) => boolean): readonly V[] => {
  /** For each vertex that is left out: the nearest kept ones before it. */
  const nearest = new Map<string, Nearest>()
  const result = new Map<string, V>()
  const places = new Map<string, number>()
  const reduce = reducer(result, places)
  for (const v of inOrder(vertices)) {
    const after = through(v.after, nearest, ({ after }) => after)
    const behind = new Set([
      ...through(v.after, nearest, ({ behind }) => behind, true),
      ...through(v.behind ?? [], nearest, ({ after, behind }) => [...after, ...behind]),
    ])
    const found = reduce({ after, behind: [...behind].filter((key) => !after.includes(key)) })
    if (!kept(v)) {
      nearest.set(v.key, found)
      continue
    }
    places.set(v.key, places.size)
    const own = { ...v, after: found.after.toSorted() }
    const isBound = v.behind !== undefined || found.behind.length > 0
    result.set(v.key, isBound ? { ...own, behind: found.behind.toSorted() } : own)
  }
  return vertices.flatMap((v) => result.get(v.key) ?? [])
}

type Nearest = Required<Pick<Vertex, "after" | "behind">>

/** The keys, with each that is left out replaced by those before it. `onlyLeftOut`: only the replacements. */
const through = (
  keys: readonly string[],
  nearest: ReadonlyMap<string, Nearest>,
  of: (n: Nearest) => readonly string[],
  onlyLeftOut = false,
): readonly string[] => [
  ...new Set(
    keys.flatMap((key) => {
      const found = nearest.get(key)
      return found === undefined ? (onlyLeftOut ? [] : [key]) : of(found)
    }),
  ),
]

/** Removes edges that follow from others; `places`: the order of the known vertices. */
const reducer = (known: ReadonlyMap<string, Vertex>, places: ReadonlyMap<string, number>) => {
  const placeOf = (key: string): number => places.get(key)!
  /** Those of `targets` that come before one of `sources` along these edges. */
  const reached = (
    targets: readonly string[],
    sources: readonly string[],
    edges: (v: Vertex) => readonly string[],
  ): ReadonlySet<string> => {
    const seen = new Set<string>()
    if (targets.length === 0 || sources.length < 2) return seen
    // vertices before the first target lead to none of them
    const first = Math.min(...targets.map(placeOf))
    const stack = [...sources]
    for (let key = stack.pop(); key !== undefined; key = stack.pop())
      for (const next of edges(known.get(key)!))
        if (!seen.has(next) && placeOf(next) >= first) {
          seen.add(next)
          stack.push(next)
        }
    return seen
  }
  return ({ after, behind }: Nearest): Nearest => {
    const done = reached(after, after, (v) => v.after)
    const over = reached(behind, [...after, ...behind], predecessors)
    return { after: after.filter((key) => !done.has(key)), behind: behind.filter((key) => !over.has(key)) }
  }
}
