import type { Range } from "@rangewright/application/wire"
import type { LiveEvent } from "../live/live.ts"

/** The range with what the event tells of one of its machines; undefined: more has changed than that. */
export const patchRange = (range: Range, { topic, data }: LiveEvent): Range | undefined => {
  if (topic !== "machine") return undefined
  const at = range.VMs.findIndex(({ proxmoxID }) => proxmoxID === data["proxmoxID"])
  const machine = range.VMs[at]
  const { poweredOn, ip, name } = data
  if (machine === undefined || typeof poweredOn !== "boolean" || typeof ip !== "string" || machine.name !== name) return undefined
  return { ...range, VMs: range.VMs.with(at, { ...machine, poweredOn, ip }) }
}

/** The same for a list: the other ranges stay as they are. */
export const patchRanges = (ranges: readonly Range[], event: LiveEvent): readonly Range[] | undefined => {
  const at = ranges.findIndex(({ rangeID }) => rangeID === event.rangeID)
  const range = ranges[at]
  const patched = range === undefined ? undefined : patchRange(range, event)
  return patched === undefined ? undefined : ranges.with(at, patched)
}
