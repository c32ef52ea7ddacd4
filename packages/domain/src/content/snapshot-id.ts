/** Names a state of content for ever: a commit (40 or 64 hexadecimal digits), or `sha256-…` of everything in the tree. */
export type SnapshotId = string & { readonly SnapshotId: unique symbol }
