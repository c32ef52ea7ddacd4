import { Failed, readReferences, requiredRoles, type UserId, withRequirements } from "@rangewright/domain"
import { ArtifactLibrary, type LibraryFault, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** Names of the roles on offer to subscribers; none where nobody can tell. */
const subscriptionNames = Effect.flatMap(SubscriptionProvider, ({ list }) => list).pipe(
  Effect.map((roles) => new Set(roles.map(({ role }) => role))),
  Effect.orElseSucceed(() => new Set<string>()),
)

/**
 * The text of a `requirements.yml` with which this configuration works elsewhere, as installed for the user here; what `before` says
 * stays. Undefined: nothing is required. Fails where a role is only on this server's disk, for the blueprint could be used nowhere else
 * (contract C 11.2). `doing` completes "Cannot …".
 */
export const requiredByConfig = (
  doing: string,
  config: string,
  userId: UserId,
  before?: string,
): Effect.Effect<string | undefined, Failed | LibraryFault, ArtifactLibrary | SubscriptionProvider> =>
  Effect.gen(function* () {
    const references = readReferences(config)
    if (Result.isFailure(references) || references.success.roles.length === 0) return before
    const library = yield* ArtifactLibrary
    const own = yield* library.list({ type: "user", userId })
    const everybodys = yield* library.list({ type: "global" })
    const { requirements, custom } = requiredRoles(references.success.roles, {
      subscription: yield* subscriptionNames,
      roles: [...own.roles, ...everybodys.roles],
      collections: [...own.collections, ...everybodys.collections],
    })
    if (custom.length > 0)
      return yield* new Failed({
        what: `Cannot ${doing}: ${custom.length === 1 ? "the role" : "the roles"} ${custom.join(", ")} can be had nowhere else: ${
          custom.length === 1 ? "it is" : "they are"
        } on this server alone, without a version`,
        hint: "Package them as a source (POST /sources) and install them from there, or give them a meta/version.yml.",
      })
    return withRequirements(before, requirements)
  })
