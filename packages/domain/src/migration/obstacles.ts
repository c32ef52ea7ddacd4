import { groupBy } from "../group-by.ts"
import { listed } from "../text.ts"
import type { InstallationVnet } from "./installation.ts"
import { isSdnName, lastVxlanTag, type NetworkPair } from "./layout.ts"
import type { Mover } from "./moves.ts"
import { isOurAlias, type MigrationPicture, vnetState, zoneNodes } from "./picture.ts"
import { peersOf, vxlanMtu, zoneCommands, zoneToMake } from "./zone.ts"
import type { MigrationBlocker } from "./plan.ts"

/** Invalid VXLAN tags that result from the settings and range numbers. */
export const tagObstacles = ({ pairs }: MigrationPicture): readonly MigrationBlocker[] =>
  pairs.flatMap(({ range, tag }) =>
    range === undefined || (tag >= 1 && tag < lastVxlanTag)
      ? []
      : [
          {
            code: "tag-range" as const,
            message: `range ${range.id} would have the VXLAN tag ${tag}, which is not between 1 and ${lastVxlanTag - 1}`,
            hint: "Set vxlan_tag_base so that base + range number is in that interval.",
          },
        ],
  )

/** Invalid and duplicate names that result from the settings and range numbers. */
export const nameObstacles = ({ pairs, options }: MigrationPicture): readonly MigrationBlocker[] => {
  const blockers: MigrationBlocker[] = []
  const badName = (message: string, hint: string): void => void blockers.push({ code: "bad-name", message, hint })
  if (!isSdnName(options.zone))
    badName(`the zone cannot be named ${options.zone}`, "Set sdn_zone to 2 to 8 letters and digits, a letter first.")
  if (!isSdnName(options.natVnet) || options.natVnet === options.natBridge)
    badName(
      `the VNet of the outside network cannot be named ${options.natVnet}`,
      "Set ludus_nat_interface to ludusnat, or to another name of 2 to 8 letters and digits that no bridge has.",
    )
  for (const { range, vnet } of pairs) {
    if (range === undefined) continue
    if (!isSdnName(vnet) || !Number.isInteger(range.number) || range.number < 1)
      blockers.push({
        code: "range-number",
        message: `range ${range.id} has the number ${range.number}, and its VNet cannot be named ${vnet}`,
        hint: "Give the range a number from 1 to 153.",
      })
  }
  for (const key of ["bridge", "vnet"] as const)
    for (const [name, same] of groupBy(pairs, (pair) => pair[key]))
      if (same.length > 1)
        badName(
          `${name} would be the network of ${same.map(({ range }) => (range === undefined ? "the outside" : `range ${range.id}`)).join(" and ")}`,
          "Give the outside network a name that no range's network has, and each range a unique number.",
        )
  return blockers
}

/** VNets that exist but are not as required, and names and tags that are taken. */
export const vnetObstacles = (picture: MigrationPicture): readonly MigrationBlocker[] => {
  const { installation, pairs, needed, options } = picture
  const overlay = new Set(installation.zones.filter(({ type }) => type === "vxlan" || type === "evpn").map(({ name }) => name))
  const tags = groupBy(
    installation.vnets.filter(({ zone }) => overlay.has(zone)),
    ({ tag }) => tag,
  )
  return needed.flatMap((pair): readonly MigrationBlocker[] => {
    const state = vnetState(picture, pair)
    if (state === "foreign" || state === "unfit") return [existingObstacle(picture, pair, state)]
    if (state !== "missing") return []
    const holder = tags.get(pair.tag)?.[0]
    const bridge = picture.bridges.get(pair.vnet)?.[0]
    return [
      ...(holder === undefined
        ? []
        : [
            {
              code: "tag-taken" as const,
              message: `the VXLAN tag ${pair.tag} that VNet ${pair.vnet} needs is used by VNet ${holder.name} in zone ${holder.zone}`,
              hint: `Give VNet ${holder.name} another tag, or set vxlan_tag_base (now ${options.vxlanTagBase}) to a value from which ${pairs.length} tags are free.`,
            },
          ]),
      ...(bridge === undefined
        ? []
        : [
            {
              code: "name-taken" as const,
              message: `VNet ${pair.vnet} cannot be created: node ${bridge.node} has a bridge with this name`,
              hint: `Rename or remove the bridge ${bridge.name} on node ${bridge.node}.`,
            },
          ]),
    ]
  })
}

