import type { PackageId, SubscriptionRole } from "@rangewright/domain"
import { type ArtifactEntry, SubscriptionFault, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A registry in memory, whose offers can be changed while it is used. */
export interface MemoryRegistry {
  readonly offers: Map<
    SubscriptionRole["packageId"],
    { readonly role: SubscriptionRole; readonly files: readonly ArtifactEntry[] }
  >
  /** Set to make the registry unreachable. */
  away: boolean
}

export const makeMemoryRegistry = (): MemoryRegistry => ({ offers: new Map(), away: false })

let packages = 0

/** Offers a role, replacing any other of its name; a file whose text begins with `#!` is a program. Returns its package. */
export const offerRole = (
  { offers }: MemoryRegistry,
  facts: Pick<SubscriptionRole, "role" | "version" | "description" | "entitlements">,
  texts: Readonly<Record<string, string>>,
): PackageId => {
  const files = Object.entries(texts).map(([path, text]): ArtifactEntry => {
    const bytes = new TextEncoder().encode(text)
    return { kind: "file", path, size: bytes.length, executable: text.startsWith("#!"), read: Effect.succeed(bytes) }
  })
  for (const [id, { role }] of offers) if (role.role === facts.role) offers.delete(id)
  packages += 1
  const packageId = `00000000-0000-8000-8000-${String(packages).padStart(12, "0")}` as PackageId
  const role: SubscriptionRole = {
    ...facts,
    packageId,
    fileCount: files.length,
    lastModified: new Date("2026-01-05T07:00:00Z"),
    package: { bytes: 1, sha256: "0".repeat(64) },
  }
  offers.set(packageId, { role, files })
  return packageId
}

const away = (doing: string): SubscriptionFault =>
  new SubscriptionFault({ doing, reason: "unreachable", detail: "the registry is unreachable" })

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Subscription roles from memory. */
export const memorySubscriptionLayer = (registry: MemoryRegistry): Layer.Layer<SubscriptionProvider> =>
  Layer.succeed(SubscriptionProvider, {
    list: Effect.suspend(() =>
      registry.away
        ? Effect.fail(away("list the subscription roles"))
        : Effect.succeed([...registry.offers.values()].map(({ role }) => role).toSorted((a, b) => compare(a.role, b.role))),
    ),
    issuedAt: Effect.suspend(() =>
      registry.away ? Effect.fail(away("list the subscription roles")) : Effect.succeed(new Date("2026-01-05T07:00:00Z")),
    ),
    fetch: (packageId) =>
      Effect.suspend(() => {
        const doing = `fetch package ${packageId}`
        if (registry.away) return Effect.fail(away(doing))
        const offer = registry.offers.get(packageId)
        return offer === undefined
          ? Effect.fail(new SubscriptionFault({ doing, reason: "not-found", detail: "the registry does not offer the package" }))
          : Effect.succeed(offer.files.toSorted((a, b) => compare(a.path, b.path)))
      }),
  })
