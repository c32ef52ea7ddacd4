/**
 * Decides when to query a booting guest's agent. A query that comes too early holds a worker of the node for 3 s and hides an answer that
 * comes meanwhile; a late one delays everything that follows the boot. So boots of one kind of guest share what they learn about its
 * duration: one of them, the scout, asks early; the others ask when it is known to be enough. All times are milliseconds since the start.
 */
export interface Boot {
  /** When to ask next. May change as others learn, so check again at least once a second. */
  readonly next: () => number
  /** A query at `at` gave up at `until`. */
  readonly missed: (at: number, until: number) => void
  readonly answered: (at: number) => void
  /** Nobody waits for this boot any longer. */
  readonly end: () => void
}

interface Known {
  /** The latest time that was too early, and the earliest that was enough. */
  tooEarly: number
  enough: number | undefined
  /** The shortest that `enough` was since the search began. */
  least: number | undefined
  scout: Boot | undefined
  /** When the search began, by the caller's clock. */
  readonly since: number
}

/** Machines and templates change, and a guest may answer whenever its owner wants: what was learned is tested again after this time. */
const memoryMs = 600_000
/** However many boots in a row are slow, the others wait at most this many times as long as the shortest. */
const longestGrowth = 4
/** Closer than this the search is not worth continuing. */
const closeEnoughMs = 500
const scoutStartsMs = 3_000
const othersStartMs = 15_000

export const makeBootTimes = () => {
  const kinds = new Map<string, Known>()
  const knownOf = (kind: string, now: number): Known => {
    const known = kinds.get(kind)
    if (known !== undefined && now - known.since < memoryMs) return known
    const fresh: Known = { tooEarly: 0, enough: known?.enough, least: known?.enough, scout: known?.scout, since: now }
    kinds.set(kind, fresh)
    return fresh
  }

  /** `kind` names guests that boot alike; `now` is any clock in milliseconds. */
  return (kind: string, now: number): Boot => {
    const known = knownOf(kind, now)
    let misses = 0
    let lastAsked = 0
    let lastEnded = 0
    let usual: number | undefined
    /** The latest query in vain that came before the time that is enough for others. */
    let early = 0
    const isScout = (): boolean => {
      if (known.enough === undefined || known.enough - known.tooEarly > closeEnoughMs) known.scout ??= boot
      return known.scout === boot
    }
    const again = (): number => {
      if (known.enough === undefined)
        return lastEnded + (isScout() ? Math.max(500, lastEnded / 20) : Math.max(5_000, lastEnded / 3))
      if (lastAsked < known.enough) return Math.max(lastEnded, known.enough)
      return lastEnded + Math.min(10_000, Math.max(250, (lastEnded - known.enough) / 4))
    }
    const first = (): number => {
      const scout = isScout()
      if (known.enough === undefined) return scout ? scoutStartsMs : othersStartMs
      return scout ? (known.tooEarly + known.enough) / 2 : known.enough
    }
    const boot: Boot = {
      next: () => (misses === 0 ? first() : again()),
      missed: (at, until) => {
        usual ??= known.enough
        misses += 1
        lastAsked = at
        lastEnded = until
        if (known.enough !== undefined && at < known.enough) early = at
      },
      answered: (at) => {
        const { enough = at, least = at } = known
        const slower = misses > 0 && lastAsked >= enough
        // what was too early for a slower boot, or for the first one seen, says nothing about others
        if (!slower) known.tooEarly = Math.max(known.tooEarly, early)
        // for the same reason a slower boot raises the next wait to at most twice the usual one at its start
        known.enough = slower ? Math.max(enough, Math.min(at, 2 * (usual ?? at), longestGrowth * least)) : Math.min(enough, at)
        known.least = Math.min(least, known.enough)
        if (known.tooEarly >= known.enough) known.tooEarly = known.enough / 2
      },
      end: () => {
        if (known.scout === boot) known.scout = undefined
      },
    }
    return boot
  }
}

export type BootTimes = ReturnType<typeof makeBootTimes>
