import { automationAvailability, automationFindings, jumpFindings } from "@rangewright/adapter-ansible"
import * as Effect from "effect/Effect"
import { automationKind, playbookOptions } from "../compose/guest.ts"
import type { Config } from "../config/config.ts"
import { type Finding, ok, warn } from "./finding.ts"

/** What is there to work inside machines with. */
export const checkInside = (config: Config): Effect.Effect<readonly Finding[]> => {
  switch (automationKind(config)) {
    case "ansible": {
      const options = playbookOptions(config, config.data)
      return Effect.zipWith(automationAvailability(options), jumpFindings(options), (found, ofJump) => [
        ...automationFindings(found, config.windowsProtocol),
        ...ofJump,
      ])
    }
    case "guest-program":
      return Effect.succeed([ok("machines", "the simulator's stand-in works inside machines: nothing real happens there")])
    case "none":
      return Effect.succeed([
        warn(
          "machines",
          "nothing is configured that works inside machines",
          "Deploys clone, wire, size and start machines; roles and domains are left out of the plan. See guest_automation.",
        ),
      ])
  }
}
