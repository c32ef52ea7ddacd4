import { type CollectionRequirement, Failed, type RoleRequirement } from "@rangewright/domain"
import { type InstallOutcome, type LibraryScope, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** One thing to be brought in, with what it needs. */
export type Wanted =
  | { readonly type: "role"; readonly requirement: RoleRequirement }
  | { readonly type: "collection"; readonly requirement: CollectionRequirement }

const failed = (what: string, hint?: string): Failed => new Failed({ what, ...(hint === undefined ? {} : { hint }) })

/**
 * Brings in one role or collection, and what it needs. The outcome is its own. What it needs and could not be had fails the whole, though
 * what could is there; so does a tool that cannot work.
 */
export const bring = (
  wanted: Wanted,
  scope: LibraryScope,
  force: boolean,
): Effect.Effect<InstallOutcome, Failed, RoleInstaller> =>
  Effect.gen(function* () {
    const outcomes = yield* (yield* RoleInstaller).install({
      scope,
      roles: wanted.type === "role" ? [wanted.requirement] : [],
      collections: wanted.type === "collection" ? [wanted.requirement] : [],
      force,
    })
    const own = outcomes.find(({ type }) => type === wanted.type)
    const missing = outcomes.filter((outcome) => outcome !== own && outcome.outcome === "failed")
    if (own === undefined) return yield* failed(`Cannot install the ${wanted.type}: nothing came of it`)
    const { name, because = "it could not be had" } = own
    if (own.outcome === "failed") return yield* failed(`Cannot install the ${wanted.type} ${name}: ${because}`)
    if (missing.length > 0)
      return yield* failed(
        `The ${wanted.type} ${name} is there, but not all that it needs: ${missing.map(sayMissing).join("; ")}`,
        "Install what is missing by itself, or from elsewhere.",
      )
    return own
  }).pipe(Effect.catchTag("InstallerFault", ({ message, hint }) => Effect.fail(failed(message, hint))))

const sayMissing = ({ type, name, because = "it could not be had" }: InstallOutcome): string => `${type} ${name}: ${because}`
