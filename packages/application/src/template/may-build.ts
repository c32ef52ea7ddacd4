import { Forbidden, routerDefaults, type User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/**
 * Whether the service itself uses templates of a name: routers of all ranges are cloned from one, and the operator has given logins to
 * others. What is inside of those must not be just any user's.
 */
export const usedByService = Effect.map(
  Settings,
  ({ templateLogins }) =>
    (name: string): boolean =>
      name === routerDefaults.template || templateLogins?.has(name) === true,
)

/** Fails for a template of the user's own files that only an administrator may have. */
export const mayHaveName = Effect.fnUntraced(function* (user: User, name: string, doing: string) {
  if (user.isAdmin || !(yield* usedByService)(name)) return
  return yield* new Forbidden({
    reason: `Cannot ${doing} ${name}: the service itself uses templates with this name, so only administrators may have them`,
    hint: "Change vm_name, or ask an administrator.",
  })
})

/** Fails where templates are left to administrators. */
export const mayBuild = Effect.fnUntraced(function* (user: User, doing: string) {
  const { onlyAdminsBuildTemplates = false } = yield* Settings
  if (onlyAdminsBuildTemplates && !user.isAdmin)
    return yield* new Forbidden({
      reason: `Cannot ${doing}: only administrators may manage templates on this service`,
      hint: "Ask an administrator.",
    })
})