const existingObstacle = (
  { vnets, options }: MigrationPicture,
  { vnet: name, tag, alias, range }: NetworkPair,
  state: "foreign" | "unfit",
): MigrationBlocker => {
  const found = vnets.get(name)!
  const what = `VNet ${name} exists in zone ${found.zone} with the tag ${found.tag ?? "none"}`
  const wanted = range === undefined ? `in zone ${options.zone}` : `in zone ${options.zone} with the tag ${tag}`
  if (state === "foreign")
    return {
      code: "network-foreign",
      message: `${what} but is not ours: its alias is ${found.alias.trim() === "" ? "empty" : `"${found.alias.trim()}"`}`,
      hint: `It is never used. Remove it or, if it is the network of range ${range?.id ?? "none"}, set its alias to "${alias}".`,
    }
  const why = found.state === "deleted" ? "is about to be removed" : `has to be VLAN-aware ${wanted}`
  return {
    code: "network-unfit",
    message: `${what} and ${why}`,
    hint:
      found.state === "deleted" ? "Apply or roll back the pending SDN changes." : `Change or remove VNet ${name}, and apply it.`,
  }
}

/** Problems of the zone, and a zone that is missing and is not to be created. */
export const zoneObstacles = (picture: MigrationPicture, movers: readonly Mover[]): readonly MigrationBlocker[] => {
  const { zone, options, installation } = picture
  if (zone === undefined) {
    const { addresses, unknown } = peersOf(installation)
    if (options.createZone && unknown.length > 0)
      return [
        {
          code: "zone-missing",
          message: `the zone ${options.zone} cannot be created: the addresses of the nodes ${listed(unknown)} are not known`,
          hint: `Create a VXLAN zone named ${options.zone} with the addresses of all nodes as peers and apply it (Datacenter > SDN > Zones).`,
        },
      ]
    if (options.createZone) return []
    return [
      {
        code: "zone-missing",
        message: `the SDN zone ${options.zone} does not exist`,
        hint:
          unknown.length > 0
            ? `Create a VXLAN zone with the ID ${options.zone}, the MTU ${vxlanMtu} and the addresses of all nodes as peers, which are ${addresses.join(",")} and those of ${listed(unknown)}, and apply it (Datacenter > SDN > Zones).`
            : `On any node: ${zoneCommands(zoneToMake(options.zone, installation))} (or Datacenter > SDN > Zones); or repeat with createZone=true (--create-zone), which creates this zone.`,
      },
    ]
  }
  if (zone.type !== "vxlan")
    return [
      {
        code: "zone-unfit",
        message: `the SDN zone ${zone.name} has the type ${zone.type}, but must be VXLAN`,
        hint: "Set sdn_zone to the name of a VXLAN zone.",
      },
    ]
  const spans = new Set(zoneNodes(zone, installation))
  const without = [...new Set(movers.map(({ own }) => own.machine.node))].filter((node) => !spans.has(node)).sort()
  if (without.length === 0) return []
  return [
    {
      code: "zone-unfit",
      message: `the SDN zone ${zone.name} does not include ${listed(without)}, where machines are`,
      hint: "Add the nodes to the zone, or leave its list of nodes empty for all.",
    },
  ]
}

/**
 * Other people's SDN changes that an apply would put into force with ours. `removing`: VNets that this plan removes; a pending removal of
 * the VNet of any other current network is not one of ours.
 */
export const pendingSdn = (
  { installation, zone, options, pairs }: MigrationPicture,
  removing: ReadonlySet<string> = new Set(),
): readonly MigrationBlocker[] => {
  const names = new Set(pairs.map(({ vnet }) => vnet))
  const isOurs = ({ name, alias, state }: InstallationVnet): boolean =>
    isOurAlias(alias) && (state !== "deleted" || removing.has(name) || !names.has(name))
  // a pending zone that is as we would create or remove it was written by a migration that was interrupted
  const ourZone =
    zone?.type === "vxlan" &&
    zone.nodes.length === 0 &&
    zone.peers.toSorted().join(",") === peersOf(installation).addresses.toSorted().join(",") &&
    (zone.state === "new" ? options.createZone : installation.record?.madeZone === true)
  const foreign = [
    ...installation.zones
      .filter(({ name, state }) => state !== undefined && !(name === options.zone && ourZone))
      .map(({ name, state }) => `zone ${name} is ${state}`),
    ...installation.vnets
      .filter((vnet) => vnet.state !== undefined && !isOurs(vnet))
      .map(({ name, state }) => `VNet ${name} is ${state}`),
    ...installation.otherPending,
  ]
  if (foreign.length === 0) return []
  return [
    {
      code: "pending-sdn",
      message: `the cluster's SDN has pending changes that are not ours (${listed(foreign)}); applying it would apply them too`,
      hint: "Apply or roll them back under Datacenter > SDN.",
    },
  ]
}
