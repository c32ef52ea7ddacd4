import { Forbidden, groupBy, type Source, type User } from "@rangewright/domain"
import { ArtifactLibrary, type LibraryScope, Sources, type StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { haveSameFiles } from "../source/compare-artifact.ts"

/** What others have: the scopes besides the user's own that have files of a template, by its name, and where all copies come from. */
export interface OthersTemplates {
  readonly holders: ReadonlyMap<string, readonly LibraryScope[]>
  /** Read once, when it is first asked for. */
  readonly origins: Effect.Effect<OriginsOf, StorageFault, Sources>
}

/** Identifies what a source ships from: two users may have the same repository as a source. */
export const originOf = ({ type, url, recordId }: Pick<Source, "type" | "url" | "recordId">): string =>
  type === "git" ? `git ${url}` : recordId

const ownerIn = (scope: LibraryScope): string | undefined => (scope.type === "user" ? scope.userId : undefined)

/** The origins of the copy of a template in a scope. Only copies from one origin are compared: otherwise guesses would be confirmed. */
type OriginsOf = (name: string, scope: LibraryScope) => ReadonlySet<string>

const readOrigins = Effect.gen(function* () {
  const sources = yield* Sources
  const origins = new Map((yield* sources.list()).map((source) => [source.recordId, originOf(source)]))
  const claims = groupBy(
    (yield* sources.allClaims).filter(({ kind }) => kind === "template"),
    ({ name }) => name,
  )
  const of: OriginsOf = (name, scope) =>
    new Set(
      (claims.get(name) ?? []).flatMap((claim) =>
        ownerIn(claim.scope) === ownerIn(scope) ? (origins.get(claim.source.recordId) ?? []) : [],
      ),
    )
  return of
})

/** Reads what others have, besides this user. */
export const othersTemplates = Effect.fnUntraced(function* (user: Pick<User, "id">) {
  const library = yield* ArtifactLibrary
  const users = yield* Users
  const others = (yield* users.list).filter(({ id }) => id !== user.id)
  const scopes: readonly LibraryScope[] = [{ type: "global" }, ...others.map(({ id }) => ({ type: "user", userId: id }) as const)]
  const holders = new Map<string, LibraryScope[]>()
  for (const scope of scopes)
    for (const { name } of (yield* library.list(scope)).templates) holders.set(name, [...(holders.get(name) ?? []), scope])
  return { holders, origins: yield* Effect.cached(readOrigins) } satisfies OthersTemplates
})

/**
 * The first of the holders with other files of the template than the user; undefined: there is none. The same files from the same origin are
 * no other template.
 */
const otherHolder = Effect.fnUntraced(function* (
  user: User,
  name: string,
  holders: readonly LibraryScope[],
  originsOf: OriginsOf,
) {
  const library = yield* ArtifactLibrary
  const ownScope = { type: "user", userId: user.id } as const
  const files = (scope: LibraryScope) => library.files({ scope, kind: "template", name })
  const own = yield* files(ownScope)
  const ownOrigins = originsOf(name, ownScope)
  for (const scope of holders) {
    const isOneOrigin = [...originsOf(name, scope)].some((origin) => ownOrigins.has(origin))
    if (!isOneOrigin || !(yield* haveSameFiles(own ?? [], (yield* files(scope)) ?? []))) return scope
  }
  return undefined
})

/**
 * Fails if a member's own files would be built under a name that others have for another template: everybody clones from what is built
 * first. Says neither who has it nor what it contains.
 */
export const mayTakeName = Effect.fnUntraced(function* (user: User, name: string, others: OthersTemplates) {
  const holders = others.holders.get(name)
  if (user.isAdmin || holders === undefined) return
  const holder = yield* otherHolder(user, name, holders, yield* others.origins)
  if (holder === undefined) return
  const taken = `Cannot build template ${name}: ${name} is already present on the server, and names of templates must be unique`
  const remove = `DELETE /template/${name}`
  return yield* holder.type === "global"
    ? new Forbidden({
        reason: `${taken}: other files of this name come with the service`,
        hint: `Change vm_name in yours, or delete yours (${remove}) to build that one.`,
      })
    : new Forbidden({
        reason: `${taken}: another user has a template of this name, too`,
        hint: `Change vm_name in yours, or ask an administrator which of you keeps the name: an administrator may delete the other one (${remove} with userID).`,
      })
})
