import { type AddressNetwork, defaultTreeLimits, type GitScheme, type TreeLimits } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import { lookup } from "node:dns/promises"

/** The addresses of a name, as the host resolves it. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** How content is fetched. Everything but `folder` has a safe default. */
export interface ContentOptions {
  /** Snapshots, pins and caches live here. One process owns it: what a killed one left half done is swept when it starts. */
  readonly folder: string
  /** Transports of git that may be used. `file` reaches only repositories inside `folders`. */
  readonly schemes?: readonly GitScheme[]
  /** Addresses that are not public and may be connected to all the same. */
  readonly networks?: readonly AddressNetwork[]
  /** Folders of this host that sources may be read from, with everything below them. */
  readonly folders?: readonly string[]
  readonly tree?: Partial<TreeLimits>
  /** An archive may grow to this many times its size, or to 16 MiB. */
  readonly archiveRatio?: number
  /** Archives that are unpacked at once, of each of those whose they are one. */
  readonly archivesAtOnce?: number
  /** What git may receive for one repository. */
  readonly transferBytes?: number
  readonly objects?: number
  readonly submodules?: { readonly count: number; readonly depth: number }
  /** For one fetch with everything in it. */
  readonly timeoutSeconds?: number
  /** Caches of repositories that were not fetched for so long are pruned. */
  readonly cacheDays?: number
  /** What the caches of all repositories may have together; beyond, those that were not fetched for longest are pruned. */
  readonly cacheBytes?: number
  /** What fetches may have left, needed or not, before the next one prunes first: what nobody needs must not wait until the disk is full. */
  readonly unprunedBytes?: number
  /** Certificates of authorities for `https`, in place of the host's. */
  readonly caFile?: string
  readonly lookup?: Lookup
  /** How git runs on this host: the sandbox, its limits. It connects to the checked addresses of its remote alone. */
  readonly tools?: ToolOptions
  /** The program; found on PATH where it is a plain name. */
  readonly git?: string
}

export type Settings = Required<Omit<ContentOptions, "caFile" | "tree">> & {
  readonly caFile: string | undefined
  readonly tree: TreeLimits
}

const hostLookup: Lookup = async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

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
