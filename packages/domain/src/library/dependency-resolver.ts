/** What one request for roles and collections comes to: which things are fetched, which of them are installed, and what is told of each. */
import { type InstallOutcome, outcomeOf, shortReason } from "./install-outcome.ts"
import { type Dependencies, fitsPin, isNeighbour, type WantedArtifact, wantedIn } from "./requirement.ts"
import { type InstalledVersions, type InstalledState, installedStateOf } from "./installed-state.ts"

/** How many things one request may bring in, and how far away what they need may be: a chain of needs must end. */
export const installLimits = { things: 1000, rounds: 20 } as const

/** Something that was fetched. */
export interface Fetched {
  readonly type: "role" | "collection"
  /** The name under which it is to be installed. */
  readonly name: string
  readonly version: string | undefined
  readonly needs: Dependencies
  /** Undefined: nobody asked for it, it came with something that needs it. */
  readonly wanted: WantedArtifact | undefined
}

/** Resolves the dependencies of one request. The caller fetches what `next` names until that is empty, then installs `placements` in order. */
export interface DependencyResolver<A extends Fetched> {
  /** Whether it depends on collections of the host what is fetched next. */
  readonly asksForCollections: () => boolean
  /** What is to be fetched now, all at once. `ofHost`: collections that come with the host's tools; they count where one fits, and are nobody's copies. */
  readonly next: (ofHost: ReadonlyMap<string, string | undefined>) => ReadonlyArray<WantedArtifact>
  readonly onFetched: (thing: A) => void
  /** It could not be had, or not be installed. */
  readonly onFailed: (thing: WantedArtifact | A, because: string, facts?: Pick<InstalledState, "exceedsLimit">) => void
  /** What is to be installed: each after what it needs, and nothing of which a need is not met. */
  readonly placements: () => ReadonlyArray<A>
  /** Whether it is still one of them: what it needs may have failed meanwhile. */
  readonly isSound: (thing: A) => boolean
  readonly onPlaced: (thing: A) => void
  /** One for each thing that was asked for, in that order; then those of what they need, as far as something became of it. */
  readonly outcomes: () => ReadonlyArray<InstallOutcome>
}

interface Edge {
  readonly key: string
  readonly wanted: WantedArtifact
}

type State<A> =
  | { readonly is: "pending" }
  | { readonly is: "settled"; readonly found: InstalledState }
  | { readonly is: "brought"; readonly thing: A; readonly needs: Array<Edge> }

/** One name, whoever wants it. */
interface Slot<A> {
  wanted: WantedArtifact
  /** It was asked for in this version, which nobody's need changes. */
  readonly isFixed: boolean
  /** What its versions must fit, of all who want it. */
  readonly pins: Set<string>
  state: State<A>
  /** As it was wanted before somebody else's need was added, for when nothing fits both. */
  alone?: WantedArtifact | undefined
  /** What it was before it was fetched again for another version, and why that came to nothing. */
  before?: State<A>
  because?: string
}

const keyOf = ({ type, name, asked }: WantedArtifact): string => `${type} ${name ?? asked}`
const keyOfThing = ({ type, name }: Fetched): string => `${type} ${name}`
const failed = (wanted: WantedArtifact, because: string): InstalledState => ({
  decision: "failed",
  type: wanted.type,
  asked: wanted.asked,
  because,
})
const settled = (found: InstalledState) => ({ is: "settled", found }) as const

/**
 * Begins to resolve a request. What is there in a fitting version is left alone; `force` installs again what is asked for. Another
 * version of something that is asked for stays where it is; one of something that is needed is replaced, as the field's tool does with
 * collections. Where needs contradict each other, what cannot be met fails with the reason, and is not installed.
 */
