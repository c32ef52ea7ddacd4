/** Addresses, templates, nodes and sizes of machines. */
import { missingHint, missingText } from "../../template/missing.ts"
import { dhcpPool } from "../../network/addressing.ts"
import type { CheckContext } from "./check-context.ts"
import { quote } from "./issue.ts"
import type { NameTemplate } from "./model.ts"
import type { Path } from "./node.ts"

export const machineChecks = (context: CheckContext): void => {
  addresses(context)
  templates(context)
  placement(context)
  sizes(context)
}

const addresses = ({ config, facts, error, warning }: CheckContext): void => {
  const seen = new Map<string, number>()
  for (const [index, { vlan, octet }] of config.machines.entries()) {
    const address = `10.${facts.rangeNumber}.${vlan}.${octet}`
    const first = seen.get(address)
    const path: Path = ["ludus", index, "ip_last_octet"]
    if (first === undefined) seen.set(address, index)
    else
      error(
        path,
        "repeated-address",
        `the address ${address} is already used by ludus[${first}]`,
        "a different address for each machine",
      )
    if (octet >= dhcpPool.first && octet <= dhcpPool.last)
      warning(
        path,
        "address-in-dhcp-pool",
        `${address} is also in the DHCP range for the first boot of machines`,
        `1 to ${dhcpPool.first - 1}`,
      )
  }
}

const templates = ({ config, facts, error, warning }: CheckContext): void => {
  const known = facts.templates
  if (known === undefined) return
  const { unbuilt } = facts
  const missing = [...config.machines, config.router].flatMap(({ template }) => (known.has(template) ? [] : [template]))
  const built = known.size === 0 ? "none is built yet" : `built: ${[...known].toSorted().join(", ")}`
  const why = (name: string): string | undefined =>
    unbuilt === undefined ? undefined : `${missingText(name, unbuilt)}: ${missingHint(missing, unbuilt)}`
  for (const [index, { template }] of config.machines.entries())
    if (!known.has(template))
      error(
        ["ludus", index, "template"],
        "template-not-built",
        why(template) ?? `the template ${quote(template)} is not built or not visible`,
        built,
      )
  const { template } = config.router
  // A configuration may be stored before the router's template is built; a deploy needs it.
  if (!known.has(template))
    warning(
      ["router", "template"],
      "router-template-not-built",
      why(template) ?? `the router's template ${quote(template)} is not built or not visible`,
      built,
    )
}

const placement = ({ config, facts, error, render }: CheckContext): void => {
  const { nodes } = facts
  if (nodes === undefined) return
  const names = nodes.map(({ name }) => name)
  const exists = (path: Path, node: NameTemplate | undefined): void => {
    if (node === undefined || names.includes(render(node))) return
    error([...path, "target_node"], "unknown-node", `the node ${quote(render(node))} does not exist`, names.join(", "))
  }
  exists(["router"], config.router.targetNode)
  exists(["defaults"], config.defaults.targetNode)
  for (const [index, machine] of config.machines.entries()) exists(["ludus", index], machine.targetNode)
}

const sizes = ({ config, facts, warning }: CheckContext): void => {
  const largest = (values: ReadonlyArray<number | undefined>): number | undefined =>
    values.length === 0 || values.includes(undefined) ? undefined : Math.max(...values.map(Number))
  const mostCpus = largest(facts.nodes?.map(({ cpus }) => cpus) ?? [])
  const mostRam = largest(facts.nodes?.map(({ ramGb }) => ramGb) ?? [])
  const fits = (
    path: Path,
    size: { readonly cpus: number; readonly ramGb: number; readonly ramMinGb?: number | undefined },
  ): void => {
    if (size.ramMinGb !== undefined && size.ramMinGb > size.ramGb)
      warning(
        [...path, "ram_min_gb"],
        "ram-minimum-above-ram",
        `the minimum of ${size.ramMinGb} GiB is more than the memory of ${size.ramGb} GiB`,
        `at most ${size.ramGb}`,
      )
    if (mostCpus !== undefined && size.cpus > mostCpus)
      warning([...path, "cpus"], "larger-than-node", `no node has ${size.cpus} cores`, `at most ${mostCpus}`)
    if (mostRam !== undefined && size.ramGb > mostRam)
      warning([...path, "ram_gb"], "larger-than-node", `no node has ${size.ramGb} GiB of memory`, `at most ${mostRam}`)
  }
  fits(["router"], config.router)
  for (const [index, machine] of config.machines.entries()) fits(["ludus", index], machine)
}
