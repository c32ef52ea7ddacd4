import type { ArtifactKind, UserId } from "@rangewright/domain"
import type { LibraryScope } from "@rangewright/ports"
import type { FetchedSource } from "./fetch-source.ts"

/** For whom something is installed. */
export interface InstallTarget {
  /** Whose templates these are, and whose roles and collections unless they are for everybody. */
  readonly user: UserId
  readonly global: boolean
}

/** What is installed from, in the state in which it is installed, and for whom. */
export interface Installation extends FetchedSource, InstallTarget {}

/** Where a thing of this kind goes: there are no global templates. */
export const scopeFor = (kind: ArtifactKind, { user, global }: InstallTarget): LibraryScope =>
  global && kind !== "template" ? { type: "global" } : { type: "user", userId: user }
