import { ageProblem, indexLimits, readSubscriptionIndex, type SubscriptionIndex } from "@rangewright/domain"
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
  "It was replaced by somebody else's registry or an old copy, or its keys were changed: compare subscription_keys with what the registry's owner publishes."

/** The index in an envelope signed with a trusted key. Throws the fault. */
const readSigned = (doing: Doing, envelope: string, keys: readonly PublicKey[]): SubscriptionIndex => {
  const opened = open(envelope, "application/vnd.rangewright.subscription-index+json", keys)
  if (Result.isFailure(opened)) throw fault(doing, opened.failure.reason, `its index: ${opened.failure.detail}`, untrustedHint)
  const read = readSubscriptionIndex(opened.success)
  if (Result.isFailure(read)) throw fault(doing, "broken", `its index is signed but not valid: ${read.failure}`)
  return read.success
}

/** Accepts a new index over the previous one; an older one, or a different one with the same serial, is a replay. Throws the fault. */
const successor = (doing: Doing, before: Known | undefined, index: SubscriptionIndex): SubscriptionIndex => {
  if (before === undefined || index.serial > before.index.serial) return index
  if (index.serial < before.index.serial)
    throw fault(
      doing,
      "untrusted",
      `its index has serial ${index.serial}, but ${before.index.serial} was seen before`,
      untrustedHint,
    )
  if (JSON.stringify(index) !== JSON.stringify(before.index))
    throw fault(doing, "untrusted", `it has two different indexes with serial ${index.serial}`, untrustedHint)
  return index
}

const secondsOfDay = 24 * 3600

const within = (now: number, since: number, seconds: number): boolean => now >= since && now - since < seconds * 1000

/** The state of one registry's index. `refresh` must have one caller at a time. */
export interface IndexWatch {
  /**
   * The newest index: the last one while it is fresh, otherwise the registry's. While that is unreachable, or returns no valid index, the
   * last one is used for a limited time. A replayed index, or one without a trusted signature, is always a fault, even if an earlier one is
   * known: somebody must look into it.
   */
  readonly refresh: Effect.Effect<SubscriptionIndex, SubscriptionFault>
  /** The last index while it may be used; undefined when there is none, or somebody must look into a fault. */
  readonly last: Effect.Effect<SubscriptionIndex | undefined>
}

/** Watches the index of a registry, starting from what an earlier process saw; a stored copy that no current key signed is ignored. */
export const watchIndex = Effect.fnUntraced(function* (
  registry: Registry,
  keys: readonly PublicKey[],
  settings: Settings,
): Effect.fn.Return<IndexWatch> {
  const doing = `read the index of subscription roles of ${registry.name}`
  const file = keptIndexFile(settings.state, registry.place)
  const kept = yield* Effect.promise(() => readKept(file))
  let known: Known | undefined
  let warnedAt: number | undefined
  let failed: { readonly fault: SubscriptionFault; readonly at: number } | undefined
  if (kept !== undefined) {
    const read = Effect.try({ try: () => readSigned(doing, kept.envelope, keys), catch: asFault(doing) })
    known = yield* Effect.match(read, { onSuccess: (index) => ({ ...kept, index }), onFailure: () => undefined })
  }

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
        ? yield* fault(doing, "broken", "it claims that an index is unchanged that it never sent")
        : { ...before, checkedAt: now }
    const envelope = found.bytes.toString("utf8")
    const index = yield* Effect.try({
      try: () => successor(doing, before, readSigned(doing, envelope, keys)),
      catch: asFault(doing),
    })
    return { envelope, index, etag: found.etag, checkedAt: now }
  })

  /** A registry, or an attacker in between, may serve its last index forever: that looks the same as a registry without news. */
  const warnOfAge = (now: number, { issuedAt }: SubscriptionIndex): Effect.Effect<void> => {
    const old = ageProblem(issuedAt, new Date(now))
    if (old === undefined || (warnedAt !== undefined && within(now, warnedAt, secondsOfDay))) return Effect.void
    warnedAt = now
    return Effect.logWarning(`${registry.name}: ${old}`)
  }

  const servesAfter = (now: number, fault: SubscriptionFault | undefined): SubscriptionIndex | undefined =>
    known !== undefined && fault?.facts.reason !== "untrusted" && within(now, known.checkedAt, settings.staleSeconds)
      ? known.index
      : undefined
  const lastOr = (now: number, fault: SubscriptionFault): Effect.Effect<SubscriptionIndex, SubscriptionFault> => {
    const last = servesAfter(now, fault)
    return last === undefined ? Effect.fail(fault) : Effect.succeed(last)
  }

  return {
    last: Effect.map(Clock.currentTimeMillis, (now) => servesAfter(now, failed?.fault)),
    refresh: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (known !== undefined && failed === undefined && within(now, known.checkedAt, settings.freshSeconds)) return known.index
      if (failed !== undefined && within(now, failed.at, settings.retrySeconds)) return yield* lastOr(now, failed.fault)
      const asked = yield* Effect.result(ask(now))
      if (Result.isSuccess(asked)) {
        failed = undefined
        yield* keep(asked.success)
        yield* warnOfAge(now, asked.success.index)
        return asked.success.index
      }
      failed = { fault: asked.failure, at: now }
      yield* Effect.logWarning(asked.failure.message)
      return yield* lastOr(now, asked.failure)
    }),
  }
})
