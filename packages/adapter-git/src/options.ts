import { type AddressNetwork, defaultTreeLimits, type GitScheme, type TreeLimits } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import { hostLookup, type Lookup } from "./network/host-lookup.ts"

/** How content is fetched. Everything but `folder` has a safe default. */
export interface ContentOptions {
  /** Folder of snapshots, pins and caches. Owned by one process: unfinished work of a killed one is removed at start. */
  readonly folder: string
  /** Git transports that may be used. `file` only reaches repositories inside `folders`. */
  readonly schemes?: readonly GitScheme[]
  /**
   * Addresses that may be connected to although they are not public. Those of this host, and those that `tools` must never connect to, are
   * allowed only by a network that is just that address, or by one of the loopback.
   */
  readonly networks?: readonly AddressNetwork[]
  /** Folders of this host that sources may be read from, including everything below them. */
  readonly folders?: readonly string[]
  readonly tree?: Partial<TreeLimits>
  /** An archive may expand to this many times its size, or to 16 MiB. */
  readonly archiveRatio?: number
  /** Number of archives unpacked at once for each owner. */
  readonly archivesAtOnce?: number
  /** Bytes that git may receive for one repository. */
  readonly transferBytes?: number
  readonly objects?: number
  readonly submodules?: { readonly count: number; readonly depth: number }
  /** Time limit for a whole fetch. */
  readonly timeoutSeconds?: number
  /** Caches of repositories not fetched for this many days are pruned. */
  readonly cacheDays?: number
  /** Total size of all repository caches; beyond it, those not fetched for longest are pruned. */
  readonly cacheBytes?: number
  /** Bytes that fetches may leave, needed or not, before the next one prunes first: garbage must not accumulate until the disk is full. */
  readonly unprunedBytes?: number
  /** CA certificates for `https` that replace the host's. */
  readonly caFile?: string
  readonly lookup?: Lookup
  /** How git runs on this host: the sandbox and its limits. It only connects to the checked addresses of its remote. */
  readonly tools?: ToolOptions
  /** The program; looked up on PATH if it is a plain name. */
  readonly git?: string
}

export type Settings = Required<Omit<ContentOptions, "caFile" | "tree">> & {
  readonly caFile: string | undefined
  readonly tree: TreeLimits
}

export const settingsOf = (options: ContentOptions): Settings => ({
  schemes: ["https", "ssh"],
  networks: [],
  folders: [],
  archiveRatio: 100,
  archivesAtOnce: 2,
  transferBytes: 512 * 1024 * 1024,
  objects: 200_000,
  submodules: { count: 20, depth: 3 },
  timeoutSeconds: 600,
  cacheDays: 30,
  cacheBytes: 4 * 1024 ** 3,
  unprunedBytes: 2 * 1024 ** 3,
  lookup: hostLookup,
  tools: {},
  git: "git",
  ...options,
  caFile: options.caFile,
  tree: { ...defaultTreeLimits, ...options.tree },
})
