import { createHash } from "node:crypto"
import { failure, wrapped } from "../core/errors.ts"
import { parsePairs } from "../core/guest-config.ts"
import type { SdnObject, SdnView } from "../core/state.ts"
import { asText } from "../core/text.ts"
import { flag, optionalText, type Call } from "../http/call.ts"

/** The kinds of SDN objects, with their immutable keys. */
export const kinds = {
  zone: { set: "zones", fixed: ["zone", "type"] },
  vnet: { set: "vnets", fixed: ["vnet", "type"] },
  subnet: { set: "subnets", fixed: ["subnet", "id", "type", "cidr", "network", "mask", "zone", "vnet", "dhcp-range"] },
} as const

/** A kind of SDN object. */
export type Kind = keyof typeof kinds

/** The digest over all objects of a kind. */
export const digestOf = (view: SdnView, kind: Kind): string =>
  createHash("sha1")
    .update(JSON.stringify([...view[kinds[kind].set]].toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest("hex")

const differing = (from: SdnObject, to: SdnObject, fixed: readonly string[]): Record<string, string | number> => {
  const out: Record<string, string | number> = {}
  for (const [key, value] of Object.entries(to)) if (!fixed.includes(key) && from[key] !== value) out[key] = value
  for (const key of Object.keys(from)) if (!fixed.includes(key) && to[key] === undefined) out[key] = "deleted"
  return out
}

const only = (object: SdnObject, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)))

/** An object as `pending=1` shows it: the running values, and what an apply would change. */
const pendingView = (kind: Kind, running: SdnObject | undefined, config: SdnObject | undefined): Record<string, unknown> => {
  const { fixed } = kinds[kind]
  if (running === undefined)
    return { ...only(config!, fixed), state: "new", pending: differing({}, config!, fixed), digest: null }
  if (config === undefined) return { ...running, state: "deleted", pending: {}, digest: null }
  const changes = differing(running, config, fixed)
  if (Object.keys(changes).length === 0) return { ...running, digest: null }
  return { ...running, state: "changed", pending: changes, digest: null }
}

/** A range of addresses for leases. */
export interface LeaseRange {
  readonly "start-address": string
  readonly "end-address": string
}

/** The ranges of a subnet, which are stored as a list of property strings in JSON. */
export const leaseRanges = (subnet: Record<string, unknown>): readonly LeaseRange[] => {
  const texts = JSON.parse(asText(subnet["dhcp-range"] ?? "[]")) as string[]
  return texts.map((text) => {
    const pairs = parsePairs(text)
    return { "start-address": pairs.get("start-address") ?? "", "end-address": pairs.get("end-address") ?? "" }
  })
}

const listed = (kind: Kind, object: Record<string, unknown>): Record<string, unknown> =>
  kind === "subnet" ? { ...object, "dhcp-range": leaseRanges(object) } : object

/** All objects of a kind in the view that the call requests. */
export const viewOf = (call: Call, kind: Kind): Map<string, Record<string, unknown>> => {
  const { config, running } = call.world.state.sdn
  const { set } = kinds[kind]
  const out = new Map<string, Record<string, unknown>>()
  if (flag(call, "pending")) {
    for (const id of new Set([...running[set].keys(), ...config[set].keys()]))
      out.set(id, listed(kind, pendingView(kind, running[set].get(id), config[set].get(id))))
  } else if (flag(call, "running")) {
    for (const [id, object] of running[set]) out.set(id, listed(kind, { ...object, digest: null }))
  } else {
    const digest = digestOf(config, kind)
    for (const [id, object] of config[set]) out.set(id, listed(kind, { ...object, digest }))
  }
  return new Map([...out].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** True while an apply would change something. */
export const hasPending = (call: Call): boolean => {
  const { config, running } = call.world.state.sdn
  return (Object.keys(kinds) as Kind[]).some((kind) => digestOf(config, kind) !== digestOf(running, kind))
}

/** Makes a write: requires the lock's token if the configuration is locked, and prefixes failures with the operation's name. */
export const edit = (call: Call, operation: string, change: () => void): null => {
  const { lock } = call.world.state.sdn
  try {
    if (lock !== undefined && optionalText(call, "lock-token") !== lock)
      throw failure("invalid lock token provided! at /usr/share/perl5/PVE/Network/SDN.pm line 291.")
    if (lock === undefined && optionalText(call, "lock-token") !== undefined)
      throw failure("invalid lock token provided! at /usr/share/perl5/PVE/Network/SDN.pm line 291.")
    change()
  } catch (error) {
    throw wrapped(operation, error)
  }
  return null
}

/** Refuses an edit that is based on an older version. */
export const checkDigest = (call: Call, kind: Kind): void => {
  const digest = optionalText(call, "digest")
  if (digest !== undefined && digest !== digestOf(call.world.state.sdn.config, kind)) {
    throw failure("detected modified configuration - file changed by other user? Try again.")
  }
}
