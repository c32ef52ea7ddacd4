import { defineFault, type UserId } from "@rangewright/domain"

/** Who changes a configuration, and on which condition. */
export interface ConfigWrite {
  readonly by?: UserId
  /** Whether the stored text is the one to replace; absent: replace any. Evaluated atomically with the write. */
  readonly replaces?: (stored: string) => boolean
}

/** The stored text is not the one that was to be replaced. */
export class ConfigChanged extends defineFault(
  "ConfigChanged",
  "conflict",
  (f: {
    /** `range LAB`. */
    readonly what: string
    /** Undefined: unknown. */
    readonly by: UserId | undefined
    readonly at: Date
  }) => ({
    message: `Cannot change the configuration of ${f.what}: ${f.by ?? "somebody"} changed it at ${f.at.toISOString()}, after you read it`,
    hint: "Read it again, bring your change into it, and send the ETag of that answer as If-Match. Without If-Match what is stored is replaced.",
  }),
) {}
