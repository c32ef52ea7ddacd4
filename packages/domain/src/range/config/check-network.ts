/** Firewall settings that do something else than their author expects. */
import { rangeNetwork } from "../../network/addressing.ts"
import { ruleComment } from "../../network/comment.ts"
import { overlaps, parseCidr } from "../../network/cidr.ts"
import type { CheckContext } from "./check-context.ts"

export const networkChecks = ({ config, facts, warning }: CheckContext): void => {
  for (const [index, rule] of config.network.rules.entries()) {
    const path = ["network", "rules", index]
    const outside = rule.source.zone === "public" || rule.destination.zone === "public"
    if (outside && rule.action === "ACCEPT")
      warning(
        [...path, "action"],
        "rule-holds-while-testing",
        "the rule lets traffic out even while testing mode blocks external traffic",
        "REJECT or DROP",
      )
    if (ruleComment(rule.name) !== `User Rule: ${rule.name}`)
      warning(
        [...path, "name"],
        "rule-name-cut",
        "the name does not fit into a comment on the router and will be truncated",
        "one line of at most 240 bytes",
      )
  }
  const own = rangeNetwork(facts.rangeNumber)
  for (const [index, network] of config.network.alwaysBlocked.entries()) {
    const blocked = parseCidr(network)
    if (blocked !== undefined && overlaps(blocked, own))
      warning(
        ["network", "always_blocked_networks", index],
        "blocks-the-range",
        `the range's own network ${own.text} is in it`,
        "networks outside",
      )
  }
}
