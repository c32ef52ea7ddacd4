import type { RangeHost } from "./host.ts"

/** A name without everything up to its first `-`; the names of a range's machines begin with the range's id. */
export const shortNameOf = (name: string): string => name.slice(name.indexOf("-") + 1)

/**
 * Lines for `/etc/hosts`: for each host that has an address its name, then its short name. Hosts come ascending by
 * name; five blanks part address and name.
 */
export const renderHostsFile = (hosts: readonly RangeHost[]): string =>
  hosts
    .flatMap(({ name, address }) =>
      address === undefined ? [] : [...new Set([name, shortNameOf(name)])].map((known) => `${address}     ${known}\n`),
    )
    .join("")
