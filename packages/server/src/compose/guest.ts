import { libraryRoles, playbookLayer, type PlaybookOptions, type Route } from "@rangewright/adapter-ansible"
import { noGuestAutomation } from "@rangewright/adapter-proxmox"
import {
  type ArtifactLibrary,
  GuestAutomation,
  type GuestFault,
  type Hypervisor,
  type LicenseProvider,
  type Machines,
  type Ranges,
  type SecretStore,
  type Users,
} from "@rangewright/ports"
import type { Json } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import { type Config, hypervisorKind } from "../config/config.ts"
import { rangeDefaultsOf } from "../config/range-defaults.ts"
import { toolOptions } from "./tools.ts"

type GuestNeeds = ArtifactLibrary | Hypervisor | LicenseProvider | Machines | Ranges | SecretStore | Users

export type GuestLayer = Layer.Layer<GuestAutomation, GuestFault, GuestAutomation | GuestNeeds>

/** How work inside machines is done. */
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

/**
 * Configuration keys that roles may read as variables, by the variables' names. Never secrets; the automation reads other values from the
 * machines themselves.
 */
const installation = (config: Config): Readonly<Record<string, Json>> => {
  const given = {
    proxmox_url: config.proxmoxUrl.map((url) => new URL(url).origin)[0],
    proxmox_node: config.proxmoxNode,
    proxmox_hostname: config.proxmoxNode,
    // true unless the certificate is signed by a public authority, as a role's tools trust no other
    proxmox_invalid_cert: config.proxmoxFingerprint.length > 0 || config.proxmoxCaFile !== undefined,
    proxmox_vm_storage_pool: config.vmStorage,
    ludus_nat_interface: config.natNetwork,
    reserved_range_numbers: config.reservedRangeNumbers.map(Number),
    max_log_history: config.maxLogHistory,
    inactivity_shutdown_timeout: config.inactivityShutdown,
    cluster_mode: config.clusterMode,
    sdn_zone: config.sdnZone,
    vxlan_tag_base: config.vxlanTagBase,
    wireguard_port: config.wireguardPort,
    port: config.port,
    admin_port: config.adminPort,
    expose_admin_port: config.exposeAdminPort,
    prevent_user_ansible_add: config.preventUserAnsibleAdd,
  }
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** The configured route to machines; the rules between its keys are checked when the configuration is read. */
const routeOf = (config: Config): Route => {
  if (config.ansibleRoute !== "jump") return { type: config.ansibleRoute }
  const { ansibleJumpHostKey: hostKey, ansibleJumpKeyFile: file } = config
  return {
    type: "jump",
    host: config.ansibleJumpHost ?? "",
    port: config.ansibleJumpPort,
    user: config.ansibleJumpUser ?? "",
    ...(hostKey === undefined ? {} : { hostKey }),
    login:
      file === undefined
        ? { type: "password", password: Redacted.make(config.ansibleJumpPassword ?? "") }
        : { type: "key", file },
  }
}

export const playbookOptions = (config: Config, data: string): PlaybookOptions => ({
  folder: join(data, "playbook-runs"),
  library: join(data, "library"),
  collections: config.ansibleCollections,
  program: config.ansiblePlaybook,
  tools: toolOptions(config),
  diskBytes: config.toolDisk * 1024 ** 3,
  route: routeOf(config),
  windows: config.windowsProtocol,
  environment: secretsOfRoles(process.env),
  rangeDefaults: rangeDefaultsOf(config.rangeDefaults),
  templateLogins: config.templateLogins,
  variables: installation(config),
})

/** The guest automation of the simulator accepts any role; this limits it to the installed ones. */
const withInstalledRoles = (options: PlaybookOptions) =>
  Layer.effect(
    GuestAutomation,
    Effect.gen(function* () {
      const guests = yield* GuestAutomation
      return { ...guests, ...(yield* libraryRoles(options)) }
    }),
  )

/** Undefined when the guest automation of the hypervisor's adapter is used. */
export const bindGuest = (config: Config, data: string): GuestLayer | undefined => {
  switch (automationKind(config)) {
    case "ansible":
      return playbookLayer(playbookOptions(config, data))
    case "guest-program":
      return config.simulatorRoles === "any" ? undefined : withInstalledRoles(playbookOptions(config, data))
    case "none":
      return Layer.succeed(GuestAutomation, noGuestAutomation)
  }
}
