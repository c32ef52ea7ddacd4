import { Forbidden, type User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** The hypervisor's own account; no roles are installed as it. */
const systemAccount = "root"

/**
 * Fails unless the user may add or remove roles and collections, for themselves or for everybody. The rights of the user acted as count.
 */
export const mayChangeArtifacts = Effect.fnUntraced(function* (
  user: User,
  target: { readonly global: boolean },
): Effect.fn.Return<void, Forbidden, Settings> {
  if (user.hypervisorUsername === systemAccount)
    return yield* new Forbidden({
      reason: `The account ${systemAccount} of the hypervisor cannot install or remove roles and collections`,
      hint: "Use an account of your own, or act for another user with ?userID=.",
    })
  yield* mayUploadArtifacts(user, target)
})

/** The same, but the hypervisor's own account may upload. Clients compare the last text. */
export const mayUploadArtifacts = Effect.fnUntraced(function* (
  user: User,
  { global }: { readonly global: boolean },
): Effect.fn.Return<void, Forbidden, Settings> {
  const settings = yield* Settings
  if (settings.onlyAdminsChangeArtifacts && !user.isAdmin)
    return yield* new Forbidden({
      reason: `${user.id} is not authorized to install or remove roles and collections: only administrators may do that on this service`,
      hint: "Ask an administrator.",
    })
  if (global && !user.isAdmin)
    return yield* new Forbidden({
      reason: "Only administrators can perform global ansible actions",
      hint: "Leave out `global` to change your own.",
    })
})
