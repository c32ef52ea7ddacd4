import { automationAvailability, automationFindings, jumpFindings } from "@rangewright/adapter-ansible"
import * as Effect from "effect/Effect"
import { automationKind, playbookOptions } from "../compose/guest.ts"
import type { Config } from "../config/config.ts"
import { type Finding, ok, warn } from "./finding.ts"

/** Third-party roles run on this host: one that escapes its sandbox has the service's rights. */
const accountFinding = (): Finding =>
  process.getuid?.() === 0
    ? warn(
        "account",
        "the service runs as root, and roles run on this host",
        "Run the service under its own account, as examples/rangewright.service does.",
      )
    : ok("account", "not root")

/** What this host provides for work inside machines. */
export const checkInside = (config: Config): Effect.Effect<readonly Finding[]> => {
  switch (automationKind(config)) {
    case "ansible": {
      const options = playbookOptions(config, config.data)
      return Effect.zipWith(automationAvailability(options), jumpFindings(options), (found, ofJump) => [
        ...automationFindings(found, config.windowsProtocol),
        ...ofJump,
        accountFinding(),
      ])
    }
    case "guest-program":
      return Effect.succeed([ok("machines", "a stand-in of the simulator works inside machines: nothing real happens there")])
    case "none":
      return Effect.succeed([
        warn(
          "machines",
          "work inside machines is turned off",
          "Deploys clone, connect, size and start machines, but set up no networks inside them, firewalls, domains or roles. See guest_automation.",
        ),
      ])
  }
}
