import { playbookLayer, type PlaybookOptions } from "@rangewright/adapter-ansible"
import { noGuestAutomation } from "@rangewright/adapter-proxmox"
import {
  type ArtifactLibrary,
  GuestAutomation,
  type GuestFault,
  type Hypervisor,
  type Machines,
  type Ranges,
  type Users,
} from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { type Config, hypervisorKind } from "../config/config.ts"

type GuestNeeds = ArtifactLibrary | Hypervisor | Machines | Ranges | Users

export type GuestLayer = Layer.Layer<GuestAutomation, GuestFault, GuestNeeds>

/** What works inside machines. */
export const automationKind = (config: Config): "ansible" | "guest-program" | "none" =>
  config.guestAutomation === "auto"
    ? hypervisorKind(config) === "simulator"
      ? "guest-program"
      : "ansible"
    : config.guestAutomation

const secretsOfRoles = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith("LUDUS_SECRET_") && value !== undefined ? [[name, value]] : [],
    ),
  )

export const playbookOptions = (config: Config, data: string): PlaybookOptions => ({
  folder: join(data, "playbook-runs"),
  library: join(data, "library"),
  collections: config.ansibleCollections,
  program: config.ansiblePlaybook,
  sandbox: config.ansibleSandbox,
  route: { type: config.ansibleRoute },
  windows: config.windowsProtocol,
  environment: secretsOfRoles(process.env),
  rangeDefaults: config.rangeDefaults,
})

/** Undefined: the hypervisor's adapter brings the stand-in itself. */
export const bindGuest = (config: Config, data: string): GuestLayer | undefined => {
  switch (automationKind(config)) {
    case "ansible":
      return playbookLayer(playbookOptions(config, data))
    case "guest-program":
      return undefined
    case "none":
      return Layer.succeed(GuestAutomation, noGuestAutomation)
  }
}
