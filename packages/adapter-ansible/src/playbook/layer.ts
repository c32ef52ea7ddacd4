import {
  ArtifactLibrary,
  GuestAutomation,
  GuestFault,
  type Hypervisor,
  type LicenseProvider,
  type Machines,
  type Ranges,
  type SecretStore,
  type Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { playbookAutomation } from "./automation.ts"
import { automationAvailability, automationFindings } from "./availability.ts"
import { installedRoles } from "./installed-roles.ts"
import { sharedWays } from "./jump.ts"
import { type PlaybookOptions, settingsOf } from "./options.ts"
import { openFolders } from "./scratch.ts"
import { sitePorts } from "./site.ts"

/**
 * What happens inside machines, done with `ansible-playbook`. Asks the host once what it has, and says what is missing in the log; without
 * Ansible it offers no stage. Fails when its folder cannot be used.
 */
export const playbookLayer = (
  options: PlaybookOptions,
): Layer.Layer<
  GuestAutomation,
  GuestFault,
  ArtifactLibrary | Hypervisor | LicenseProvider | Machines | Ranges | SecretStore | Users
> =>
  Layer.effect(
    GuestAutomation,
    Effect.gen(function* () {
      const settings = settingsOf(options)
      const found = yield* automationAvailability(options)
      for (const { level, what, detail, hint } of automationFindings(found, settings.windows))
        yield* level === "ok"
          ? Effect.logDebug(`${what}: ${detail}`)
          : Effect.logWarning(`${what}: ${detail}${hint === undefined ? "" : `. ${hint}`}`)
      const folders = yield* Effect.tryPromise({
        try: () => openFolders(settings.folder),
        catch: (cause) =>
          new GuestFault({
            doing: "open the folder of playbook runs",
            machine: "this host",
            reason: "failed",
            detail: String(cause),
          }),
      })
      const lendWay = yield* sharedWays(found.host, folders)
      const ports = yield* sitePorts
      const roles = yield* installedRoles(settings, found.collectionFolders, yield* ArtifactLibrary)
      return playbookAutomation({ settings, found, folders, lendWay, ports, roles })
    }),
  )
