import ipaddr from "ipaddr.js"

/** An IPv4 network; a single address has prefix length 32. */
export interface Cidr {
  /** Such as `10.7.0.0/16`, host bits cleared. */
  readonly text: string
  /** Lowest and highest address as numbers. */
  readonly first: number
  readonly last: number
}

/** An IPv4 address as a number; undefined for anything but four decimal parts without leading zeros. */
export const addressNumber = (text: string): number | undefined => {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return ipaddr.IPv4.parse(text)
    .toByteArray()
    .reduce((number, byte) => number * 256 + byte, 0)
}

const addressText = (number: number): string => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".")

/** Parses `address/length` or a single address; undefined for anything else. */
export const parseCidr = (text: string): Cidr | undefined => {
  const [address = "", length = "32", ...rest] = text.split("/")
  const number = addressNumber(address)
  if (number === undefined || rest.length > 0 || !/^([0-9]|[12][0-9]|3[0-2])$/u.test(length)) return undefined
  const size = 2 ** (32 - Number(length))
  const first = Math.floor(number / size) * size
  return { text: `${addressText(first)}/${length}`, first, last: first + size - 1 }
}

export const overlaps = (a: Cidr, b: Cidr): boolean => a.first <= b.last && b.first <= a.last

/** Networks as addresses and `first-last` spans, ascending, with overlapping and adjacent ones merged. */
export const spans = (networks: ReadonlyArray<Cidr>): ReadonlyArray<string> => {
  const apart: Array<{ first: number; last: number }> = []
  for (const { first, last } of networks.toSorted((a, b) => a.first - b.first)) {
    const before = apart.at(-1)
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last)
    else apart.push({ first, last })
  }
  return apart.map(({ first, last }) => (first === last ? addressText(first) : `${addressText(first)}-${addressText(last)}`))
}
