import type { Notification } from "@rangewright/domain"
import { ImageServers, NameFault, NameLookup, Notifications, type ServerBytes, type ServerFile } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A public internet in memory: it knows the names that are added. */
export interface MemoryNames {
  /** Public addresses of names. */
  readonly addresses: Map<string, string>
  /** Revocation hosts by the name whose certificates list them. */
  readonly revocationHosts: Map<string, readonly string[]>
  /** `host:port` pairs that accept connections. */
  readonly listening: Set<string>
  /** Files on servers, by URL: a text, or a file of which only the size is known. */
  readonly files: Map<string, string | ServerFile>
  /** The requested URLs, in order. */
  readonly asked: string[]
  /** The notifications that were sent, in order. */
  readonly notified: Notification[]
  /** Why no notification is delivered; undefined: all are. */
  undelivered: string | undefined
}

export const makeMemoryNames = (): MemoryNames => ({
  addresses: new Map(),
  revocationHosts: new Map(),
  listening: new Set(),
  files: new Map(),
  asked: [],
  notified: [],
  undelivered: undefined,
})

const gone = { state: "gone", because: "its server says that there is no such file (status 404)" } as const

const imagesLayer = ({ files, asked }: MemoryNames): Layer.Layer<ImageServers> => {
  const found = (url: string) =>
    Effect.sync(() => {
      asked.push(url)
      return files.get(url) ?? gone
    })
  return Layer.succeed(ImageServers, {
    fetch: (url, most, take) =>
      Effect.flatMap(found(url), (file): Effect.Effect<ServerBytes> => {
        if (typeof file !== "string")
          return Effect.succeed(file.state === "there" ? { state: "unknown", because: "nobody knows what is in it" } : file)
        const part = new TextEncoder().encode(file)
        if (part.length > most) return Effect.succeed({ state: "unknown", because: "it is too long" })
        return Effect.as(
          Effect.promise(() => take(part)),
          { state: "there", bytes: part.length },
        )
      }),
    look: (url) =>
      Effect.map(found(url), (file) =>
        typeof file === "string" ? { state: "there", bytes: file.length, lastModified: undefined } : file,
      ),
    read: (url) =>
      Effect.map(found(url), (file) => {
        if (typeof file === "string") return { state: "there", text: file }
        return file.state === "there" ? { state: "unknown", because: "it is longer than 1024 KiB" } : file
      }),
  })
}

const lookupLayer = (names: MemoryNames): Layer.Layer<NameLookup> =>
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

const notificationsLayer = (names: MemoryNames): Layer.Layer<Notifications> =>
  Layer.succeed(Notifications, {
    host: "memory",
    send: (notification) =>
      Effect.sync(() => {
        if (names.undelivered === undefined) names.notified.push(notification)
        return names.undelivered
      }),
  })

/** Answers from the current content of the maps; other names and files do not exist. */
export const memoryNamesLayer = (names: MemoryNames): Layer.Layer<NameLookup | ImageServers | Notifications> =>
  Layer.mergeAll(lookupLayer(names), imagesLayer(names), notificationsLayer(names))
