import { makeMemoryRegistry, memorySubscriptionLayer } from "@rangewright/adapter-memory"
import type { PackageId, SubscriptionRole } from "@rangewright/domain"
import type { ArtifactEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, test } from "vitest"
import { list, providerContract } from "./provider.contract.ts"
import { filesOf, isProgram, type RoleOnOffer } from "./support/roles-folder.ts"

let ids = 0
const offerOf = (offer: RoleOnOffer): { readonly role: SubscriptionRole; readonly files: readonly ArtifactEntry[] } => {
  const files = Object.entries(filesOf(offer)).map(([path, text]): ArtifactEntry => {
    const bytes = new TextEncoder().encode(text)
    return { kind: "file", path, size: bytes.length, executable: isProgram(text), read: Effect.succeed(bytes) }
  })
  const { role, version, description, entitlements } = offer
  const packageId = `00000000-0000-8000-8000-${String(++ids).padStart(12, "0")}` as PackageId
  const lastModified = new Date("2026-01-05T07:00:00Z")
  const facts = { bytes: 1, sha256: "0".repeat(64) }
  return {
    files,
    role: { role, version, description, entitlements, packageId, lastModified, fileCount: files.length, package: facts },
  }
}

providerContract({
  name: "memory",
  make: async () => {
    const registry = makeMemoryRegistry()
    return {
      run: (effect) => Effect.runPromise(Effect.provide(effect, memorySubscriptionLayer(registry))),
      publish: async (roles) => {
        registry.offers.clear()
        for (const offer of roles.map(offerOf)) registry.offers.set(offer.role.packageId, offer)
      },
    }
  },
})

test("a registry in memory can be away", async () => {
  const registry = { ...makeMemoryRegistry(), away: true }
  const fault = await Effect.runPromise(Effect.flip(Effect.provide(list, memorySubscriptionLayer(registry))))
  expect(fault.facts.reason).toBe("unreachable")
})
