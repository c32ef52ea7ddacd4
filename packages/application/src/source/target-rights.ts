import { UserNotFound } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { mayChangeArtifacts, mayUploadArtifacts } from "../ansible/may-change.ts"
import type { InstallTarget } from "./installation.ts"

const userOf = ({ user: userId }: InstallTarget) =>
  Effect.gen(function* () {
    const users = yield* Users
    return (yield* users.find(userId)) ?? (yield* new UserNotFound({ userId }))
  })

/**
 * Fails unless the target's user may install roles and collections: those of sources follow the same rules as those from elsewhere.
 * Blueprints and templates are open to all.
 */
export const mayChangeRolesOf = (target: InstallTarget) =>
  Effect.flatMap(userOf(target), (user) => mayChangeArtifacts(user, target))

/** The same for what a blueprint requires, which the hypervisor's own account may install. */
export const mayInstallRolesFor = (target: InstallTarget) =>
  Effect.flatMap(userOf(target), (user) => mayUploadArtifacts(user, target))
