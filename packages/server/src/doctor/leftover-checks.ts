import { isRangeId, natAlias, natNetworkName, networkComment, ownTag, readDescription } from "@rangewright/domain"
import { Hypervisor, HypervisorNetwork, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Config } from "../config/config.ts"
import { type Finding, ok, warn } from "./finding.ts"

const what = "leftovers"
const linesAtMost = 10
/** A VM is read for each; there are more only where something is very wrong, and then the first of them say it. */
const readAtMost = 500

/** The range whose network has this comment; undefined for any other comment. */
const rangeOf = (comment: string): string | undefined => {
  const text = comment.trim()
  const id = text.slice(text.lastIndexOf(" ") + 1)
  return isRangeId(id) && text === networkComment(id) ? id : undefined
}

/**
 * Looks for machines and networks with the service's mark whose range it does not know: nothing else shows them, and they use memory, disk
 * and VMIDs forever. A restored backup, `begin-anew` and machines taken out of their pool leave such. Changes nothing.
 */
export const checkLeftovers = ({
  vmidFrom,
  vmidTo,
  natNetwork,
}: Pick<Config, "vmidFrom" | "vmidTo" | "natNetwork">): Effect.Effect<
  readonly Finding[],
  never,
  Hypervisor | HypervisorNetwork | Ranges
> =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const network = yield* HypervisorNetwork
    const ranges = yield* Ranges
    // before the ranges: those of machines that exist are stored by then
    const cluster = yield* hypervisor.observe
    const networks = yield* network.observe
    const stored = yield* ranges.list()
    const known = new Set<string>(stored.map(({ id }) => id))
    const candidates = cluster.machines.filter(
      ({ template, pool, tags, vmid }) =>
        !template && (pool === undefined || !known.has(pool)) && (tags.includes(ownTag) || (vmid >= vmidFrom && vmid <= vmidTo)),
    )
    const read = yield* Effect.forEach(
      candidates.slice(0, readAtMost),
      // one that cannot be read, or is gone by now, is not told of
      ({ node, vmid }) => Effect.option(hypervisor.detail(node, vmid)),
      { concurrency: 4 },
    )
    const machines = read.flatMap((detail) => {
      if (detail._tag === "None") return []
      const { description, name, node, vmid } = detail.value
      const range = readDescription(description).mark?.range
      return range === undefined || known.has(range) ? [] : [`${name} (VM ${vmid} on ${node}, range ${range})`]
    })
    // all ranges reach the outside through it; a migration leaves the bridge and the VNet
    const toOutside = new Set([natNetworkName(false), natNetwork ?? natNetworkName(true)])
    const left = networks.flatMap(({ spec, ours }) => {
      const comment = spec.type === "vnet" ? spec.alias : spec.comment
      if (toOutside.has(spec.name) || comment.trim() === natAlias) return []
      const range = rangeOf(comment)
      return !ours || range === undefined || known.has(range) ? [] : [`${spec.name} (range ${range})`]
    })
    const found = [...told("machine", machines), ...told("network", left)]
    return found.length === 0 ? [ok(what, "every machine and network with the service's mark belongs to a range")] : found
  }).pipe(
    Effect.catch(({ message, hint }) =>
      Effect.succeed([warn(what, message, hint ?? "Check the service's log, and run this again when the service is up.")]),
    ),
  )

const told = (kind: "machine" | "network", names: readonly string[]): readonly Finding[] => {
  if (names.length === 0) return []
  const shown = names.slice(0, linesAtMost).join(", ")
  const more = names.length > linesAtMost ? `, and ${names.length - linesAtMost} more` : ""
  return [
    warn(
      what,
      `${names.length} ${kind}${names.length === 1 ? "" : "s"} with the service's mark belong${names.length === 1 ? "s" : ""} to no range of this installation: ${shown}${more}`,
      "The service never changes them. If no other installation uses this hypervisor, remove them in Proxmox.",
    ),
  ]
}
