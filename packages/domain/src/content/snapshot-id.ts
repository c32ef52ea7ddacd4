/** Names a state of content for ever: a commit (40 or 64 hexadecimal digits), or `sha256-…` of everything in the tree. */
export type SnapshotId = string & { readonly SnapshotId: unique symbol }

const form = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|sha256-[0-9a-f]{64})$/u

export const isSnapshotId = (text: string): text is SnapshotId => form.test(text)
