import { defineFault } from "@rangewright/domain"

/** A key or certificate file cannot be used as it is; nothing was changed. */
export class KeyUnusable extends defineFault(
  "KeyUnusable",
  "precondition",
  (f: {
    readonly what: string
    readonly because: string
    readonly hint: string
    /** It was read, and no key is in it. */
    readonly malformed?: boolean
  }) => ({
    message: `Cannot use ${f.what}: ${f.because}`,
    hint: f.hint,
  }),
) {}
