import {
  allowedNames,
  type CollectionRequirement,
  Failed,
  Forbidden,
  InvalidInput,
  requirementProblem,
  type RoleRequirement,
  showGitUrl,
  wantedCollection,
  wantedRole,
} from "@rangewright/domain"
import { type InstallOutcome, type LibraryScope, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { whileAwaited } from "../operation/caller-gone.ts"

/** A role or collection to install together with its dependencies. */
export type Wanted =
  | { readonly type: "role"; readonly requirement: RoleRequirement }
  | { readonly type: "collection"; readonly requirement: CollectionRequirement }

const failed = (what: string, hint?: string): Failed => new Failed({ what, ...(hint === undefined ? {} : { hint }) })

/**
 * Installs one role or collection with all its dependencies, or nothing; returns its own outcome. An impossible name or version is refused
 * before anything is contacted; a tool that cannot work is `Failed`.
 */
export const fetchAndInstall = (
  wanted: Wanted,
  scope: LibraryScope,
  force: boolean,
): Effect.Effect<InstallOutcome, Failed | Forbidden | InvalidInput, RoleInstaller> =>
  Effect.gen(function* () {
    const installer = yield* RoleInstaller
    const problem = requirementProblem(
      wanted.type === "role" ? wantedRole(wanted.requirement) : wantedCollection(wanted.requirement),
    )
    if (problem !== undefined)
      return yield* new InvalidInput({
        what: `Cannot install ${shown(wanted)}: ${problem}`,
        hint: `Valid names: ${allowedNames[wanted.type]}. Leave out the version for the newest.`,
      })
    const work = installer.install({
      scope,
      roles: wanted.type === "role" ? [wanted.requirement] : [],
      collections: wanted.type === "collection" ? [wanted.requirement] : [],
      force,
    })
    // fetching changes nothing, so it stops when nobody waits for it
    const outcomes = yield* whileAwaited(work, failed(`Cannot install ${shown(wanted)}: the client disconnected`))
    const own = outcomes.find(({ type }) => type === wanted.type)
    if (own === undefined) return yield* failed(`Cannot install the ${wanted.type}: there was no result`)
    const { name, because = "it is not available" } = own
    if (own.outcome !== "failed") return own
    const what = `Cannot install the ${wanted.type} ${showGitUrl(name)}: ${because}`
    return yield* outcomes.some(({ exceedsLimit }) => exceedsLimit) ? new Forbidden({ reason: what }) : failed(what)
  }).pipe(Effect.catchTag("InstallerFault", ({ message, hint }) => Effect.fail(failed(message, hint))))

const shown = ({ type, requirement }: Wanted): string => {
  const version = requirement.version === undefined ? "" : ` ${quoted(requirement.version)}`
  const place = "src" in requirement ? requirement.src : undefined
  return `the ${type} ${quoted(requirement.name ?? place ?? "")}${version}`
}
const quoted = (text: string): string => `"${showGitUrl(text.slice(0, 200))}"`
