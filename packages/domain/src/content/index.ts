export * from "./destination.ts"
export * from "./git-ref.ts"
export * from "./git-url.ts"
export { isSnapshotId, type SnapshotId } from "./snapshot-id.ts"
export * from "./tar-header.ts"
export { resolveLinks } from "./tree-links.ts"
export {
  byPath,
  defaultTreeLimits,
  isGitName,
  treeBytes,
  type TreeEntry,
  treeIntake,
  type TreeIntake,
  type TreeLimits,
  type TreeProblem,
  wrappingFolder,
} from "./tree.ts"
