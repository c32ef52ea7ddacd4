import type { TreeEntry, TreeLimits } from "@rangewright/domain/tree"
import type { RefusalReason } from "../refusal.ts"
import type { Allowance, Unwrap } from "../store/tree-account.ts"

export type ArchiveFormat = "tar" | "tar.gz" | "zip"

/** Input of the unpacking thread. */
export interface UnpackJob {
  readonly file: string
  readonly format: ArchiveFormat
  /** The job's own folder, in which it creates the tree. */
  readonly staged: string
  readonly limits: TreeLimits
  readonly allowance: Allowance
  readonly unwrap: Unwrap | undefined
}

/** Messages from the thread; the last is `done`, `refused` or `failed`. */
export type UnpackMessage =
  | { readonly type: "files"; readonly done: number }
  /** A part of the entries: one long list would block the main thread. */
  | { readonly type: "entries"; readonly entries: readonly TreeEntry[] }
  | { readonly type: "done"; readonly digest: string }
  | { readonly type: "refused"; readonly why: RefusalReason }
  /** A failure of the host, or a defect. */
  | { readonly type: "failed"; readonly message: string; readonly code?: string; readonly syscall?: string }
