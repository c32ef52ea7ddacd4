import {
  installedVersions,
  isNeighbour,
  needsFiles,
  readNeeds,
  type SettledDecision,
  standingOf,
  type WantedArtifact,
  wantedIn,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  ContentFetcher,
  type ContentFault,
  InstallerFault,
  type InstallOutcome,
  type InstallRequest,
  type LibraryFault,
  type RoleInstaller,
  settledOutcome,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { bringFromUrl, entryText } from "./from-content.ts"
import type { Arrival, Miss, Supply } from "./supply.ts"

/** How many things one request may bring in, and how far away what they need may be: a chain of needs must end. */
const [mostThings, mostRounds] = [1000, 20]

interface Wish {
  readonly wanted: WantedArtifact
  /** Nobody asked for it: something else needs it. */
  readonly needed: boolean
}

/** What one request has come to. */
interface Progress {
  readonly outcomes: InstallOutcome[]
  /** Names that are decided, so that each is fetched once. */
  readonly decided: Set<string>
  /** Collections that come with the host's Ansible: they count where one fits, and are nobody's copies. */
  readonly ofHost: ReadonlyMap<string, string | undefined>
  readonly installed: { readonly roles: Map<string, string | undefined>; readonly collections: Map<string, string | undefined> }
}

const keyOf = (type: string, name: string): string => `${type} ${name}`
const copiesOf = (installed: Progress["installed"], type: "role" | "collection") =>
  type === "role" ? installed.roles : installed.collections

/** A collection that comes with the host's Ansible is there already where it fits; where it does not, another is brought beside it. */
const fitsFromHost = (wanted: WantedArtifact, ofHost: Progress["ofHost"]): SettledDecision | undefined => {
  const standing = wanted.type === "collection" ? standingOf(wanted, ofHost, false) : undefined
  return standing?.decision === "present" ? standing : undefined
}

/** Those of the wishes for which something is to be fetched. The outcomes of the others are noted. */
const toFetch = (
  { outcomes, decided, installed, ofHost }: Progress,
  wishes: readonly Wish[],
  force: boolean,
): readonly WantedArtifact[] =>
  wishes.flatMap(({ wanted, needed }) => {
    const key = keyOf(wanted.type, wanted.name ?? wanted.asked)
    if (decided.has(key) || decided.size >= mostThings || (needed && isNeighbour(wanted))) return []
    decided.add(key)
    const again = force && !needed
    const standing =
      standingOf(wanted, copiesOf(installed, wanted.type), again) ?? (again ? undefined : fitsFromHost(wanted, ofHost))
    if (standing === undefined) return [wanted]
    if (!needed || standing.decision !== "present") outcomes.push(settledOutcome(standing))
    return []
  })

const failedOutcome = ({ wanted: { type, asked }, because }: Miss): InstallOutcome => ({
  type,
  name: asked,
  outcome: "failed",
  because,
})

/** Brings what is asked for, and what that needs, into the library: all of one round at once. */
const install = (
  supply: Supply,
  library: Context.Service.Shape<typeof ArtifactLibrary>,
  fetcher: Context.Service.Shape<typeof ContentFetcher>,
  hostCollections: Effect.Effect<ReadonlyMap<string, string | undefined>>,
  request: InstallRequest,
): Effect.Effect<readonly InstallOutcome[], InstallerFault> => {
  const { scope, force, output = () => Effect.void } = request

  /** Puts one thing into the library; what it needs is what is left to do. */
  const settle = (progress: Progress, arrival: Arrival): Effect.Effect<readonly Wish[], LibraryFault | ContentFault> =>
    Effect.gen(function* () {
      const { type, name, version, entries, wanted } = arrival
      const copies = copiesOf(progress.installed, type)
      if (copies.has(name) && (wanted === undefined || !force)) {
        // what came along is there already, or a repository holds what was not known before it was fetched
        if (wanted !== undefined) {
          const present = { type, name: wanted.asked, outcome: "present" } as const
          const have = copies.get(name)
          progress.outcomes.push(have === undefined ? present : { ...present, version: have })
        }
        return []
      }
      const told = version === undefined ? {} : { version }
      yield* library.place({ scope, kind: type, name }, entries, { ...told, replace: true })
      copies.set(name, version)
      progress.decided.add(keyOf(type, name))
      progress.outcomes.push({ type, name: wanted?.asked ?? name, ...told, outcome: "installed" })
      const texts = new Map<string, string>()
      for (const path of needsFiles[type]) {
        const text = yield* entryText(entries, path)
        if (text !== undefined) texts.set(path, text)
      }
      return wantedIn(readNeeds(type, (path) => texts.get(path))).map((need) => ({ wanted: need, needed: true }))
    })

  const round = (progress: Progress, wishes: readonly Wish[]): Effect.Effect<readonly Wish[], InstallerFault> =>
    Effect.scoped(
      Effect.gen(function* () {
        const wanted = toFetch(progress, wishes, force)
        const [named, located] = [
          wanted.filter(({ origin }) => origin.from === "name"),
          wanted.filter(({ origin }) => origin.from !== "name"),
        ]
        const brought = yield* Effect.forEach(located, (one) => bringFromUrl(fetcher, one))
        const supplied = named.length === 0 ? [] : yield* supply.bring(named, output)
        const next: Wish[] = []
        // what was asked for before what came along, so that it is told under the name that it was asked for
        const arrivals = [...brought, ...supplied].toSorted(
          (a, b) => Number(a.wanted === undefined) - Number(b.wanted === undefined),
        )
        for (const one of arrivals) {
          if ("because" in one) {
            progress.outcomes.push(failedOutcome(one))
            continue
          }
          const needs = yield* settle(progress, one).pipe(
            Effect.catch(({ message }) => {
              progress.outcomes.push({ type: one.type, name: one.wanted?.asked ?? one.name, outcome: "failed", because: message })
              return Effect.succeed([])
            }),
          )
          next.push(...needs)
        }
        return next
      }),
    )

  return Effect.gen(function* () {
    const listing = yield* Effect.mapError(
      library.list(scope),
      ({ message }) => new InstallerFault({ doing: "install roles and collections", reason: "failed", detail: message }),
    )
    const { roles, collections } = installedVersions(listing)
    const progress: Progress = {
      outcomes: [],
      decided: new Set(),
      ofHost: request.collections.length === 0 ? new Map() : yield* hostCollections,
      installed: { roles: new Map(roles), collections: new Map(collections) },
    }
    let wishes: readonly Wish[] = wantedIn(request).map((wanted) => ({ wanted, needed: false }))
    for (let rounds = 0; wishes.length > 0 && rounds < mostRounds; rounds += 1) wishes = yield* round(progress, wishes)
    return progress.outcomes
  })
}

/** An installer that takes what has a name from a supply, and what has a URL from there. It asks once what comes with the host's Ansible. */
export const installerFrom = (
  supply: Supply,
  hostCollections: Effect.Effect<ReadonlyMap<string, string | undefined>>,
): Effect.Effect<Context.Service.Shape<typeof RoleInstaller>, never, ArtifactLibrary | ContentFetcher> =>
  Effect.gen(function* () {
    const [library, fetcher] = [yield* ArtifactLibrary, yield* ContentFetcher]
    const ofHost = yield* Effect.cached(hostCollections)
    return { available: supply.available, install: (request) => install(supply, library, fetcher, ofHost, request) }
  })
