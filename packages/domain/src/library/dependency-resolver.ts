/** Resolves a request for roles and collections: what is fetched, what is installed, and the outcome of each item. */
import { type InstallOutcome, outcomeOf, shortReason } from "./install-outcome.ts"
import { type Dependencies, fitsPin, isNeighbour, providerOf, type WantedArtifact, wantedIn } from "./requirement.ts"
import { type InstalledVersions, type InstalledState, installedStateOf } from "./installed-state.ts"

/** Maximum number of items that one request may install, and maximum depth of their dependencies. */
export const installLimits = { things: 1000, rounds: 20 } as const

/** A fetched role or collection. */
export interface Fetched {
  readonly type: "role" | "collection"
  /** The name to install it under. */
  readonly name: string
  readonly version: string | undefined
  readonly needs: Dependencies
  /** Undefined if it was not requested itself, but came with something that needs it. */
  readonly wanted: WantedArtifact | undefined
}

/**
 * Resolves the dependencies of one request. The caller fetches what `next` names until that is empty, then installs `placements` in order.
 */
export interface DependencyResolver<A extends Fetched> {
  /** Whether the next fetch depends on the collections of the host. */
  readonly asksForCollections: () => boolean
  /**
   * The items to fetch now, in parallel. `ofHost`: collections that come with the host's tools; they count if the version fits, but are in
   * nobody's library.
   */
  readonly next: (ofHost: ReadonlyMap<string, string | undefined>) => ReadonlyArray<WantedArtifact>
  readonly onFetched: (thing: A) => void
  /** The item could not be fetched or installed. */
  readonly onFailed: (thing: WantedArtifact | A, because: string, facts?: Pick<InstalledState, "exceedsLimit">) => void
  /** The items to install: each after its dependencies, and none with an unmet dependency. */
  readonly placements: () => ReadonlyArray<A>
  /** Whether it can still be installed: a dependency may have failed meanwhile. */
  readonly isSound: (thing: A) => boolean
  readonly onPlaced: (thing: A) => void
  /** One outcome for each requested item, in order; then those of dependencies that were installed or failed. */
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

/** The state of one name, shared by everything that needs it. */
interface Slot<A> {
  wanted: WantedArtifact
  /** The request pins its version; dependencies do not change it. */
  readonly isFixed: boolean
  /** All pins that its version must satisfy. */
  readonly pins: Set<string>
  state: State<A>
  /** The requirement before another dependency's pin was added, in case nothing satisfies both. */
  alone?: WantedArtifact | undefined
  /** The state before it was fetched again in another version, and why that failed. */
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
 * Begins to resolve a request. Whatever is installed in a fitting version is left alone; `force` reinstalls the requested items. Another
 * installed version of a requested item stays; one of a dependency is replaced, as Ansible's tool does with collections. If dependencies
 * contradict each other, what cannot be satisfied fails with the reason and is not installed.
 */
export const resolveDependencies = <A extends Fetched>(
  asked: Dependencies,
  installed: InstalledVersions,
  force: boolean,
): DependencyResolver<A> => {
  const slots = new Map<string, Slot<A>>()
  const roots: Array<Edge> = []
  const clashes: Array<InstallOutcome> = []
  /** Items that came with others, until something needs them. */
  const along = new Map<string, A>()
  const done = new Set<A>()
  const states = new Map<A, State<A>>()
  let queue: Array<{ readonly wanted: WantedArtifact; readonly needs: Array<Edge> | undefined }> = wantedIn(asked).map(
    (wanted) => ({ wanted, needs: undefined }),
  )
  let rounds = 0
  /** Why fetched items are not installed; recomputed after a change. */
  let unsound: Map<State<A>, string> | undefined

  const copiesOf = (type: "role" | "collection") => (type === "role" ? installed.roles : installed.collections)
  const bring = (slot: Slot<A>, thing: A): void => {
    const needs: Array<Edge> = []
    slot.state = { is: "brought", thing, needs }
    states.set(thing, slot.state)
    if (!slots.has(keyOfThing(thing))) slots.set(keyOfThing(thing), slot)
    queue.push(
      ...wantedIn(thing.needs).map((wanted) => ({
        wanted: installed.roles.has(wanted.asked) ? wanted : providerOf(wanted),
        needs,
      })),
    )
  }
  /** Uses an item that came with others, if it fits, instead of fetching it. */
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

  /** Another requirement for the same name: if the current version does not satisfy it, looks for one that satisfies all. */
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
    // two exact versions of a role exclude each other: the second requirement fails
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

  /** Why a dependency is not met; undefined if it is. */
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
    const where = state.is === "brought" ? `${have} will be installed` : `${have} is installed`
    const also = slots.get(key)?.because
    return shortReason(
      `it needs ${what} ${pin ?? ""}, but ${where}${also === undefined ? "" : `; another is not available: ${also}`}`,
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

  /** Everything reachable from the requested items, dependencies first. */
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

  /** Keeps the installed version where another one would only replace it for an item that is not installed after all. */
  const leaveWhatIsThere = (): void => {
    for (const slot of slots.values()) {
      const { before, state } = slot
      if (before?.is !== "settled" || state.is !== "brought") continue
      const needs = reached(isSoundState).flatMap((other) => (other.state.is === "brought" ? other.state.needs : []))
      if (needs.some(({ key, wanted }) => slots.get(key) === slot && !fitsPin(versionOf(before), wanted.pin))) continue
      slot.state = before
      unsound = undefined
      // other items may have been needed only by this one
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
      // the queue grows during the loop: items that came with others have dependencies too
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
      // the name of a repository's content is known only after fetching
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
      // the previous version still serves the requirements that it satisfies
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
