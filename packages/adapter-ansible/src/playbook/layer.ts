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
import { currentAvailability } from "./current.ts"
import { installedRoles } from "./installed-roles.ts"
import { sharedWays } from "./jump.ts"
import { type PlaybookOptions, settingsOf } from "./options.ts"
import { openFolders } from "./scratch.ts"
import { sitePorts } from "./site.ts"

/** Does the work inside machines with `ansible-playbook`. Logs what is missing on the host. Fails when its folder cannot be used. */
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
      const current = currentAvailability(options)
      // it takes another program a second to answer: the service is ready before that
      yield* Effect.forkScoped(current)
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
      const lendWay = yield* sharedWays(
        Effect.map(current, ({ host }) => host),
        folders,
      )
      const ports = yield* sitePorts
      const roles = yield* installedRoles(
        settings,
        Effect.map(current, ({ collectionFolders }) => collectionFolders),
        yield* ArtifactLibrary,
      )
      return playbookAutomation({ settings, current, folders, lendWay, ports, roles })
    }),
  )
