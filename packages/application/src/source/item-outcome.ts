import type { InstallFailure, InstallItemKind } from "@rangewright/domain"

/** The outcome of one item of an installation. Plain data. */
export interface ItemOutcome {
  readonly kind: InstallItemKind
  /** Empty if the outcome is about no item in particular. */
  readonly name: string
  readonly version?: string
  readonly ok: boolean
  /** Why it failed; for a success, further information. */
  readonly text?: string
}

export const itemFailed = (kind: InstallItemKind, name: string, text: string, version?: string): ItemOutcome => ({
  kind,
  name,
  ...(version ? { version } : {}),
  ok: false,
  text,
})

/** Everything that failed, in order. */
export const failuresAmong = (outcomes: readonly ItemOutcome[]): readonly InstallFailure[] =>
  outcomes.flatMap(({ kind, name, ok, text }) => (ok ? [] : [{ kind, name, because: text ?? "it failed" }]))
