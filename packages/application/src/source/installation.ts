import { type ArtifactKind, Forbidden, NotFound, type RecordId, type Source, type User, type UserId } from "@rangewright/domain"
import { type LibraryScope, type StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { FetchedSource } from "./fetch-source.ts"
import type { SnapshotContent } from "./read-content.ts"

/** The target of an installation. */
export interface InstallTarget {
  /** Owner of the templates, and of roles and collections unless they are global. */
  readonly user: UserId
  /** The user's record ID: another user may have the ID later. Absent in runs that began before it was recorded. */
  readonly userRecord?: RecordId
  readonly global: boolean
}

/** The source of an installation with the content to install, and the target. */
export interface Installation extends FetchedSource, InstallTarget {}

/** The part of it that a template, role or collection needs. */
export interface ArtifactInstallation extends InstallTarget {
  readonly source: Pick<Source, "recordId">
  readonly content: Pick<SnapshotContent, "snapshot" | "content">
}

/** The scope for a thing of this kind: there are no global templates. */
export const scopeFor = (kind: ArtifactKind, { user, userRecord, global }: InstallTarget): LibraryScope =>
  global && kind !== "template"
    ? { type: "global" }
    : { type: "user", userId: user, ...(userRecord === undefined ? {} : { recordId: userRecord }) }

/** Fails if the user was removed since the installation was requested: nobody else must get it. */
export const stillWanted = (
  { user, userRecord }: InstallTarget,
  what: "installation" | "uninstallation" = "installation",
): Effect.Effect<void, NotFound | StorageFault, Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const found = yield* users.find(user)
    if (found !== undefined && (userRecord ?? found.recordId) === found.recordId) return
    yield* new NotFound({ what: `Cannot continue the ${what}: it was for user ${user}, who was removed` })
  })

/** The user's own target, or the global one, which only administrators may change. */
export const targetFor = (user: User, global = false): Effect.Effect<InstallTarget, Forbidden> =>
  global && !user.isAdmin
    ? Effect.fail(
        new Forbidden({
          reason: "Only administrators may install or uninstall for everybody",
          hint: "Leave out `global` to do it for yourself.",
        }),
      )
    : Effect.succeed({ user: user.id, userRecord: user.recordId, global })
