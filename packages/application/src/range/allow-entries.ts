import {
  allowedAddressProblem,
  allowedAtMost,
  domainEntry,
  domainName,
  domainProblem,
  entriesOf,
  Failed,
  type Fault,
  type Range,
  type TestingState,
  type UserId,
} from "@rangewright/domain"
import { type Machines, type NameFault, NameLookup, type Ranges } from "@rangewright/ports"
import type { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { requireMode } from "../run/plan-testing.ts"
import type { AllowedEntries } from "../run/request.ts"
import { Settings } from "../settings.ts"
import { reasonOf } from "../wire/bulk.ts"
import type { AllowPayload } from "../wire/testing.ts"
import { changeTesting } from "./change-testing.ts"

type Payload = typeof AllowPayload.Type
interface Failure {
  readonly item: string
  readonly reason: string
}
/** The outcome of each item: `done` in the words of the answer. */
interface Told {
  readonly done: readonly string[]
  readonly errors: readonly Failure[]
}

/** An item that can be carried out: the entry to store, and the item's text in the answer. */
interface Entry {
  readonly item: string
  readonly entry: string
}
/** A domain that was looked up. */
interface Found extends Entry {
  readonly address: string
}
const isEntry = (one: Entry | Failure): one is Entry => "entry" in one

/** Concurrent lookups. */
const lookupsAtOnce = 16
/** Most hosts that the certificates of one domain may add. */
const hostsAtMost = 20

const named = (items: readonly string[] | null | undefined): readonly string[] => [
  ...new Set((items ?? []).map((item) => item.trim()).filter((item) => item !== "")),
]

/** Looks up a domain. It may resolve to an address that no rule may open. */
const lookedUp = (item: string): Effect.Effect<Found | Failure, never, NameLookup | Settings> =>
  Effect.gen(function* (): Effect.fn.Return<Found | Failure, NameFault, NameLookup | Settings> {
    const names = yield* NameLookup
    const name = domainName(item)
    const problem = domainProblem(name)
    if (problem !== undefined) return { item, reason: problem }
    const address = yield* names.resolve(name)
    const { protectedAddresses } = yield* Settings
    const closed = allowedAddressProblem(address, protectedAddresses)
    return closed === undefined
      ? { item: name, entry: domainEntry(name, address), address }
      : { item, reason: `${name} cannot be allowed: ${closed}` }
  }).pipe(Effect.catch((fault) => Effect.succeed({ item, reason: reasonOf(fault) })))

/** The hosts that clients of these domains contact to check certificates for revocation, without those that are allowed anyway. */
const hostsBehind = (found: readonly { readonly item: string; readonly address: string }[], isKnown: (name: string) => boolean) =>
  Effect.gen(function* () {
    const names = yield* NameLookup
    const hosts = yield* Effect.forEach(
      found,
      ({ item, address }) => Effect.map(names.revocationHosts(item, address), (some) => some.slice(0, hostsAtMost)),
      { concurrency: lookupsAtOnce },
    )
    const own = new Set(found.map(({ item }) => item))
    return [...new Set(hosts.flat().map(domainName))].filter((name) => !own.has(name) && !isKnown(name))
  })

const domainEntries = (testing: TestingState, domains: readonly string[]) =>
  Effect.gen(function* () {
    const isKnown = (name: string): boolean => entriesOf(testing, domainName(name)).length > 0
    const lookUp = (items: readonly string[]) =>
      Effect.forEach(
        items,
        (item) =>
          isKnown(item) ? Effect.succeed<Found | Failure>({ item, reason: `${item} is already allowed` }) : lookedUp(item),
        { concurrency: lookupsAtOnce },
      )
    const asked = yield* lookUp(domains)
    const found = asked.flatMap((one) => ("address" in one ? [one] : []))
    return [...asked, ...(yield* lookUp(yield* hostsBehind(found, isKnown)))]
  })

const addressEntry = (testing: TestingState, item: string, protectedAddresses: readonly string[]): Entry | Failure => {
  const reason = testing.allowedIps.includes(item)
    ? `${item} is already allowed`
    : allowedAddressProblem(item, protectedAddresses)
  return reason === undefined ? { item, entry: item } : { item, reason }
}

const once = (entries: readonly Entry[]): readonly Entry[] => [...new Map(entries.map((one) => [one.entry, one])).values()]
const entries = (some: readonly Entry[]): readonly string[] => some.map(({ entry }) => entry)
const nothing: AllowedEntries = { domains: [], ips: [] }

/** Applies the possible changes in one run. When the run fails, each of its items fails; when no run can be started, the request fails. */
const carryOut = (
  doing: string,
  range: Range,
  change: { readonly allow: AllowedEntries; readonly deny: AllowedEntries },
  items: readonly string[],
  by: UserId,
): Effect.Effect<Told, Fault, Machines | Ranges | RunEngine> =>
  items.length === 0
    ? Effect.succeed({ done: [], errors: [] })
    : changeTesting(doing, range, { kind: "testing-change", ...change }, "on", by).pipe(
        Effect.as({ done: items, errors: [] }),
        Effect.catch((fault: Fault) =>
          fault instanceof Failed
            ? Effect.succeed({ done: [], errors: items.map((item) => ({ item, reason: reasonOf(fault) })) })
            : Effect.fail(fault),
        ),
      )

/** Lets the range reach these, too. A domain is stored with its current address; the revocation hosts of its certificates are added. */
export const allowEntries = (range: Range, { domains, ips }: Payload, by: UserId) =>
  Effect.gen(function* () {
    yield* requireMode(range, "testing-change")
    const { testing } = range
    const { protectedAddresses } = yield* Settings
    const forDomains = yield* domainEntries(testing, named(domains))
    const forIps = named(ips).map((item) => addressEntry(testing, item, protectedAddresses))
    const errors = [...forDomains, ...forIps].flatMap((one) => (isEntry(one) ? [] : [one]))
    const fitting = (some: readonly (Entry | Failure)[], known: readonly string[]) => {
      const all = once(some.filter(isEntry))
      return [
        all.slice(0, Math.max(0, allowedAtMost - known.length)),
        all.slice(Math.max(0, allowedAtMost - known.length)),
      ] as const
    }
    const [newDomains, tooManyDomains] = fitting(forDomains, testing.allowedDomains)
    const [newIps, tooManyIps] = fitting(forIps, testing.allowedIps)
    const tooMany = [...tooManyDomains, ...tooManyIps].map(({ item }) => ({
      item,
      reason: `the limit of ${allowedAtMost} allowed entries of its kind for each range is reached`,
    }))
    const told = yield* carryOut(
      `allow this while testing of range ${range.id}`,
      range,
      { allow: { domains: entries(newDomains), ips: entries(newIps) }, deny: nothing },
      [...newDomains, ...newIps].map(({ item }) => item),
      by,
    )
    return { done: told.done, errors: [...errors, ...tooMany, ...told.errors] }
  })

/** Removes these. Only the named domain is removed; hosts that its certificates added stay allowed. */
export const denyEntries = (range: Range, { domains, ips }: Payload, by: UserId) =>
  Effect.gen(function* () {
    yield* requireMode(range, "testing-change")
    const { testing } = range
    const asked = named(domains).map((item) => ({ item, gone: entriesOf(testing, domainName(item)) }))
    const known = asked.filter(({ gone }) => gone.length > 0)
    const errors = asked
      .filter(({ gone }) => gone.length === 0)
      .map(({ item }) => ({ item, reason: `${item} is not allowed, so there is nothing to deny` }))
    const knownIps = named(ips).filter((item) => testing.allowedIps.includes(item))
    // clients of the API expect this sentence among what was denied
    const strange = named(ips).flatMap((item) =>
      knownIps.includes(item) ? [] : [`${item} is not allowed, so there is nothing to deny`],
    )
    const told = yield* carryOut(
      `deny this while testing of range ${range.id}`,
      range,
      { allow: nothing, deny: { domains: known.flatMap(({ gone }) => gone), ips: knownIps } },
      [...known.map(({ item }) => item), ...knownIps],
      by,
    )
    return { done: [...told.done, ...strange], errors: [...errors, ...told.errors] }
  })
