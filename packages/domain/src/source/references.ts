import * as Result from "effect/Result"
import { childOf, type Node } from "../range/config/node.ts"
import { readYaml } from "../range/config/read-yaml.ts"
import type { Finding } from "../range/config/issue.ts"
import { compareNames, type ConfigReferences } from "./content.ts"

/**
 * The templates and roles that a range configuration names for its machines and its router (a router's roles must be installed too). The
 * file need not be valid: everything of the right shape counts. Fails if the text cannot be parsed.
 */
export const readReferences = (config: string): Result.Result<ConfigReferences, ReadonlyArray<Finding>> =>
  Result.map(readYaml(config, []), (root) => {
    const templates = new Set<string>()
    const roles = new Set<string>()
    const machines = childOf(root, "ludus")
    for (const machine of [...(machines?.kind === "list" ? machines.items : []), childOf(root, "router")]) {
      if (machine === undefined) continue
      addName(templates, childOf(machine, "template"))
      const uses = childOf(machine, "roles")
      for (const use of uses?.kind === "list" ? uses.items : []) addName(roles, use.kind === "map" ? childOf(use, "name") : use)
    }
    return { templates: [...templates].toSorted(compareNames), roles: [...roles].toSorted(compareNames) }
  })

const addName = (names: Set<string>, node: Node | undefined): void => {
  if (node?.kind === "scalar" && node.value !== null && node.source !== "") names.add(node.source)
}
