import type { TreeEntry, TreeLimits } from "@rangewright/domain/tree"
import type { RefusalReason } from "../refusal.ts"
import type { Allowance, Unwrap } from "../store/tree-account.ts"

export type ArchiveFormat = "tar" | "tar.gz" | "zip"

/** What the thread that unpacks is told. */
export interface UnpackJob {
  readonly file: string
  readonly format: ArchiveFormat
  /** A folder of its own, in which it makes the tree. */
  readonly staged: string
  readonly limits: TreeLimits
  readonly allowance: Allowance
  readonly unwrap: Unwrap | undefined
}

/** What it tells; the last is `done`, `refused` or `failed`. */
export type UnpackMessage =
  | { readonly type: "files"; readonly done: number }
  /** A part of the entries: the thread that serves is not held up by a long list. */
  | { readonly type: "entries"; readonly entries: readonly TreeEntry[] }
  | { readonly type: "done"; readonly digest: string }
  | { readonly type: "refused"; readonly why: RefusalReason }
  /** The host could not do it, or a defect. */
  | { readonly type: "failed"; readonly message: string; readonly code?: string; readonly syscall?: string }
