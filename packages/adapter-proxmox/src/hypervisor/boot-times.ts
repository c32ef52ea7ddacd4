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
  scout: Boot | undefined
  /** When the search began, by the caller's clock. */
  readonly since: number
}

/** Machines and templates change: what was learned is tested again after an hour. */
const memoryMs = 3_600_000
/** Closer than this the search is not worth continuing. */
const closeEnoughMs = 500
const scoutStartsMs = 3_000
const othersStartMs = 15_000

export const makeBootTimes = () => {
  const kinds = new Map<string, Known>()
  const knownOf = (kind: string, now: number): Known => {
    const known = kinds.get(kind)
    if (known !== undefined && now - known.since < memoryMs) return known
    const fresh: Known = { tooEarly: 0, enough: known?.enough, scout: known?.scout, since: now }
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
        if (known.enough === undefined || at < known.enough) known.tooEarly = Math.max(known.tooEarly, at)
      },
      answered: (at) => {
        // the first boot seen may have been slow by chance: what was too early for it says nothing about others
        if (known.enough === undefined) known.tooEarly = 0
        const slower = known.enough !== undefined && misses > 0 && lastAsked >= known.enough
        // for the same reason a slower boot raises the next wait to at most twice the usual one at its start
        known.enough = slower ? Math.max(known.enough ?? 0, Math.min(at, 2 * (usual ?? at))) : Math.min(known.enough ?? at, at)
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
