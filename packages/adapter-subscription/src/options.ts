import { defaultTreeLimits, indexLimits, type TreeLimits } from "@rangewright/domain"

/** What every registry of subscription roles needs, wherever it is. Everything but `keys` and `state` has a safe default. */
export interface SubscriptionOptions {
  /** Public keys, `ed25519:…` as `subscription keygen` prints them. Only what one of them signed counts. */
  readonly keys: readonly string[]
  /** Folder of this service's own for what was seen last: the copy for when the registry is unreachable, and the proof against older ones. */
  readonly state: string
  /** An index that was checked so recently is not asked for again. */
  readonly freshSeconds?: number
  /** After a failure the registry is left alone for so long. */
  readonly retrySeconds?: number
  /** For so long the last index serves while the registry is unreachable. */
  readonly staleSeconds?: number
  /** Who asks waits so long for a newer index; then the last one serves, and the newer one those who ask later. */
  readonly patienceSeconds?: number
  /** Deadline for the index, and for each package. */
  readonly indexSeconds?: number
  readonly packageSeconds?: number
  /** The largest package, packed. */
  readonly packageBytes?: number
  /** What a package may hold. */
  readonly tree?: Partial<TreeLimits>
}

export type Settings = Required<Omit<SubscriptionOptions, "keys" | "tree">> & { readonly tree: TreeLimits }

const mebibyte = 1024 * 1024

export const settingsOf = (options: SubscriptionOptions): Settings => {
  const settings = {
    freshSeconds: 300,
    retrySeconds: 15,
    staleSeconds: 30 * 24 * 3600,
    patienceSeconds: 2,
    indexSeconds: 20,
    packageSeconds: 300,
    packageBytes: 128 * mebibyte,
    ...options,
    // the files of a package are held in memory until they are installed
    tree: { ...defaultTreeLimits, files: 20_000, fileBytes: 128 * mebibyte, totalBytes: 256 * mebibyte, ...options.tree },
  }
  return { ...settings, packageBytes: Math.min(settings.packageBytes, indexLimits.packageBytes) }
}
