/**
 * Every kind of run beside those of ranges, for `runEngineLayer`. Adding one is a file and a line here: see docs/guides/add-a-run-kind.md.
 */
export const runKinds = [] as const
