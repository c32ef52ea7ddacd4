import {
  dhcpRange,
  gatewayAddress,
  machineAddress,
  machineOctets,
  natNetwork,
  rangeNetwork,
  rangeNumbers,
  vpnNetwork,
  wanAddress,
} from "../../network/addressing.ts"
import { addressNumber, type Cidr } from "../../network/cidr.ts"
import { type RangeConfig, renderName } from "../config/index.ts"
import type { Range } from "../range.ts"

/** The verdict on the addresses that a guest reports. They are claims: a machine may give itself any address. */
export interface JudgedAddresses {
  /** Where the machine is reached and shown; undefined when no reported address is its own. */
  readonly own: string | undefined
  /** Addresses that belong to others: never used, and reported to people. */
  readonly foreign: readonly string[]
}

/** A VM of a range, and whether it is the range's router. */
export interface Claimant {
  readonly name: string | undefined
  readonly isRouter: boolean
}

export type JudgeAddresses = (machine: Claimant, reported: readonly string[]) => JudgedAddresses

type Span = Pick<Cidr, "first" | "last">

/** The NAT network gives one of these to a router that has no address of its own yet: 192.0.2.50 to 192.0.2.100. */
const firstBootAddresses: Span = { first: natNetwork.first + 50, last: natNetwork.first + 100 }
const ofInstallation: readonly Span[] = [
  { first: rangeNetwork(rangeNumbers.first).first, last: rangeNetwork(rangeNumbers.last).last },
  natNetwork,
  vpnNetwork,
]

const holds = ({ first, last }: Span, address: number): boolean => first <= address && address <= last

/** A reported address, as text and as a number. */
type Claim = readonly [text: string, number: number]

const claimsOf = (reported: readonly string[]): readonly Claim[] =>
  [...new Set(reported)].flatMap((text): readonly Claim[] => {
    const number = addressNumber(text)
    return number === undefined ? [] : [[text, number]]
  })

/** The addresses by rank, lowest first; claims without a rank are left out. */
const ranked = (claims: readonly Claim[], rank: (claim: Claim) => number | undefined): readonly string[] =>
  claims
    .flatMap((claim) => {
      const place = rank(claim)
      return place === undefined ? [] : [{ text: claim[0], place }]
    })
    .toSorted((a, b) => a.place - b.place)
    .map(({ text }) => text)

/**
 * The single rule for addresses that guests report. A router's own addresses are its outer one and its legs. A machine's own are those of
 * its range's network that are neither the router's nor configured for another machine; its configured one is preferred, then one of its
 * VLAN's DHCP pool, then any other. Everything else in a network of this installation is foreign, and so is everything that a machine
 * without an own address reports. Other networks, such as those of containers, are a machine's own business.
 *
 * `firstBoot`: the router of the range is about to get its address for the first time, and is reached where the NAT network put it.
 */
export const judgeAddresses = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
  { firstBoot = false } = {},
): JudgeAddresses => {
  const network = rangeNetwork(range.number)
  const places = new Map(
    (config?.machines ?? []).map(({ name, vlan, octet }) => [
      renderName(name, { rangeId: range.id }),
      { address: machineAddress(range.number, vlan, octet), vlan },
    ]),
  )
  const taken = new Set([...places.values()].map(({ address }) => address))
  // of any VLAN: one that is no longer in the configuration may still have machines
  const isLeg = (text: string): boolean => text === gatewayAddress(range.number, Number(text.split(".")[2]))

  const rankOfRouters = ([text, number]: Claim): number | undefined => {
    if (text === wanAddress(range.number)) return 0
    if (isLeg(text)) return 1
    return firstBoot && holds(firstBootAddresses, number) ? 2 : undefined
  }
  const rankOf = (name: string | undefined) => {
    const place = name === undefined ? undefined : places.get(name)
    const pool = place === undefined ? undefined : dhcpRange(range.number, place.vlan)
    const [first = 0, last = -1] = pool === undefined ? [] : [addressNumber(pool.first), addressNumber(pool.last)]
    return ([text, number]: Claim): number | undefined => {
      if (text === place?.address) return 0
      const octet = number % 256
      const isHost = holds(network, number) && octet >= machineOctets.first && octet <= machineOctets.last
      if (!isHost || taken.has(text)) return undefined
      return holds({ first, last }, number) ? 1 : 2
    }
  }

  return ({ name, isRouter }, reported) => {
    const claims = claimsOf(reported)
    const all = ranked(claims, isRouter ? rankOfRouters : rankOf(name))
    const [own] = all
    const isForeign = ([text, number]: Claim): boolean =>
      !all.includes(text) && (own === undefined || ofInstallation.some((span) => holds(span, number)))
    return { own, foreign: claims.filter(isForeign).map(([text]) => text) }
  }
}

/** How many addresses a note lists. */
const named = 8

/** The note for people, in plans and runs. */
export const foreignAddressNote = (name: string, foreign: readonly string[]): string => {
  const list = [...foreign.slice(0, named), ...(foreign.length > named ? [`${foreign.length - named} more`] : [])].join(", ")
  return foreign.length === 1
    ? `${name} reports the address ${list}, which does not belong to it, so it is not used`
    : `${name} reports the addresses ${list}, which do not belong to it, so they are not used`
}
