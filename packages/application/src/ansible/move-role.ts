import type { User } from "@rangewright/domain"
import { ArtifactLibrary, type LibraryFault, type ScopeListing } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { listInstalled, scopeOf } from "./installed.ts"

/** The outcome for one role. */
export interface MovedRole {
  readonly role: string
  readonly refused: string | undefined
}

const namesIn = ({ roles }: ScopeListing): ReadonlySet<string> => new Set(roles.map(({ name }) => name))
const nameOf = (global: boolean): string => (global ? "global" : "user's")

/**
 * Moves or copies roles, each named once, between a user's scope and the global one. A role is looked up among the global ones first, so
 * one that is in both can go neither way.
 */
export const moveRoles = (
  roles: readonly string[],
  user: User,
  toGlobal: boolean,
  mode: "copy" | "move",
): Effect.Effect<readonly MovedRole[], LibraryFault, ArtifactLibrary> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const { own, global } = yield* listInstalled(user)
    const [ownRoles, globalRoles] = [namesIn(own), namesIn(global)]
    const one = (role: string) =>
      Effect.gen(function* () {
        const fromGlobal = globalRoles.has(role)
        if (!fromGlobal && !ownRoles.has(role)) return { role, refused: `Role ${role.slice(0, 255)} is not installed` }
        if (fromGlobal === toGlobal) return { role, refused: `Role ${role} is already in the ${nameOf(toGlobal)} scope` }
        return yield* library
          .transfer({ scope: scopeOf(user, fromGlobal), kind: "role", name: role }, scopeOf(user, toGlobal), mode)
          .pipe(
            Effect.as({ role, refused: undefined }),
            Effect.catch(({ facts }) =>
              Effect.succeed({
                role,
                refused:
                  facts.reason === "exists" ? `Role ${role} exists at destination, the ${nameOf(toGlobal)} scope` : facts.detail,
              }),
            ),
          )
      })
    return yield* Effect.forEach(roles, one)
  })
