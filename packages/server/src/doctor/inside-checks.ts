import { automationAvailability, automationFindings, jumpFindings } from "@rangewright/adapter-ansible"
import * as Effect from "effect/Effect"
import { automationKind, playbookOptions } from "../compose/guest.ts"
import type { Config } from "../config/config.ts"
import { type Finding, ok, warn } from "./finding.ts"

/** Strangers' roles run on this host: should one leave its sandbox, it is what the service is. */
const accountFinding = (): Finding =>
  process.getuid?.() === 0
    ? warn(
        "account",
        "this is root, and roles run here",
        "Run the service as an account of its own, as examples/rangewright.service does.",
      )
    : ok("account", "not root")

/** What is there to work inside machines with. */
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
      return Effect.succeed([ok("machines", "the simulator's stand-in works inside machines: nothing real happens there")])
    case "none":
      return Effect.succeed([
        warn(
          "machines",
          "nothing is configured that works inside machines",
          "Deploys clone, wire, size and start machines; networks inside them, firewalls, domains and roles are left out. See guest_automation.",
        ),
      ])
  }
}
