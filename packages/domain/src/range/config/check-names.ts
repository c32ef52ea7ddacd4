/** Names of machines: legal, unique, and not someone else's. */
import { passesForAnother } from "../naming.ts"
import type { CheckContext } from "./check-context.ts"
import { quote } from "./issue.ts"
import type { Path } from "./node.ts"

const legalName = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/u
const allowedName = "1 to 63 letters, digits, dots and hyphens, the first a letter or digit; {{ range_id }} is replaced"
/** Windows identifies a machine by this many characters of its host name. */
const netbiosLength = 15

export const nameChecks = ({ config, facts, render, error, warning }: CheckContext): void => {
  const names = new Map<string, string>()
  const hostNames = new Map<string, string>()
  const shortNames = new Map<string, string>()

  const legal = (path: Path, name: string): void => {
    if (!legalName.test(name)) error(path, "illegal-name", `${quote(name)} is not a valid name`, allowedName)
  }
  const unique = (seen: Map<string, string>, path: Path, key: string, owner: string, code: string, what: string): void => {
    const first = seen.get(key)
    if (first === undefined) seen.set(key, owner)
    else error(path, code, `${what} is already used by ${first}`, "a different name for each machine")
  }
  const ours = (path: Path, name: string): void => {
    if (facts.keptNames?.has(name) === true) return
    if (passesForAnother(name, facts.rangeId, facts.otherRanges ?? []))
      error(
        path,
        "name-of-another-range",
        `${quote(name)} begins with the ID of another range`,
        `a name that begins with ${facts.rangeId}-`,
      )
  }

  const router = render(config.router.name)
  legal(["router", "vm_name"], router)
  ours(["router", "vm_name"], router)
  names.set(router, "the router")

  for (const [index, machine] of config.machines.entries()) {
    const at = (key: string): Path => ["ludus", index, key]
    const owner = `ludus[${index}]`
    const name = render(machine.name)
    const hostname = render(machine.hostname)
    legal(at("vm_name"), name)
    legal(at("hostname"), hostname)
    ours(at("vm_name"), name)
    unique(names, at("vm_name"), name, owner, "repeated-name", `the name ${quote(name)}`)
    unique(hostNames, at("hostname"), hostname, owner, "repeated-hostname", `the host name ${quote(hostname)}`)
    const short = hostname.slice(0, netbiosLength)
    if (machine.os.kind === "windows" && short !== hostname)
      warning(
        at("hostname"),
        "long-hostname",
        `Windows cuts ${quote(hostname)} to ${quote(short)}`,
        `${netbiosLength} characters`,
      )
    // A host name that is repeated in full is reported only as that.
    if (machine.domain === undefined || hostNames.get(hostname) !== owner) continue
    const what = `in the domain ${machine.domain.fqdn}, ${quote(short)} (${netbiosLength} characters of the host name)`
    const key = `${short.toLowerCase()} ${machine.domain.fqdn.toLowerCase()}`
    unique(shortNames, at("hostname"), key, owner, "repeated-netbios-name", what)
  }
}
