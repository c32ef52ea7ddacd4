import { ContentFetcher, type SubscriptionFault, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { fault } from "./faults.ts"
import { type SubscriptionOptions, settingsOf } from "./options.ts"
import { fetchPackage } from "./package/fetch-package.ts"
import { folderRegistry } from "./registry/folder-registry.ts"
import { type HttpsOptions, httpsRegistry, registryUrl } from "./registry/https-registry.ts"
import { watchIndex } from "./registry/index-watch.ts"
import type { Registry } from "./registry/registry.ts"
import { singleFlight } from "./registry/single-flight.ts"
import { parsePublicKey, type PublicKey } from "./trust/keys.ts"

/** Packages fetched and unpacked concurrently, over all callers: each is held in memory meanwhile. */
const atOnce = 2

const configure = "use the registry of subscription roles"

const keysOf = (texts: readonly string[]): Effect.Effect<readonly PublicKey[], SubscriptionFault> =>
  texts.length === 0
    ? Effect.fail(fault(configure, "unavailable", "no key is trusted", "Set the registry's public keys, ed25519:…"))
    : Effect.forEach(texts, (text, n) => {
        const key = parsePublicKey(text)
        return key === undefined
          ? Effect.fail(fault(configure, "unavailable", `key ${n + 1} is not ed25519: and 32 bytes as base64`))
          : Effect.succeed(key)
      })

const provider = Effect.fnUntraced(function* (registry: Registry, options: SubscriptionOptions) {
  const keys = yield* keysOf(options.keys)
  const settings = settingsOf(options)
  const { refresh, last } = yield* watchIndex(registry, keys, settings)
  const flight = singleFlight(refresh, yield* Scope.Scope)
  // the request continues in the background when a caller stops waiting
  const index = Effect.timeoutOrElse(flight, {
    duration: settings.patienceSeconds * 1000,
    orElse: () => Effect.flatMap(last, (known) => (known === undefined ? flight : Effect.succeed(known))),
  })
  const turns = yield* Semaphore.make(atOnce)
  const content = yield* ContentFetcher
  return SubscriptionProvider.of({
    list: Effect.map(index, ({ roles }) => roles),
    issuedAt: Effect.map(index, ({ issuedAt }) => issuedAt),
    fetch: (packageId) =>
      Effect.gen(function* () {
        const role = (yield* index).roles.find((offered) => offered.packageId === packageId)
        const doing = `fetch package ${packageId}`
        if (role === undefined) return yield* fault(doing, "not-found", `${registry.name} does not offer the package`)
        return yield* turns.withPermit(
          Effect.provideService(fetchPackage(registry, role, keys, settings), ContentFetcher, content),
        )
      }),
  })
})

/** Subscription roles from a folder of this host, as created by `packRegistry`. Fails only for an invalid key. */
export const folderSubscriptionLayer = (
  options: SubscriptionOptions & { readonly folder: string },
): Layer.Layer<SubscriptionProvider, SubscriptionFault, ContentFetcher> =>
  Layer.effect(SubscriptionProvider, provider(folderRegistry(options.folder), options))

/** Subscription roles from a registry over HTTPS. Fails for an invalid URL or key, but not when the registry is unreachable. */
export const httpsSubscriptionLayer = (
  options: SubscriptionOptions & HttpsOptions,
): Layer.Layer<SubscriptionProvider, SubscriptionFault, ContentFetcher> => {
  const url = registryUrl(options.url)
  return url === undefined
    ? Layer.effect(
        SubscriptionProvider,
        Effect.fail(
          fault(
            configure,
            "unavailable",
            "its URL is not https://host/path",
            "Set the credentials as the token, not in the URL.",
          ),
        ),
      )
    : Layer.effect(SubscriptionProvider, provider(httpsRegistry(url, options), options))
}
