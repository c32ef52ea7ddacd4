import type { ArtifactKind, Source, UserId } from "@rangewright/domain"
import type { LibraryScope, Snapshot } from "@rangewright/ports"

/** What is installed from, and for whom. */
export interface Installation {
  readonly source: Source
  /** The state of its content that is installed. */
  readonly snapshot: Snapshot
  /** Whose templates these are, and whose roles and collections unless they are for everybody. */
  readonly user: UserId
  readonly global: boolean
}

/** Where a thing of this kind goes: there are no global templates. */
export const scopeFor = (kind: ArtifactKind, { user, global }: Pick<Installation, "user" | "global">): LibraryScope =>
  global && kind !== "template" ? { type: "global" } : { type: "user", userId: user }
