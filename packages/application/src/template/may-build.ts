import { Forbidden, routerDefaults, type User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/**
 * Whether the service itself uses templates with a name: routers of all ranges are cloned from one, and the operator configured logins for
 * others. Arbitrary users must not determine their content.
 */
export const usedByService = Effect.map(
  Settings,
  ({ templateLogins }) =>
    (name: string): boolean =>
      name === routerDefaults.template || templateLogins?.has(name) === true,
)

/** Fails for a template name that only an administrator may have. */
export const mayHaveName = Effect.fnUntraced(function* (user: User, name: string, doing: string) {
  if (user.isAdmin || !(yield* usedByService)(name)) return
  return yield* new Forbidden({
    reason: `Cannot ${doing} ${name}: the service itself uses templates with this name, so only administrators may have them`,
    hint: "Change vm_name, or ask an administrator.",
  })
})

/** Fails if only administrators may manage templates. */
export const mayBuild = Effect.fnUntraced(function* (user: User, doing: string) {
  const { onlyAdminsBuildTemplates = false } = yield* Settings
  if (onlyAdminsBuildTemplates && !user.isAdmin)
    return yield* new Forbidden({
      reason: `Cannot ${doing}: only administrators may manage templates on this service`,
      hint: "Ask an administrator.",
    })
})
