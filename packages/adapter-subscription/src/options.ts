import { defaultTreeLimits, indexLimits, type TreeLimits } from "@rangewright/domain"

/** Options common to all registries of subscription roles. Everything but `keys` and `state` has a safe default. */
export interface SubscriptionOptions {
  /** Public keys, `ed25519:…` as printed by `subscription keygen`. Only what one of them signed is accepted. */
  readonly keys: readonly string[]
  /**
   * The service's own folder for what was seen last: the copy for when the registry is unreachable, and the proof against older versions.
   */
  readonly state: string
  /** An index checked within this time is not requested again. */
  readonly freshSeconds?: number
  /** Pause after a failure before the registry is asked again. */
  readonly retrySeconds?: number
  /** How long the last index is used while the registry is unreachable. */
  readonly staleSeconds?: number
  /** How long a caller waits for a newer index; after that it gets the last one, and later callers get the newer one. */
  readonly patienceSeconds?: number
  /** Time limit for the index, and for each package. */
  readonly indexSeconds?: number
  readonly packageSeconds?: number
  /** Largest size of a packed package. */
  readonly packageBytes?: number
  /** Limits for the content of a package. */
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
