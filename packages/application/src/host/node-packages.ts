import { NotFound } from "@rangewright/domain"
import * as Effect from "effect/Effect"

/**
 * Patched packages would be root's on every node, and stay until the next update of Proxmox. The service neither brings nor installs any, so it does
 * not know which ones a node has.
 */
export const refusePackages = (does: string): Effect.Effect<never, NotFound> =>
  Effect.fail(
    new NotFound({
      what: `Cannot ${does}: this service installs no packages on the nodes of the hypervisor, and has installed none`,
      hint: "Machines are disguised by their own settings, without any packages: POST /antisandbox/enable. If you want patched packages anyway, install, pin and remove them on each node with apt; docs/guides/anti-sandbox.md says what they would add.",
    }),
  )

/** What can be said of the packages of the nodes. */
export const packagesAsTheyAre = {
  status: "unknown",
  message:
    "This service has installed no packages on the nodes, and does not inspect theirs. Machines are disguised by their own settings: POST /antisandbox/enable",
} as const
