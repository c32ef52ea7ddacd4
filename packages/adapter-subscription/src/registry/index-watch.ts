import { indexLimits, readSubscriptionIndex, type SubscriptionIndex } from "@rangewright/domain"
import type { SubscriptionFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { asFault, type Doing, fault } from "../faults.ts"
import type { Settings } from "../options.ts"
import { keepFile } from "../replace-file.ts"
import { open } from "../trust/envelope.ts"
import type { PublicKey } from "../trust/keys.ts"
import { keptIndexFile, readKept, writeKept } from "./kept-index.ts"
import { indexPath, type Registry } from "./registry.ts"

interface Known {
  readonly envelope: string
  readonly index: SubscriptionIndex
  readonly etag: string | undefined
  readonly checkedAt: number
}

const untrustedHint =
  "Somebody else's registry, or an old copy of this one, stands in its place; or its keys were changed: compare subscription_keys with what the registry's owner publishes."

/** The index in an envelope that a trusted key signed. Throws the fault. */
const readSigned = (doing: Doing, envelope: string, keys: readonly PublicKey[]): SubscriptionIndex => {
  const opened = open(envelope, "application/vnd.rangewright.subscription-index+json", keys)
  if (Result.isFailure(opened)) throw fault(doing, opened.failure.reason, `its index: ${opened.failure.detail}`, untrustedHint)
  const read = readSubscriptionIndex(opened.success)
  if (Result.isFailure(read)) throw fault(doing, "broken", `its index is signed and not what it should be: ${read.failure}`)
  return read.success
}

/** Takes an index in the place of the one before; an older one, or another of the same serial, is a replay. Throws the fault. */
const successor = (doing: Doing, before: Known | undefined, index: SubscriptionIndex): SubscriptionIndex => {
  if (before === undefined || index.serial > before.index.serial) return index
  if (index.serial < before.index.serial)
    throw fault(
      doing,
      "untrusted",
      `its index has serial ${index.serial}, and ${before.index.serial} was seen before`,
      untrustedHint,
    )
  if (JSON.stringify(index) !== JSON.stringify(before.index))
    throw fault(doing, "untrusted", `it shows two different indexes of serial ${index.serial}`, untrustedHint)
  return index
}

const within = (now: number, since: number, seconds: number): boolean => now >= since && now - since < seconds * 1000

/**
 * The newest index of a registry, as an effect for one caller at a time. It is asked for when the last one is not fresh any more; while
 * the registry is away, or gives what is no index, the last one serves for a bounded time. An index that was replaced by an older one, or
 * that nobody trusted signed, is a fault also where an earlier one is known: somebody must look.
 */
export const watchIndex = (registry: Registry, keys: readonly PublicKey[], settings: Settings) => {
  const doing = `read the index of subscription roles of ${registry.name}`
  const file = keptIndexFile(settings.state, registry.name)
  let known: Known | undefined
  let loaded = false
  let failed: { readonly fault: SubscriptionFault; readonly at: number } | undefined

  /** What an earlier process saw; a copy that no key of now signed is none. */
  const load = Effect.gen(function* () {
    if (loaded) return
    const kept = yield* Effect.promise(() => readKept(file))
    loaded = true
    if (kept === undefined) return
    const index = yield* Effect.option(Effect.try({ try: () => readSigned(doing, kept.envelope, keys), catch: asFault(doing) }))
    if (index._tag === "Some") known = { ...kept, index: index.value }
  })

  const keep = (next: Known): Effect.Effect<void> => {
    known = next
    const { envelope, etag, checkedAt } = next
    return keepFile("the index of subscription roles", file, writeKept({ envelope, etag, checkedAt }))
  }

  const ask = Effect.fnUntraced(function* (now: number): Effect.fn.Return<Known, SubscriptionFault> {
    const before = known
    const wanted = { doing, path: indexPath, most: indexLimits.bytes * 2, timeoutSeconds: settings.indexSeconds }
    const found = yield* Effect.tryPromise({
      try: (signal) => registry.read({ ...wanted, etag: before?.etag }, signal),
      catch: asFault(doing),
    })
    if (found === "unchanged")
      return before === undefined
        ? yield* Effect.fail(fault(doing, "broken", "it says that an index is unchanged that it never gave"))
        : { ...before, checkedAt: now }
    const envelope = found.bytes.toString("utf8")
    const index = yield* Effect.try({
      try: () => successor(doing, before, readSigned(doing, envelope, keys)),
      catch: asFault(doing),
    })
    return { envelope, index, etag: found.etag, checkedAt: now }
  })

  const lastKnown = (now: number, because: SubscriptionFault): Effect.Effect<SubscriptionIndex, SubscriptionFault> =>
    known !== undefined && because.facts.reason !== "untrusted" && within(now, known.checkedAt, settings.staleSeconds)
      ? Effect.succeed(known.index)
      : Effect.fail(because)

  return Effect.gen(function* () {
    yield* load
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && failed === undefined && within(now, known.checkedAt, settings.freshSeconds)) return known.index
    if (failed !== undefined && within(now, failed.at, settings.retrySeconds)) return yield* lastKnown(now, failed.fault)
    const asked = yield* Effect.result(ask(now))
    if (Result.isSuccess(asked)) {
      failed = undefined
      yield* keep(asked.success)
      return asked.success.index
    }
    failed = { fault: asked.failure, at: now }
    yield* Effect.logWarning(asked.failure.message)
    return yield* lastKnown(now, asked.failure)
  })
}
