import { type InstallAccount, installAccount, installedVersions } from "@rangewright/domain"
import {
  ArtifactLibrary,
  ContentFetcher,
  InstallerFault,
  type InstallOutcome,
  type InstallRequest,
  type RoleInstaller,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { bringFromUrl } from "./from-content.ts"
import type { Supply } from "./supply.ts"
import { type Understood, understand } from "./understand.ts"

type HostCollections = Effect.Effect<ReadonlyMap<string, string | undefined>>
type Library = Context.Service.Shape<typeof ArtifactLibrary>
type Fetcher = Context.Service.Shape<typeof ContentFetcher>

/** Fetches what is asked for, then what that needs, and so on: all of one round at once. Nothing is installed yet. */
const fetchAll = (
  supply: Supply,
  fetcher: Fetcher,
  hostCollections: HostCollections,
  account: InstallAccount<Understood>,
  { scope, output = () => Effect.void }: InstallRequest,
): Effect.Effect<void, InstallerFault, Scope.Scope> =>
  Effect.gen(function* () {
    const whose = scope.type === "user" ? `user ${scope.userId}` : "everybody"
    while (true) {
      const wanted = account.next(account.asksForCollections() ? yield* hostCollections : new Map())
      if (wanted.length === 0) return
      const [named, located] = [
        wanted.filter(({ origin }) => origin.from === "name"),
        wanted.filter(({ origin }) => origin.from !== "name"),
      ]
      const brought = yield* Effect.forEach(located, (one) => bringFromUrl(fetcher, one, whose))
      const supplied = named.length === 0 ? [] : yield* supply.bring(named, output, whose)
      for (const one of [...brought, ...supplied]) {
        if ("because" in one) account.missed(one.wanted, one.because)
        else
          yield* understand(one).pipe(
            Effect.map(account.arrived),
            // of what only came along nobody has asked yet: it is missed when somebody does
            Effect.catch(({ message }) =>
              Effect.sync(() => (one.wanted === undefined ? undefined : account.missed(one.wanted, message))),
            ),
          )
      }
    }
  })

/**
 * Puts into the library what can be there with all that it needs, each wholly or not at all. Who leaves before may end the whole; from
 * here on it is carried through.
 */
const placeAll = ({ place }: Library, account: InstallAccount<Understood>, { scope }: InstallRequest): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.forEach(
      account.placements(),
      (thing) => {
        if (!account.isSound(thing)) return Effect.void
        const { type, name, version, entries } = thing
        const told = version === undefined ? {} : { version }
        return place({ scope, kind: type, name }, entries, { ...told, replace: true }).pipe(
          Effect.map(() => account.placed(thing)),
          Effect.catch(({ message }) => Effect.sync(() => account.missed(thing, message))),
        )
      },
      { discard: true },
    ),
  )

const install = (
  supply: Supply,
  library: Library,
  fetcher: Fetcher,
  hostCollections: HostCollections,
  request: InstallRequest,
): Effect.Effect<readonly InstallOutcome[], InstallerFault> =>
  Effect.scoped(
    Effect.gen(function* () {
      const listing = yield* Effect.mapError(
        library.list(request.scope),
        ({ message }) => new InstallerFault({ doing: "install roles and collections", reason: "failed", detail: message }),
      )
      const account = installAccount<Understood>(request, installedVersions(listing), request.force)
      yield* fetchAll(supply, fetcher, hostCollections, account, request)
      yield* placeAll(library, account, request)
      return account.outcomes()
    }),
  )

/** An installer that takes what has a name from a supply, and what has a URL from there. It asks once what comes with the host's Ansible. */
export const installerFrom = (
  supply: Supply,
  hostCollections: HostCollections,
): Effect.Effect<Context.Service.Shape<typeof RoleInstaller>, never, ArtifactLibrary | ContentFetcher> =>
  Effect.gen(function* () {
    const [library, fetcher] = [yield* ArtifactLibrary, yield* ContentFetcher]
    const ofHost = yield* Effect.cached(hostCollections)
    return { available: supply.available, install: (request) => install(supply, library, fetcher, ofHost, request) }
  })
