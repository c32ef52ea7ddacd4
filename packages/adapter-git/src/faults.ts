import { ContentFault, treeFault } from "@rangewright/ports"
import { Refusal, type RefusalReason } from "./refusal.ts"

/** The operation, for the beginning of every message: `fetch https://git.example/labs`. */
export type Doing = string

export const refused = (doing: Doing, rule: string, detail: string, hint?: string): ContentFault =>
  new ContentFault({ doing, reason: "refused", rule, detail, ...(hint === undefined ? {} : { hint }) })

/** The fault for a folder of the host that sources may not use, or that does not exist. */
export const outsideFolders = (doing: Doing): ContentFault =>
  refused(
    doing,
    "folder",
    "it is not inside a folder that sources may use",
    "The operator can allow folders of this host for sources (source_folders).",
  )

const full = new Set(["ENOSPC", "EDQUOT", "EROFS"])

/** Converts a rejection into a fault: a fault as it is, a system error as a failure of this host. */
export const asFault =
  (doing: Doing) =>
  (cause: unknown): ContentFault => {
    if (cause instanceof ContentFault) return cause
    if (cause instanceof Refusal) return refusalFault(doing, cause.why)
    const { code, syscall } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
    if (syscall === undefined) return new ContentFault({ doing, reason: "broken", detail: textOf(cause) })
    const hint = code !== undefined && full.has(code) ? "Free space in the service's data folder, then try again." : undefined
    return new ContentFault({ doing, reason: "unavailable", detail: textOf(cause), ...(hint === undefined ? {} : { hint }) })
  }

const refusalFault = (doing: Doing, why: RefusalReason): ContentFault => {
  if (why.type === "tree") return treeFault(doing, why.problem)
  const { reason, rule, detail, item, hint } = why
  return new ContentFault({
    doing,
    reason,
    rule,
    detail,
    ...(item === undefined ? {} : { item: JSON.stringify(item.slice(0, 200)).slice(1, -1) }),
    ...(hint === undefined ? {} : { hint }),
  })
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 400)
