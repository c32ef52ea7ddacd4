import {
  emptyContent,
  Failed,
  requiredRoles,
  type SourceContent,
  surveySource,
  type UserId,
  withRequirements,
} from "@rangewright/domain"
import { ArtifactLibrary, type LibraryFault, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { longWork } from "../operation/long-work.ts"
import { asShipped } from "./dependency-context.ts"

/** Names of the subscription roles on offer; none when they cannot be listed. */
const subscriptionNames = Effect.flatMap(SubscriptionProvider, ({ list }) => list).pipe(
  Effect.map((roles) => new Set(roles.map(({ role }) => role))),
  Effect.orElseSucceed(() => new Set<string>()),
)

/** The context of a configuration. */
export interface ConfigPlace {
  /** The content of its blueprint's source; absent: none. */
  readonly content?: SourceContent
  /** The text of its `requirements.yml`. */
  readonly requirements?: string | undefined
}

/**
 * The text of a `requirements.yml` with which this configuration works elsewhere as it does for the user here: existing requirements stay,
 * and roles that neither they nor the blueprint's source provide are added. Undefined: nothing is required. Fails when a role is only on
 * this server's disk, since the blueprint could be used nowhere else. `doing` completes "Cannot …".
 */
export const requiredByConfig = (
  doing: string,
  config: string,
  userId: UserId,
  { content = emptyContent, requirements: before }: ConfigPlace = {},
): Effect.Effect<string | undefined, Failed | LibraryFault, ArtifactLibrary | SubscriptionProvider> =>
  Effect.gen(function* () {
    const blueprint = yield* longWork(() => asShipped("new", { name: "", version: "", tags: [] }, config, before))
    const { undeclared } = yield* longWork(() => surveySource({ ...content, blueprints: [blueprint] }))
    if (undeclared.length === 0) return before
    const library = yield* ArtifactLibrary
    const own = yield* library.list({ type: "user", userId })
    const everybodys = yield* library.list({ type: "global" })
    const names = undeclared.map(({ role }) => role)
    const { requirements, custom } = requiredRoles(names, {
      subscription: yield* subscriptionNames,
      roles: [...own.roles, ...everybodys.roles],
      collections: [...own.collections, ...everybodys.collections],
    })
    if (custom.length > 0) return yield* cannotTravel(doing, custom)
    return yield* longWork(() => withRequirements(before, requirements))
  })

const cannotTravel = (doing: string, roles: readonly string[]) => {
  const [which, are] = roles.length === 1 ? ["the role", "it is"] : ["the roles", "they are"]
  return new Failed({
    what: `Cannot ${doing}: ${which} ${roles.join(", ")} cannot be fetched from anywhere else: ${are} on this server alone, without a version`,
    hint: "Package them as a source (POST /sources), each with a version in its meta/version.yml, and install them from there.",
  })
}
