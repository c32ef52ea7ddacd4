import { natLeases } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import type * as Effect from "effect/Effect"
import type { Agent } from "node:http"
import type { BuildCaps } from "./caps.ts"
import type { ImageOptions } from "./images.ts"

/** How templates are built on this host. Everything optional has a default. */
export interface PackerOptions {
  /** For the files of builds; the adapter's own, emptied when it starts. */
  readonly folder: string
  /** A name on the system's PATH or a path. */
  readonly program?: string
  /** A folder of plugins, as Packer searches it. */
  readonly plugins?: string
  readonly tools?: ToolOptions
  /** The hypervisor's API, and what connects to it and trusts it. */
  readonly hypervisor: { readonly url: string; readonly agent: Agent }
  /** Storages of disks and of images of discs, and the disks' format. */
  readonly storage: string
  readonly storageFormat?: string
  readonly isoStorage: string
  /** Whether the node may download images for builds. It follows redirects by itself, to wherever they lead. */
  readonly nodeDownloads?: boolean
  /** The bridge of the NAT network, where machines that are built get their address. Asked for each build. */
  readonly bridge: Effect.Effect<string, { readonly message: string }>
  /** Address by which machines there reach this host; found by its own addresses and routes where absent. */
  readonly address?: string
  /** What one build may make of the hypervisor. */
  readonly caps: BuildCaps
  /** How images are kept for all builds; absent: each build fetches its own. */
  readonly images?: ImageOptions
  /** What the files of one build may take. */
  readonly diskBytes?: number
  /** How long one build may take. */
  readonly longestSeconds?: number
  /** How long Packer may take to clean up after it was interrupted. */
  readonly patienceSeconds?: number
}

/** What can be said without the hypervisor. */
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
