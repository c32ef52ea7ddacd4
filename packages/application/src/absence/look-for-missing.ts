import { labelOf, type Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, type MissingMachine, monotonicMillis, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { apartMillis, blindness } from "./confirm-absence.ts"

/** VMs looked up in one round: an empty list must not cause a call for each VM of the cluster. */
const askedPerLook = 8

/**
 * Makes the check for machines that the last observation lacks. Each is looked up by itself. Only one that is absent twice, with the rights
 * to see it, is forgotten, together with the record of what was done inside it. Until then the stored state says since when it is missing
 * and why lists are in doubt. Makes no call when no machine is missing.
 */
export const makeLookForMissing = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  const context = yield* Effect.context<Hypervisor>()
  /** When a VM was first found absent (`monotonicMillis`). */
  const absentSince = new Map<Vmid, number>()
  const lastAsked = new Map<Vmid, number>()
  /** VMs that were not absent at their last lookup. */
  const doubtfulNow = new Set<Vmid>()
  let looks = 0

  const tell = Effect.fnUntraced(function* (reason: string | undefined): Effect.fn.Return<void, StorageFault> {
    const known = (yield* machines.freshness).doubt?.reason
    if (known === reason) return
    yield* reason === undefined
      ? Effect.logInfo("the hypervisor's lists are trusted again")
      : Effect.logWarning(`the hypervisor's lists cannot be trusted: ${reason}`)
    yield* machines.doubt(new Date(yield* Clock.currentTimeMillis), reason)
  })

  const ask = Effect.fnUntraced(function* (machine: MissingMachine): Effect.fn.Return<void, StorageFault> {
    const { vmid, node } = machine
    lastAsked.set(vmid, looks)
    const found = yield* hypervisor.seek(vmid, node)
    if (found.type !== "absent") {
      absentSince.delete(vmid)
      const why = found.type === "there" ? `it is there, on node ${found.node}` : found.why
      if (!doubtfulNow.has(vmid)) yield* Effect.logWarning(`the hypervisor's list lacks ${labelOf(machine)}: ${why}`)
      return void doubtfulNow.add(vmid)
    }
    doubtfulNow.delete(vmid)
    const now = yield* monotonicMillis
    const since = absentSince.get(vmid)
    if (since === undefined) return void absentSince.set(vmid, now)
    // the rights may have been lost during the lookup
    if (now - since < apartMillis || (yield* Effect.provide(blindness, context)) !== undefined) return
    yield* Effect.logInfo(`${labelOf(machine)} no longer exists on the hypervisor`)
    yield* machines.forget(vmid)
    absentSince.delete(vmid)
  })

  /** Every user with a range can read this, so it names no machine. */
  const reasonOf = (missing: readonly MissingMachine[]): string | undefined => {
    const doubtful = missing.filter(({ vmid }) => doubtfulNow.has(vmid)).length
    if (doubtful === 0) return undefined
    return `they lack ${doubtful === 1 ? "a machine that exists, or may exist" : `${doubtful} machines that exist, or may exist`}`
  }

  return Effect.gen(function* () {
    looks += 1
    const missing = yield* machines.missing
    const known = new Set(missing.map(({ vmid }) => vmid))
    for (const kept of [absentSince, lastAsked, doubtfulNow])
      for (const vmid of kept.keys()) if (!known.has(vmid)) kept.delete(vmid)
    if (missing.length === 0) return yield* tell(undefined)
    const blind = yield* Effect.provide(blindness, context)
    if (blind !== undefined) {
      absentSince.clear()
      return yield* tell(blind)
    }
    const due = missing.toSorted((a, b) => (lastAsked.get(a.vmid) ?? 0) - (lastAsked.get(b.vmid) ?? 0)).slice(0, askedPerLook)
    yield* Effect.forEach(due, ask, { concurrency: 2, discard: true })
    return yield* tell(reasonOf(yield* machines.missing))
  })
})
