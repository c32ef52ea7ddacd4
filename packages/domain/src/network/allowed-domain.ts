import { addressNumber } from "./cidr.ts"

/** A domain that testing mode allows, including all subdomains, and the address it had when it was allowed. */
export interface AllowedDomain {
  /** Lower case. */
  readonly name: string
  readonly address: string | undefined
}

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
const domain = new RegExp(String.raw`^${label}(?:\.${label})+$`, "u")

/** Parses `<domain> (<ipv4>)`. Undefined for a name that DNS cannot resolve: it opens nothing. */
export const allowedDomain = (entry: string): AllowedDomain | undefined => {
  const [, written = "", address = ""] = /^(\S{1,253}) \(([0-9.]{7,15})\)$/u.exec(entry) ?? []
  const name = written.toLowerCase()
  return domain.test(name) ? { name, address: addressNumber(address) === undefined ? undefined : address } : undefined
}
