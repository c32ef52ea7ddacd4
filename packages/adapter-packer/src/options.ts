import { natLeases } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import type * as Effect from "effect/Effect"
import type { Agent } from "node:http"
import type { BuildCaps } from "./caps.ts"
import type { ImageOptions } from "./images.ts"

/** How templates are built on this host. Everything optional has a default. */
export interface PackerOptions {
  /** Folder for the files of builds; used by this adapter only, and emptied at start. */
  readonly folder: string
  /** A name on the system's PATH, or a path. */
  readonly program?: string
  /** A folder of plugins that Packer searches. */
  readonly plugins?: string
  readonly tools?: ToolOptions
  /** The hypervisor's API, and the agent that connects to it and verifies its certificate. */
  readonly hypervisor: { readonly url: string; readonly agent: Agent }
  /** Storages for disks and for disc images, and the disks' format. */
  readonly storage: string
  readonly storageFormat?: string
  readonly isoStorage: string
  /** Whether the node may download images for builds. It follows redirects by itself, wherever they lead. */
  readonly nodeDownloads?: boolean
  /** The bridge of the NAT network, where machines being built get their addresses. Read for each build. */
  readonly bridge: Effect.Effect<string, { readonly message: string }>
  /** Address at which machines there reach this host; derived from its own addresses and routes when absent. */
  readonly address?: string
  /** What one build may create on the hypervisor. */
  readonly caps: BuildCaps
  /** How images are kept for all builds; when absent, each build downloads its own. */
  readonly images?: ImageOptions
  /** Disk space for the files of one build. */
  readonly diskBytes?: number
  /** Time limit of one build. */
  readonly longestSeconds?: number
  /** Time for Packer to clean up after an interruption. */
  readonly patienceSeconds?: number
}

/** Options for checks that do not need the hypervisor. */
export type LocalOptions = Omit<PackerOptions, "hypervisor" | "bridge" | "caps" | "images">

export const settingsOf = <O extends LocalOptions>(options: O) => ({
  program: "packer",
  storageFormat: "raw",
  nodeDownloads: false,
  diskBytes: 32 * 1024 ** 3,
  longestSeconds: 8 * 3600,
  patienceSeconds: 120,
  networks: natLeases,
  ...options,
})

export type LocalSettings = ReturnType<typeof settingsOf<LocalOptions>>
export type Settings = LocalSettings & Pick<PackerOptions, "hypervisor" | "bridge" | "caps">
