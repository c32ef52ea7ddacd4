import type { ObservedMachine, Vmid } from "@rangewright/domain"
import { Hypervisor, type Sought } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * Milliseconds between the two lookups of a VM: longer than a node's cluster file system needs to restart, during which it knows no VM at
 * all.
 */
export const apartMillis = 5000

const askedAtOnce = 4

/** A machine that the store knows and a list lacks. `node`: where it was last seen. */
export type Lost = Pick<ObservedMachine, "vmid"> & { readonly node: string | undefined }

/** Looks up each VM once. Nothing is concluded while the service may be blind: absent VMs are `unknown` then. */
const askOnce = Effect.fnUntraced(function* (
  lost: readonly Lost[],
): Effect.fn.Return<ReadonlyMap<Vmid, Sought>, never, Hypervisor> {
  const hypervisor = yield* Hypervisor
  const sought = yield* Effect.forEach(lost, ({ vmid, node }) => hypervisor.seek(vmid, node), { concurrency: askedAtOnce })
  // checked last, so that rights lost during the lookups count too
  const blind = yield* blindness
  return new Map(
    lost.map(({ vmid }, i): readonly [Vmid, Sought] => {
      const found = sought[i]!
      return [vmid, found.type === "absent" && blind !== undefined ? { type: "unknown", why: blind } : found]
    }),
  )
})

/** Why nothing can be concluded from what the hypervisor does not show; undefined when there is no reason for doubt. */
export const blindness: Effect.Effect<string | undefined, never, Hypervisor> = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  return yield* Effect.match(hypervisor.blindness, { onSuccess: (why) => why, onFailure: ({ message }) => message })
})

/**
 * Finds out what became of VMs that a list lacks. `absent` is certain: the hypervisor was asked twice for the VM itself, some seconds
 * apart, with the rights to see it. Makes no call when no VM is lost, which is the usual case.
 */
export const confirmAbsence = Effect.fnUntraced(function* (
  lost: readonly Lost[],
): Effect.fn.Return<ReadonlyMap<Vmid, Sought>, never, Hypervisor> {
  if (lost.length === 0) return new Map()
  const first = yield* askOnce(lost)
  const absent = lost.filter(({ vmid }) => first.get(vmid)?.type === "absent")
  if (absent.length === 0) return first
  yield* Effect.sleep(apartMillis)
  return new Map([...first, ...(yield* askOnce(absent))])
})
