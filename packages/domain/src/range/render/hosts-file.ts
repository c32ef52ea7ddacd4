import type { RangeHost } from "./host.ts"

/** A name without everything up to its first `-`; the names of a range's machines begin with the range's ID. */
export const shortNameOf = (name: string): string => name.slice(name.indexOf("-") + 1)

/**
 * Lines for `/etc/hosts`: for each host that has an address, one with its name and one with its short name. Hosts are given ascending by
 * name; five spaces separate address and name.
 */
export const renderHostsFile = (hosts: readonly RangeHost[]): string =>
  hosts
    .flatMap(({ name, address }) =>
      address === undefined ? [] : [...new Set([name, shortNameOf(name)])].map((known) => `${address}     ${known}\n`),
    )
    .join("")
