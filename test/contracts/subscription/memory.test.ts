import { makeMemoryRegistry, memorySubscriptionLayer, offerRole } from "@rangewright/adapter-memory"
import * as Effect from "effect/Effect"
import { expect, test } from "vitest"
import { list, providerContract } from "./provider.contract.ts"
import { filesOf } from "./support/roles-folder.ts"

providerContract({
  name: "memory",
  make: async () => {
    const registry = makeMemoryRegistry()
    return {
      run: (effect) => Effect.runPromise(Effect.provide(effect, memorySubscriptionLayer(registry))),
      publish: async (roles) => {
        registry.offers.clear()
        for (const { role, version, description, entitlements, ...offer } of roles)
          offerRole(
            registry,
            { role, version, description, entitlements },
            filesOf({ role, version, description, entitlements, ...offer }),
          )
      },
    }
  },
})

test("a registry in memory can be unreachable", async () => {
  const registry = { ...makeMemoryRegistry(), away: true }
  const fault = await Effect.runPromise(Effect.flip(Effect.provide(list, memorySubscriptionLayer(registry))))
  expect(fault.facts.reason).toBe("unreachable")
})
