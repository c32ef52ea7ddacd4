/** Permanently identifies a state of content: a commit (40 or 64 hexadecimal digits), or `sha256-…` of the whole tree. */
export type SnapshotId = string & { readonly SnapshotId: unique symbol }

const form = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|sha256-[0-9a-f]{64})$/u

export const isSnapshotId = (text: string): text is SnapshotId => form.test(text)
