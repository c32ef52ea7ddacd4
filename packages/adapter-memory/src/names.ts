import { NameFault, NameLookup } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A public internet in memory: it knows the names that are put in. */
export interface MemoryNames {
  /** Public addresses of names. */
  readonly addresses: Map<string, string>
  /** Hosts by the name whose certificates name them. */
  readonly revocationHosts: Map<string, readonly string[]>
  /** `host:port` that accepts connections. */
  readonly listening: Set<string>
}

export const makeMemoryNames = (): MemoryNames => ({
  addresses: new Map(),
  revocationHosts: new Map(),
  listening: new Set(),
})

/** Resolves what is in the maps when it is asked; other names do not exist. */
export const memoryNamesLayer = (names: MemoryNames): Layer.Layer<NameLookup> =>
  Layer.succeed(NameLookup, {
    resolve: (name) =>
      Effect.suspend(() => {
        const address = names.addresses.get(name)
        return address === undefined
          ? Effect.fail(new NameFault({ name, reason: "not-found", detail: "there is no such name" }))
          : Effect.succeed(address)
      }),
    connects: (host, port) =>
      Effect.sync(() => (names.listening.has(`${host}:${port}`) ? undefined : "the connection was refused")),
    revocationHosts: (name) => Effect.sync(() => names.revocationHosts.get(name) ?? []),
  })
