import { UserNotFound } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { mayChangeArtifacts } from "../ansible/may-change.ts"
import type { InstallTarget } from "./installation.ts"

/**
 * Fails unless the target's user may install roles and collections: those of sources follow the same rules as those from elsewhere.
 * Blueprints and templates are open to all.
 */
export const mayChangeRolesOf = ({ user: userId, global }: InstallTarget) =>
  Effect.gen(function* () {
    const users = yield* Users
    const user = yield* users.find(userId)
    if (user === undefined) return yield* new UserNotFound({ userId })
    yield* mayChangeArtifacts(user, { global })
  })
