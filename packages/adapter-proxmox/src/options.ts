import type { NodeShell } from "@rangewright/ports"
import type * as Context from "effect/Context"
import type { MeasuredCall } from "./client/client.ts"
import type { PveAuth } from "./client/credentials.ts"
import type { PveTls } from "./client/https-transport.ts"
import type { PveTransport } from "./client/transport.ts"
import type { BuildPlaces } from "./templates/rights.ts"
import type { SshOptions } from "./shell/ssh-shell.ts"

/** How one Proxmox cluster is reached and used. Everything optional has a default that suits a cluster of a few nodes. */
export interface ProxmoxOptions {
  /** Base URLs of nodes, `https://node:8006`. When one cannot be reached, the next is tried. */
  readonly urls: readonly string[]
  readonly auth: PveAuth
  readonly tls?: PveTls | undefined
  /** Replaces HTTPS: a simulator in the same process. */
  readonly transport?: PveTransport | undefined
  /** Node whose bridges are observed; undefined: the first one online. */
  readonly defaultNode?: string | undefined
  /** SSH access to nodes; undefined: none. */
  readonly ssh?: SshOptions | undefined
  /** Replaces SSH: a simulator in the same process. */
  readonly shell?: Context.Service.Shape<typeof NodeShell> | undefined
  /** Slow and quick requests in flight per node (2 and 6). */
  readonly slowPerNode?: number | undefined
  readonly quickPerNode?: number | undefined
  /** Longest wait for one answer (60). */
  readonly timeoutSeconds?: number | undefined
  /** Shortest and longest pause between two polls of running tasks (0.25 and 3). */
  readonly fastestPollSeconds?: number | undefined
  readonly slowestPollSeconds?: number | undefined
  /** What template builds may use: storages for disks and images, and the NAT network (local-lvm, local; vmbr1000). */
  readonly builds?: BuildPlaces | undefined
  /** Called after each request that was sent to the API. */
  readonly measured?: ((call: MeasuredCall) => void) | undefined
  /** How much faster than real time the hypervisor's clock runs (1): a simulator's speed. All waits are shortened accordingly. */
  readonly timeScale?: number | undefined
  /** Longest wait for a guest's agent after a start (900). */
  readonly agentSeconds?: number | undefined
  /** Longest run of one stage in a guest (7200). */
  readonly stageSeconds?: number | undefined
}
