import { defaultTreeLimits } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import type * as Redacted from "effect/Redacted"

/** The host's Ansible and its collections. */
export interface HostCollectionOptions {
  /** The program; looked up on PATH if it is a plain name. */
  readonly program?: string
  /** Additional folders of collections, for hosts without the `ansible` package; each contains `ansible_collections`. */
  readonly collections?: readonly string[]
}

/** How `ansible-galaxy` runs. Everything but the folder has a safe default. */
export interface GalaxyOptions extends HostCollectionOptions {
  /** Scratch folders of the tool's runs. Owned by one process: leftovers of a killed one are removed at start. */
  readonly folder: string
  /** Galaxy server with the published roles and collections, such as `https://galaxy.ansible.com`. */
  readonly server?: string
  /** Sent only to that server; never in a program's arguments or in anything displayed. */
  readonly token?: Redacted.Redacted
  /** Time limit for one run of the tool, with everything that it installs. */
  readonly timeoutSeconds?: number
  /** Output limit for one run. */
  readonly outputBytes?: number
  /** Disk space that one run may use at a time, whatever an archive unpacks to, and the size of each file. */
  readonly scratchBytes?: number
  readonly fileBytes?: number
  /** How tools run on this host: the sandbox, the internet, their limits. */
  readonly tools?: ToolOptions
  /** Concurrent runs, in total and for one user; further ones wait. */
  readonly atOnce?: number
  readonly atOnceForOne?: number
}

export type GalaxySettings = Required<Omit<GalaxyOptions, "token">> & { readonly token: Redacted.Redacted | undefined }

export const galaxySettings = (options: GalaxyOptions): GalaxySettings => ({
  server: "https://galaxy.ansible.com",
  program: "ansible-galaxy",
  collections: [],
  timeoutSeconds: 1800,
  outputBytes: 8 * 1024 * 1024,
  scratchBytes: 1024 * 1024 * 1024,
  fileBytes: defaultTreeLimits.fileBytes,
  tools: {},
  atOnce: 4,
  atOnceForOne: 2,
  ...options,
  token: options.token,
})
