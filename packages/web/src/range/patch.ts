import type { MachineEvent, Range } from "@rangewright/application/wire"
import type { LiveEvent } from "../live/live.ts"

/** The range updated with an event about one of its machines; undefined when more than that has changed. */
export const patchRange = (range: Range, { topic, data }: LiveEvent): Range | undefined => {
  if (topic !== "machine") return undefined
  const at = range.VMs.findIndex(({ proxmoxID }) => proxmoxID === data["proxmoxID"])
  const machine = range.VMs[at]
  if (machine === undefined || machine.name !== data["name"]) return undefined
  const { missingSince: _, ...kept } = machine
  const { poweredOn, ip, cpu, ram, missingSince } = data as MachineEvent
  const patched = { ...kept, poweredOn, ip, cpu, ram, ...(missingSince === undefined ? {} : { missingSince }) }
  return { ...range, VMs: range.VMs.with(at, patched) }
}

/** The same for a list: the other ranges keep their identity. */
export const patchRanges = (ranges: readonly Range[], event: LiveEvent): readonly Range[] | undefined => {
  const at = ranges.findIndex(({ rangeID }) => rangeID === event.rangeID)
  const range = ranges[at]
  const patched = range === undefined ? undefined : patchRange(range, event)
  return patched === undefined ? undefined : ranges.with(at, patched)
}

/**
 * The same for the ranges of a class: what happens in other ranges does not affect them. A range that is new to it may be one that was
 * added to its group.
 */
export const patchClass = (ranges: readonly Range[], event: LiveEvent): readonly Range[] | undefined => {
  const isOther = ranges.every(({ rangeID }) => rangeID !== event.rangeID)
  const mayBeNew = event.topic === "range" && event.data["accessType"] === "Group"
  return isOther && !mayBeNew ? ranges : patchRanges(ranges, event)
}
