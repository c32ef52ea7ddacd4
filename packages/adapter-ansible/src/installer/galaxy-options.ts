import { defaultTreeLimits } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import type * as Redacted from "effect/Redacted"

/** What comes with the host's Ansible. */
export interface HostCollectionOptions {
  /** The program; found on PATH where it is a plain name. */
  readonly program?: string
  /** Further folders of collections, for hosts without the `ansible` package; each holds `ansible_collections`. */
  readonly collections?: readonly string[]
}

/** How `ansible-galaxy` is run. Everything but the folder has a safe default. */
export interface GalaxyOptions extends HostCollectionOptions {
  /** Scratch folders of the tool's runs. One process owns it: what a killed one left is swept when it starts. */
  readonly folder: string
  /** Where roles and collections are published, such as `https://galaxy.ansible.com`. */
  readonly server?: string
  /** Sent to that server alone; never in the arguments of a program, nor in what anybody is shown. */
  readonly token?: Redacted.Redacted
  /** For one run of the tool, with all that it installs. */
  readonly timeoutSeconds?: number
  /** What one run may print. */
  readonly outputBytes?: number
  /** What one run may have on the disk at a time, whatever an archive unpacks to; and each of its files. */
  readonly scratchBytes?: number
  readonly fileBytes?: number
  /** How tools run on this host: the sandbox, the internet, their limits. */
  readonly tools?: ToolOptions
  /** Runs at a time, of all and of those that install for the same user; more of them wait. */
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
