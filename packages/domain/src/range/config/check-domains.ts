/** Active Directory domains: one primary controller each, and Windows only. */
import type { CheckContext } from "./check-context.ts"

export const domainChecks = ({ config, warning }: CheckContext): void => {
  const primaries = new Map<string, number>()
  for (const [index, { domain }] of config.machines.entries()) {
    if (domain?.role !== "primary-dc") continue
    const fqdn = domain.fqdn.toLowerCase()
    const first = primaries.get(fqdn)
    if (first === undefined) primaries.set(fqdn, index)
    else
      warning(
        ["ludus", index, "domain", "role"],
        "second-primary-dc",
        `ludus[${first}] is already the primary domain controller of ${domain.fqdn}`,
        "one primary-dc per domain; make further ones alt-dc",
      )
  }
  for (const [index, { domain, os }] of config.machines.entries()) {
    if (domain === undefined) continue
    if (os.kind !== "windows")
      warning(["ludus", index, "domain"], "domain-without-windows", `\`domain\` has no effect on a ${os.kind} machine`, "windows")
    if (domain.role !== "primary-dc" && !primaries.has(domain.fqdn.toLowerCase()))
      warning(
        ["ludus", index, "domain", "fqdn"],
        "domain-without-primary-dc",
        `no machine is the primary domain controller of ${domain.fqdn}`,
        "a machine with this fqdn and the role primary-dc",
      )
  }
}
