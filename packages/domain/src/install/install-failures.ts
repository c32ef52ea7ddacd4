import type { InstallItemKind } from "./dry-run.ts"

/** An item that could not be installed, and why. The name is empty if the failure does not concern a particular item. */
export interface InstallFailure {
  readonly kind: InstallItemKind
  readonly name: string
  readonly because: string
}

/** The longest text of a status, in characters. */
const longest = 4000

/** `<kind> <name>: <reason>` for each, joined with `; `. Empty if nothing failed. */
export const sayFailures = (failures: ReadonlyArray<InstallFailure>): string => {
  const text = failures.map(({ kind, name, because }) => `${kind}${name === "" ? "" : ` ${name}`}: ${because}`).join("; ")
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}
