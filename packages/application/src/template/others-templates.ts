import { Forbidden, type Source, type User } from "@rangewright/domain"
import { ArtifactLibrary, type LibraryScope, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { haveSameFiles } from "../source/compare-artifact.ts"

type Holders = readonly LibraryScope[]

/** The scopes besides the user's own that have files of a template, by the template's name. */
export const othersTemplates = Effect.fnUntraced(function* (user: Pick<User, "id">) {
  const library = yield* ArtifactLibrary
  const users = yield* Users
  const others = (yield* users.list).filter(({ id }) => id !== user.id)
  const scopes: Holders = [{ type: "global" }, ...others.map(({ id }) => ({ type: "user", userId: id }) as const)]
  const holders = new Map<string, LibraryScope[]>()
  for (const scope of scopes)
    for (const { name } of (yield* library.list(scope)).templates) holders.set(name, [...(holders.get(name) ?? []), scope])
  return holders
})

/** Identifies what a source ships from: two users may have the same repository as a source. */
export const originOf = ({ type, url, recordId }: Pick<Source, "type" | "url" | "recordId">): string =>
  type === "git" ? `git ${url}` : recordId

const ownerIn = (scope: LibraryScope): string | undefined => (scope.type === "user" ? scope.userId : undefined)

/** The origins of the copies of a template, by scope. Only copies from one origin are compared: otherwise guesses would be confirmed. */
export const originsOf = Effect.fnUntraced(function* (name: string) {
  const sources = yield* Sources
  const origins = new Map((yield* sources.list()).map((source) => [source.recordId, originOf(source)]))
  const claims = (yield* sources.allClaims).filter((claim) => claim.kind === "template" && claim.name === name)
  return (scope: LibraryScope): ReadonlySet<string> =>
    new Set(
      claims.flatMap((claim) => (ownerIn(claim.scope) === ownerIn(scope) ? (origins.get(claim.source.recordId) ?? []) : [])),
    )
})

/** Whether any of the holders has other files of the template than the user. The same files from the same origin are no other template. */
const isOtherTemplate = Effect.fnUntraced(function* (user: User, name: string, holders: Holders) {
  const library = yield* ArtifactLibrary
  const ownScope = { type: "user", userId: user.id } as const
  const origins = yield* originsOf(name)
  const files = (scope: LibraryScope) => library.files({ scope, kind: "template", name })
  const own = yield* files(ownScope)
  const ownOrigins = origins(ownScope)
  for (const scope of holders) {
    const isOneOrigin = [...origins(scope)].some((origin) => ownOrigins.has(origin))
    if (!isOneOrigin || !(yield* haveSameFiles(own ?? [], (yield* files(scope)) ?? []))) return true
  }
  return false
})

/**
 * Fails if a member's own files would be built under a name that others have for another template: everybody clones from what is built
 * first. Says no more than the refusal of an upload.
 */
export const mayTakeName = Effect.fnUntraced(function* (user: User, name: string, holders: Holders = []) {
  if (user.isAdmin || holders.length === 0 || !(yield* isOtherTemplate(user, name, holders))) return
  return yield* new Forbidden({
    reason: `Cannot build template ${name}: ${name} is already present on the server, and names of templates must be unique`,
    hint: "Change vm_name, or ask an administrator to build it.",
  })
})
