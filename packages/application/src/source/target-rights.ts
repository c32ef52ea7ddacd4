import { UserNotFound } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { mayChangeArtifacts } from "../ansible/may-change.ts"
import type { InstallTarget } from "./installation.ts"

/** Roles and collections of sources are for whom those from elsewhere are; blueprints and templates are for all. */
export const mayChangeRolesOf = ({ user: userId, global }: InstallTarget) =>
  Effect.gen(function* () {
    const users = yield* Users
    const user = yield* users.find(userId)
    if (user === undefined) return yield* new UserNotFound({ userId })
    yield* mayChangeArtifacts(user, { global })
  })
