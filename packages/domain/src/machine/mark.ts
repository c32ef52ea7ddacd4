import { isRangeId, type RangeId } from "../access/ids.ts"
import { type Hardware, readHardware } from "./hardware.ts"

/**
 * Our mark on a VM, stored in its description next to the groups that inventories read (JSON with `groups`). No mutating call is made to a
 * VM whose mark does not name the expected range and machine. People may write notes above and below this line.
 */
export interface MachineMark {
  readonly range: RangeId
  readonly machine: string
  /** Name of the template that it was cloned from; absent in marks without it. For information only, not part of the identity. */
  readonly template?: string | undefined
  /** True if an older service made the VM and it was taken over as it was (ADR 24). Not part of the identity either. */
  readonly adopted?: boolean | undefined
  /** The hardware that it showed before it was disguised (ADR 72); absent: it is not disguised. Not part of the identity either. */
  readonly undisguised?: Hardware | undefined
}

export interface MachineDescription {
  readonly groups: readonly string[]
  readonly mark: MachineMark | undefined
}

const asText = (u: unknown): string | undefined => (typeof u === "string" && u !== "" ? u : undefined)
const asRecord = (u: unknown): Record<string, unknown> =>
  typeof u === "object" && u !== null && !Array.isArray(u) ? (u as Record<string, unknown>) : {}

/** Parses the JSON of a description leniently: a trailing comma is accepted (older tools write one). Undefined for any other text. */
const parseDescription = (text: string): unknown => {
  if (text.length > 65_536) return undefined
  try {
    return JSON.parse(text.replace(/,(\s*[}\]])/gu, "$1"))
  } catch {
    return undefined
  }
}

/** Whether a description contains only what services write, so that replacing it loses nothing that a person wrote. */
export const isServiceDescription = (text: string): boolean => {
  if (text.trim() === "") return true
  const value = parseDescription(text)
  return typeof value === "object" && value !== null && Object.keys(value).every((key) => key === "groups")
}

const markIn = (value: unknown): MachineMark | undefined => {
  const own = asRecord(asRecord(value)["rangewright"])
  const range = asText(own["range"])
  const machine = asText(own["machine"])
  // members write notes: any text may be there
  if (range === undefined || !isRangeId(range) || machine === undefined) return undefined
  const template = asText(own["template"])
  const undisguised = own["undisguised"] === undefined ? undefined : readHardware(own["undisguised"])
  return {
    range,
    machine,
    ...(template === undefined ? {} : { template }),
    ...(own["adopted"] === true ? { adopted: true } : {}),
    ...(undisguised === undefined ? {} : { undisguised }),
  }
}

/** Our JSON in a description, and the lines that people wrote around it. */
interface Parts {
  readonly json: unknown
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Our JSON is the whole description, or its only line with a mark: two of them prove nothing. */
const partsOf = (text: string): Parts | undefined => {
  const whole = parseDescription(text)
  if (whole !== undefined) return { json: whole, before: [], after: [] }
  const lines = text.split("\n")
  const marked = lines.flatMap((line, at) => {
    const json = line.startsWith("{") ? parseDescription(line) : undefined
    return markIn(json) === undefined ? [] : [{ json, at }]
  })
  const [ours, ...others] = marked
  if (ours === undefined || others.length > 0) return undefined
  return { json: ours.json, before: lines.slice(0, ours.at), after: lines.slice(ours.at + 1) }
}

/** Reads a description; a text without our JSON has no mark. */
export const readDescription = (text: string): MachineDescription => {
  const json = partsOf(text)?.json
  const { groups } = asRecord(json)
  return { groups: Array.isArray(groups) ? groups.filter((g): g is string => typeof g === "string") : [], mark: markIn(json) }
}

/** `existing`: the description that the VM has. What people wrote around our line in it stays. */
export const writeDescription = (mark: MachineMark, groups: readonly string[], existing = ""): string => {
  const { before, after } = partsOf(existing) ?? { before: [], after: [] }
  const ours = JSON.stringify({
    groups,
    rangewright: {
      range: mark.range,
      machine: mark.machine,
      ...(mark.template === undefined ? {} : { template: mark.template }),
      ...(mark.adopted === true ? { adopted: true } : {}),
      ...(mark.undisguised === undefined ? {} : { undisguised: mark.undisguised }),
    },
  })
  return [...before, ours, ...after].join("\n")
}

export const carriesMark = (description: string, expected: MachineMark): boolean => {
  const { mark } = readDescription(description)
  return mark !== undefined && mark.range === expected.range && mark.machine === expected.machine
}

/** A MAC address unique in the cluster: locally administered, derived from the VMID and the NIC's index. */
export const macOf = (vmid: number, nic: number): string =>
  [0x02, (vmid >>> 24) & 0xff, (vmid >>> 16) & 0xff, (vmid >>> 8) & 0xff, vmid & 0xff, nic & 0xff]
    .map((b) => b.toString(16).padStart(2, "0").toUpperCase())
    .join(":")