export const resolveDependencies = <A extends Fetched>(
  asked: Dependencies,
  installed: InstalledVersions,
  force: boolean,
): DependencyResolver<A> => {
  const slots = new Map<string, Slot<A>>()
  const roots: Array<Edge> = []
  const clashes: Array<InstallOutcome> = []
  /** What came with something else, until somebody needs it. */
  const along = new Map<string, A>()
  const done = new Set<A>()
  const states = new Map<A, State<A>>()
  let queue: Array<{ readonly wanted: WantedArtifact; readonly needs: Array<Edge> | undefined }> = wantedIn(asked).map(
    (wanted) => ({ wanted, needs: undefined }),
  )
  let rounds = 0
  /** Why things that were fetched are not installed; made anew when something changes. */
  let unsound: Map<State<A>, string> | undefined

  const copiesOf = (type: "role" | "collection") => (type === "role" ? installed.roles : installed.collections)
  const bring = (slot: Slot<A>, thing: A): void => {
    const needs: Array<Edge> = []
    slot.state = { is: "brought", thing, needs }
    states.set(thing, slot.state)
    if (!slots.has(keyOfThing(thing))) slots.set(keyOfThing(thing), slot)
    queue.push(...wantedIn(thing.needs).map((wanted) => ({ wanted, needs })))
  }
  /** What came along already is not fetched. */
  const fetch = (slot: Slot<A>): void => {
    const there = along.get(keyOf(slot.wanted))
    if (there !== undefined && [...slot.pins].every((pin) => fitsPin(there.version, pin))) bring(slot, there)
    else slot.state = { is: "pending" }
  }

  const first = (wanted: WantedArtifact, isRoot: boolean, ofHost: ReadonlyMap<string, string | undefined>): void => {
    const slot: Slot<A> = {
      wanted,
      isFixed: isRoot && wanted.pin !== undefined,
      pins: new Set(wanted.pin === undefined ? [] : [wanted.pin]),
      state: { is: "pending" },
    }
    slots.set(keyOf(wanted), slot)
    const again = force && isRoot
    const own = installedStateOf(wanted, copiesOf(wanted.type), again)
    const host = wanted.type === "collection" && !again ? installedStateOf(wanted, ofHost, false) : undefined
    if (own !== undefined && (isRoot || own.decision !== "other-version")) slot.state = settled(own)
    else if (host?.decision === "present") slot.state = settled(host)
    else if (slots.size > installLimits.things)
      slot.state = settled(failed(wanted, `one installation can install at most ${installLimits.things} items`))
    else fetch(slot)
  }

  /** Somebody else wants it too: where what is to be had does not fit, another version is looked for that fits all. */
  const again = (slot: Slot<A>, wanted: WantedArtifact): void => {
    if (wanted.pin === undefined || slot.pins.has(wanted.pin) || slot.isFixed) return
    const { state } = slot
    if (state.is === "settled" && state.found.decision === "failed") return
    const joins = wanted.type === "collection" && wanted.origin.from === "name" && slot.wanted.origin.from === "name"
    const free = slot.pins.size === 0
    if (state.is !== "pending" && fitsPin(versionOf(state), wanted.pin)) {
      slot.pins.add(wanted.pin)
      return
    }
    // two exact versions of a role exclude each other: who needs the second is told
    if (!free && !joins) return
    slot.pins.add(wanted.pin)
    if (state.is === "pending") slot.alone ??= slot.wanted
    slot.wanted = { ...(free ? wanted : slot.wanted), asked: slot.wanted.asked, pin: [...slot.pins].join(",") }
    if (state.is === "pending") return
    slot.before = state
    fetch(slot)
  }

  const consider = ({ wanted, needs }: (typeof queue)[number], ofHost: ReadonlyMap<string, string | undefined>): void => {
    if (needs !== undefined && isNeighbour(wanted)) return
    const edge = { key: keyOf(wanted), wanted }
    const slot = slots.get(edge.key)
    if (needs !== undefined) needs.push(edge)
    else if (slot === undefined) roots.push(edge)
    else if (wanted.pin !== undefined && wanted.pin !== slot.wanted.pin)
      clashes.push(outcomeOf(failed(wanted, `it is requested twice, also in ${slot.wanted.pin ?? "any version"}`)))
    if (slot === undefined) first(wanted, needs === undefined, ofHost)
    else if (needs !== undefined) again(slot, wanted)
  }

  const versionOf = (state: State<A>): string | undefined =>
    state.is === "brought" ? state.thing.version : state.is === "settled" ? state.found.version : undefined

  /** Why a need is not met; undefined where it is. */
  const lack = ({ key, wanted: { type, asked: name, pin } }: Edge, known: ReadonlyMap<State<A>, string>): string | undefined => {
    const state = slots.get(key)?.state
    const what = `the ${type} ${name}`
    const why =
      state === undefined || state.is === "pending"
        ? "there was no result"
        : state.is === "settled"
          ? state.found.decision === "failed"
            ? state.found.because
            : undefined
          : known.get(state)
    if (why !== undefined) return shortReason(`it needs ${what}, which is not available: ${why}`)
    if (state === undefined || fitsPin(versionOf(state), pin)) return undefined
    const have = versionOf(state) ?? "another version"
    const where = state.is === "brought" ? `${have} is to be installed` : `${have} is there`
    const also = slots.get(key)?.because
    return shortReason(
      `it needs ${what} ${pin ?? ""}, and ${where}${also === undefined ? "" : `; another is not available: ${also}`}`,
    )
  }

  const faults = (): ReadonlyMap<State<A>, string> => {
    if (unsound !== undefined) return unsound
    const known = new Map<State<A>, string>()
    const current = new Set([...slots.values()].map(({ state }) => state))
    for (let before = -1; before !== known.size;) {
      before = known.size
      for (const state of current) {
        if (state.is !== "brought" || known.has(state)) continue
        for (const edge of state.needs) {
          const because = lack(edge, known)
          if (because === undefined) continue
          known.set(state, because)
          break
        }
      }
    }
    return (unsound = known)
  }

  /** Everything that was fetched and is of use to what was asked for, what is needed before what needs it. */
  const reached = (follow: (state: State<A>) => boolean): ReadonlyArray<Slot<A>> => {
    const seen = new Set<Slot<A>>()
    const order: Array<Slot<A>> = []
    const visit = ({ key }: Edge): void => {
      const slot = slots.get(key)
      if (slot === undefined || seen.has(slot) || !follow(slot.state)) return
      seen.add(slot)
      if (slot.state.is === "brought") for (const edge of slot.state.needs) visit(edge)
      order.push(slot)
    }
    for (const root of roots) visit(root)
    return order
  }

  const isSoundState = (state: State<A>): boolean => state.is === "brought" && !faults().has(state)

  /** What is there stays where another version would come for something that is not installed after all. */
  const leaveWhatIsThere = (): void => {
    for (const slot of slots.values()) {
      const { before, state } = slot
      if (before?.is !== "settled" || state.is !== "brought") continue
      const needs = reached(isSoundState).flatMap((other) => (other.state.is === "brought" ? other.state.needs : []))
      if (needs.some(({ key, wanted }) => slots.get(key) === slot && !fitsPin(versionOf(before), wanted.pin))) continue
      slot.state = before
      unsound = undefined
      // others may have come for this one alone
      return leaveWhatIsThere()
    }
  }

  const told = ({ wanted, state }: Slot<A>): InstallOutcome | undefined => {
    if (state.is === "settled") return outcomeOf(state.found)
    if (state.is === "pending") return outcomeOf(failed(wanted, "there was no result"))
    const because = faults().get(state)
    const { type, version, name, wanted: by } = state.thing
    if (because !== undefined) return outcomeOf(failed(wanted, because))
    if (!done.has(state.thing)) return undefined
    return { type, name: by?.asked ?? name, ...(version === undefined ? {} : { version }), outcome: "installed" }
  }

  return {
    asksForCollections: () => queue.some(({ wanted }) => wanted.type === "collection"),
    next: (ofHost) => {
      rounds += 1
      // it grows while it is gone through: what came along is needed by what came along
      for (let at = 0; at < queue.length; at += 1) {
        const next = queue[at]
        if (next !== undefined) consider(next, ofHost)
      }
      queue = []
      unsound = undefined
      const pending = [...new Set(slots.values())].filter(({ state }) => state.is === "pending")
      if (rounds <= installLimits.rounds) return pending.map(({ wanted }) => wanted)
      for (const slot of pending)
        slot.state = settled(failed(slot.wanted, `its chain of dependencies is longer than ${installLimits.rounds}`))
      return []
    },
    onFetched: (thing) => {
      unsound = undefined
      if (thing.wanted === undefined) {
        along.set(keyOfThing(thing), thing)
        return
      }
      const { wanted } = thing
      const slot = slots.get(keyOf(wanted))
      if (slot === undefined) return
      const copies = copiesOf(thing.type)
      // what a repository holds is known when it was fetched
      const other = slots.get(keyOfThing(thing))
      if (wanted.name === undefined && copies.has(thing.name) && !force)
        slot.state = settled({ decision: "present", type: thing.type, asked: wanted.asked, version: copies.get(thing.name) })
      else if (other !== undefined && other !== slot) slots.set(keyOf(wanted), other)
      else bring(slot, thing)
    },
    onFailed: (thing, because, facts = {}) => {
      unsound = undefined
      const slot = slots.get("origin" in thing ? keyOf(thing) : keyOfThing(thing))
      if (slot === undefined) return
      slot.because = because
      const { alone } = slot
      slot.alone = undefined
      if (alone !== undefined && slot.state.is === "pending") slot.wanted = alone
      // what was there before still serves those whom it fits
      else slot.state = slot.before ?? settled({ ...failed(slot.wanted, because), ...facts })
    },
    placements: () => {
      leaveWhatIsThere()
      return [...new Set(reached(isSoundState).flatMap(({ state }) => (state.is === "brought" ? [state.thing] : [])))]
    },
    isSound: (thing) => {
      const state = states.get(thing)
      return state !== undefined && isSoundState(state)
    },
    onPlaced: (thing) => void done.add(thing),
    outcomes: () => {
      const isRoot = new Set(roots.map(({ key }) => slots.get(key)))
      const own = roots.flatMap(({ key }) => {
        const slot = slots.get(key)
        return (slot === undefined ? undefined : told(slot)) ?? []
      })
      const needed = reached(() => true).filter((slot) => !isRoot.has(slot))
      const isNews = ({ state }: Slot<A>) => state.is !== "settled" || state.found.decision === "failed"
      return [...own, ...clashes, ...needed.filter(isNews).flatMap((slot) => told(slot) ?? [])]
    },
  }
}
