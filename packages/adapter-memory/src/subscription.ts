import type { SubscriptionRole } from "@rangewright/domain"
import { type ArtifactEntry, SubscriptionFault, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A registry in memory: what it offers can be changed while it is used. */
export interface MemoryRegistry {
  readonly offers: Map<
    SubscriptionRole["packageId"],
    { readonly role: SubscriptionRole; readonly files: readonly ArtifactEntry[] }
  >
  /** While it is set, the registry is away. */
  away: boolean
}

export const makeMemoryRegistry = (): MemoryRegistry => ({ offers: new Map(), away: false })

const away = (doing: string): SubscriptionFault =>
  new SubscriptionFault({ doing, reason: "unreachable", detail: "the registry is away" })

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Subscription roles from memory. */
export const memorySubscriptionLayer = (registry: MemoryRegistry): Layer.Layer<SubscriptionProvider> =>
  Layer.succeed(SubscriptionProvider, {
    list: Effect.suspend(() =>
      registry.away
        ? Effect.fail(away("list the subscription roles"))
        : Effect.succeed([...registry.offers.values()].map(({ role }) => role).toSorted((a, b) => compare(a.role, b.role))),
    ),
    fetch: (packageId) =>
      Effect.suspend(() => {
        const doing = `fetch package ${packageId}`
        if (registry.away) return Effect.fail(away(doing))
        const offer = registry.offers.get(packageId)
        return offer === undefined
          ? Effect.fail(new SubscriptionFault({ doing, reason: "not-found", detail: "the registry offers no such package" }))
          : Effect.succeed(offer.files.toSorted((a, b) => compare(a.path, b.path)))
      }),
  })
