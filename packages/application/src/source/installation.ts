import { type ArtifactKind, Forbidden, NotFound, type RecordId, type Source, type User, type UserId } from "@rangewright/domain"
import { type LibraryScope, type StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { FetchedSource } from "./fetch-source.ts"
import type { SnapshotContent } from "./read-content.ts"

/** For whom something is installed. */
export interface InstallTarget {
  /** Whose templates these are, and whose roles and collections unless they are for everybody. */
  readonly user: UserId
  /** The user's own record: another user may have the id later. Absent in runs that began before it was noted. */
  readonly userRecord?: RecordId
  readonly global: boolean
}

/** What is installed from, in the state in which it is installed, and for whom. */
export interface Installation extends FetchedSource, InstallTarget {}

/** As much of it as a template, role or collection needs. */
export interface ArtifactInstallation extends InstallTarget {
  readonly source: Pick<Source, "recordId">
  readonly content: Pick<SnapshotContent, "snapshot" | "content">
}

/** Where a thing of this kind goes: there are no global templates. */
export const scopeFor = (kind: ArtifactKind, { user, userRecord, global }: InstallTarget): LibraryScope =>
  global && kind !== "template"
    ? { type: "global" }
    : { type: "user", userId: user, ...(userRecord === undefined ? {} : { recordId: userRecord }) }

/** Fails where the user has been removed since the installation was asked for: nobody else is to get it. */
export const stillWanted = ({ user, userRecord }: InstallTarget): Effect.Effect<void, NotFound | StorageFault, Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const found = yield* users.find(user)
    if (found !== undefined && (userRecord ?? found.recordId) === found.recordId) return
    yield* new NotFound({ what: `Cannot continue the installation: it was for user ${user}, who was removed` })
  })

/** The user's own target, or everybody's, which only administrators may change. */
export const targetFor = (user: User, global = false): Effect.Effect<InstallTarget, Forbidden> =>
  global && !user.isAdmin
    ? Effect.fail(
        new Forbidden({
          reason: "Only administrators may install for everybody, or uninstall what was",
          hint: "Leave out `global` to do it for yourself.",
        }),
      )
    : Effect.succeed({ user: user.id, userRecord: user.recordId, global })
