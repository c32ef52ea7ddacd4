/** Keys that are well-formed but have no effect, or only half of the intended one. */
import type { CheckContext } from "./check-context.ts"
import { notifiedAtMost, readDestination } from "../../notification/destination.ts"
import { childOf, type Node, type Path } from "./node.ts"

export const optionChecks = (context: CheckContext): void => {
  const { config, root, warning } = context
  const has = (path: Path): boolean => at(root, path) !== undefined
  variables(context, ["global_role_vars"])
  variables(context, ["router", "role_vars"])
  for (const [index, url] of (config.notify?.urls ?? []).entries()) {
    const destination = readDestination(url)
    const because = index >= notifiedAtMost ? `only the first ${notifiedAtMost} URLs are notified` : undefined
    if (because !== undefined) warning(["notify", "urls", index], "no-effect", because)
    else if (destination.state === "unusable")
      warning(["notify", "urls", index], "no-effect", `nobody is notified: ${destination.because}; use ${destination.allowed}`)
  }

  for (const index of config.machines.keys()) {
    const machine: Path = ["ludus", index]
    variables(context, [...machine, "role_vars"])
    const windows: Path = [...machine, "windows"]
    if (has([...windows, "autologon_user"]) && !has([...windows, "autologon_password"]))
      warning(
        [...windows, "autologon_user"],
        "autologon-without-password",
        "without a password, this user cannot log on",
        "autologon_password as well",
      )
    if (has([...windows, "office_arch"]) && !has([...windows, "office_version"]))
      warning(
        [...windows, "office_arch"],
        "no-effect",
        "without office_version, Office is not installed",
        "office_version as well",
      )
  }

  const router: Path = ["router"]
  if (has([...router, "hostname"]) && !isFixedHostName(at(root, [...router, "hostname"])))
    warning(
      [...router, "hostname"],
      "no-effect",
      "the router's host name cannot be chosen",
      "{{ range_id }}-router, which is fixed",
    )
  const tunnel = config.router.outboundWireguard
  if (tunnel !== undefined && tunnel.vlans.length === 0)
    warning([...router, "outbound_wireguard_config"], "no-effect", "no VLAN uses the tunnel", "outbound_wireguard_vlans as well")
  const commands = at(root, [...router, "iptables_commands"])
  if (commands?.kind === "list")
    for (const [index, command] of commands.items.entries())
      if (command.kind !== "scalar" || typeof command.value !== "string")
        warning([...router, "iptables_commands", index], "no-effect", "a command must be text; this one is ignored", "text")
}

const variables = ({ root, warning }: CheckContext, path: Path): void => {
  const node = at(root, path)
  if (node === undefined || node.kind === "map" || (node.kind === "scalar" && node.value === null)) return
  warning(path, "variables-are-no-object", "variables that are not an object are ignored", "an object of names and values")
}

const isFixedHostName = (node: Node | undefined): boolean =>
  node?.kind === "scalar" && typeof node.value === "string" && /^\{\{\s*range_id\s*\}\}-router$/iu.test(node.value)

const at = (root: Node, path: Path): Node | undefined =>
  path.reduce<Node | undefined>((node, step) => (node === undefined ? undefined : childOf(node, step)), root)
