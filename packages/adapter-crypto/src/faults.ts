import { defineFault } from "@rangewright/domain"

/** A key or certificate file cannot be used in its present state; nothing was changed. */
export class KeyUnusable extends defineFault(
  "KeyUnusable",
  "precondition",
  (f: {
    readonly what: string
    readonly because: string
    readonly hint: string
    /** The file was read, but contains no key. */
    readonly malformed?: boolean
  }) => ({
    message: `Cannot use ${f.what}: ${f.because}`,
    hint: f.hint,
  }),
) {}
