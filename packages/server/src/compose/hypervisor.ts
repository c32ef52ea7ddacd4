import { handlerTransport, proxmoxLayer, type ProxmoxOptions } from "@rangewright/adapter-proxmox"
import type {
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  HypervisorTemplates,
  MachineConsole,
  NetworkMigration,
  NodeShell,
} from "@rangewright/ports"
import type { Simulator } from "@rangewright/pve-simulator"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { ConfigurationError, hypervisorKind, type Config } from "../config/config.ts"
import { buildPlaces, proxmoxTls } from "./proxmox-parts.ts"
import { readNamedFile } from "./named-file.ts"

export type HypervisorPorts =
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | HypervisorTemplates
  | MachineConsole
  | NetworkMigration
  | GuestAutomation
  | NodeShell

export interface BoundHypervisor {
  readonly kind: "simulator" | "proxmox"
  readonly layer: Layer.Layer<HypervisorPorts>
  /** The built-in simulator, when it is the hypervisor. */
  readonly simulator: Simulator | undefined
}

/** The adapter runs on the simulator's clock, but polls tasks at most every 20 ms of real time. */
const simulatedTime = (speed: number): Pick<ProxmoxOptions, "timeScale" | "fastestPollSeconds"> => ({
  timeScale: speed,
  fastestPollSeconds: Math.max(0.25, speed * 0.02),
})

/** The built-in simulator, when it is the hypervisor. It is large, so a service on a real hypervisor never loads it. */
export const makeSimulator = async (config: Config): Promise<Simulator | undefined> => {
  if (hypervisorKind(config) !== "simulator") return undefined
  const { createSimulator, labTemplates, readTemplate, withTemplates } = await import("@rangewright/pve-simulator")
  const read = (text: string) => {
    try {
      return readTemplate(text)
    } catch (error) {
      throw new ConfigurationError([`simulator_templates: ${(error as Error).message}`])
    }
  }
  return createSimulator({
    nodes: config.simulatorNodes,
    templates: withTemplates(labTemplates, config.simulatorTemplates.map(read)),
    speed: config.simulatorSpeed,
    sdnZone: config.simulatorNodes > 1 ? config.sdnZone : undefined,
  })
}

type Measured = ProxmoxOptions["measured"]

const simulated = (config: Config, simulator: Simulator, measured: Measured): BoundHypervisor => {
  const [id = "", secret = ""] = simulator.rootToken.split("=")
  return {
    kind: "simulator",
    simulator,
    layer: proxmoxLayer({
      urls: [],
      transport: handlerTransport(simulator.handle, simulator.connect),
      auth: { type: "token", id, secret: Redacted.make(secret) },
      defaultNode: config.proxmoxNode,
      measured,
      ...simulatedTime(config.simulatorSpeed),
    }),
  }
}

const sshOf = (config: Config): ProxmoxOptions["ssh"] =>
  config.sshHost === undefined ||
  config.sshKeyFile === undefined ||
  config.sshFingerprint === undefined ||
  config.proxmoxNode === undefined
    ? undefined
    : {
        username: config.sshUser,
        auth: { privateKey: Redacted.make(readNamedFile("ssh_key_file", config.sshKeyFile)) },
        nodes: { [config.proxmoxNode]: { host: config.sshHost, port: config.sshPort, hostKey: config.sshFingerprint } },
      }

const real = (config: Config, measured: Measured): BoundHypervisor => {
  const layer = proxmoxLayer({
    urls: config.proxmoxUrl,
    auth: { type: "token", id: config.proxmoxTokenId ?? "", secret: Redacted.make(config.proxmoxTokenSecret ?? "") },
    tls: proxmoxTls(config),
    builds: buildPlaces(config),
    defaultNode: config.proxmoxNode,
    ssh: sshOf(config),
    measured,
  })
  return { kind: "proxmox", simulator: undefined, layer }
}

/** The configured hypervisor; `simulator` is the result of `makeSimulator`, and `measured` is called after each request to its API. */
export const bindHypervisor = (config: Config, simulator: Simulator | undefined, measured?: Measured): BoundHypervisor =>
  simulator === undefined ? real(config, measured) : simulated(config, simulator, measured)
