import { domainChecks } from "./check-domains.ts"
import type { CheckContext, Look, RangeFacts } from "./check-context.ts"
import { machineChecks } from "./check-machines.ts"
import { nameChecks } from "./check-names.ts"
import { networkChecks } from "./check-network.ts"
import { optionChecks } from "./check-options.ts"
import { roleChecks } from "./check-roles.ts"
import { type ConfigIssue, type Finding, report } from "./issue.ts"
import { offsetOf } from "./node.ts"
import type { ParsedRangeConfig } from "./parse.ts"
import { renderName } from "./variables.ts"

/**
 * Everything that is wrong with a configuration as a whole, for this range on this server: errors first, then warnings, each in document
 * order. An error is what a deploy could not do; a warning is what works, but probably not as intended. Absent facts are not checked.
 */
export const checkRangeConfig = (parsed: ParsedRangeConfig, facts: RangeFacts): ReadonlyArray<ConfigIssue> => {
  const findings: Array<Finding> = []
  const { root, text } = parsed.file
  const look =
    (severity: "error" | "warning"): Look =>
    (path, code, message, allowed) =>
      void findings.push({
        path,
        offset: offsetOf(root, path),
        code,
        message,
        severity,
        ...(allowed === undefined ? {} : { allowed }),
      })
  const context: CheckContext = {
    config: parsed.config,
    facts,
    root,
    render: (name) => renderName(name, facts),
    error: look("error"),
    warning: look("warning"),
  }
  for (const check of [nameChecks, machineChecks, domainChecks, roleChecks, networkChecks, optionChecks]) check(context)
  return report(text, findings)
}
