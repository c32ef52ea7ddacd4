import { makeMemoryContent, memoryContentLayer } from "@rangewright/adapter-memory"
import { ageProblem } from "@rangewright/domain"
import { LicenseProvider, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { knownInstance } from "../compose/data-folder.ts"
import { bindLicense, registryOf } from "../compose/subscription.ts"
import type { Config } from "../config/config.ts"
import { type Finding, ok, warn } from "./finding.ts"

const what = "registry of subscription roles"

/** Reports what the registry publishes now, without consulting what the service remembers of it. */
const ask = (config: Config, state: string): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    const registry = yield* SubscriptionProvider
    const [roles, issuedAt] = [yield* registry.list, yield* registry.issuedAt]
    const old = issuedAt === undefined ? undefined : ageProblem(issuedAt, new Date())
    return old === undefined
      ? ok(what, `${roles.length} roles on offer, as of ${issuedAt?.toISOString() ?? "never"}`)
      : warn(what, old, "Its publisher renews the index by packing it again, even if no role has changed.")
  }).pipe(
    // nothing is unpacked here, and the folder for that belongs to the service
    Effect.provide(Layer.provide(registryOf(config, state), memoryContentLayer(makeMemoryContent()))),
    Effect.catch(({ message, hint }) =>
      Effect.succeed(warn(what, message, hint ?? "Check subscription_registry, subscription_folder and subscription_keys.")),
    ),
  )

/** Whether the licence is valid now, without consulting what the service remembers of the clock. */
const judge = (config: Config, state: string): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    const licenses = yield* LicenseProvider
    const { active, message } = yield* licenses.current
    return active
      ? ok("licence", message)
      : warn("licence", message, "Until then, the service offers only what needs no licence.")
  }).pipe(
    Effect.provide(bindLicense(config, knownInstance(config.data), state)),
    Effect.catch(({ message, hint }) => Effect.succeed(warn("licence", message, hint ?? "Check license_file and license_keys."))),
  )

/**
 * Checks that the configured registry of subscription roles answers, is signed, and is not suspiciously old, and that the configured
 * licence is valid.
 */
export const checkSubscription = (config: Config): Effect.Effect<readonly Finding[]> => {
  const checks = [
    ...(config.subscriptionFolder === undefined && config.subscriptionRegistry === undefined ? [] : [ask]),
    ...(config.licenseFile === undefined ? [] : [judge]),
  ]
  return Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "rangewright-doctor-"))),
    (state) => Effect.forEach(checks, (check) => check(config, state)),
    (state) => Effect.promise(() => rm(state, { recursive: true, force: true })),
  )
}
