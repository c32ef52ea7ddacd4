/** The names that a range's router resolves, and their addresses. */
import type { RangeConfig } from "../range/config/model.ts"
import { renderName, renderString, type TemplateVariables } from "../range/config/variables.ts"
import { machineAddress } from "./addressing.ts"

export interface DnsRecord {
  /** As written; names are case-insensitive. `*.` matches any first label. */
  readonly name: string
  readonly address: string
}
export interface DnsNames {
  /** In the order of the machines; each pair of name and address is unique. */
  readonly records: ReadonlyArray<DnsRecord>
  /** Names with expressions that only Ansible can evaluate; they are not among the records. */
  readonly unresolved: ReadonlyArray<DnsRecord>
}

/** The reserved zone for home networks. */
const localZone = "home.arpa"

/**
 * For each machine: its host name, its host name without the part up to the first hyphen (usually the range's id), each also in
 * `home.arpa`, and its `dns_rewrites`. If two machines share a short name, both addresses are returned.
 */
export const dnsNames = (config: RangeConfig, variables: TemplateVariables): DnsNames => {
  const records = new Map<string, DnsRecord>()
  const unresolved: Array<DnsRecord> = []
  for (const machine of config.machines) {
    const address = machineAddress(variables.rangeNumber, machine.vlan, machine.octet)
    const add = (name: string): void => {
      const key = `${name.toLowerCase()} ${address}`
      if (!records.has(key)) records.set(key, { name, address })
    }
    for (const name of hostNames(renderName(machine.hostname, variables))) {
      add(name)
      add(`${name}.${localZone}`)
    }
    for (const rewrite of machine.dnsRewrites) {
      const { text, complete } = renderString(rewrite, variables)
      if (complete) add(text)
      else unresolved.push({ name: text, address })
    }
  }
  return { records: [...records.values()], unresolved }
}

const hostNames = (hostname: string): ReadonlyArray<string> => {
  const short = hostname.slice(hostname.indexOf("-") + 1)
  return short === hostname || short === "" ? [hostname] : [hostname, short]
}
