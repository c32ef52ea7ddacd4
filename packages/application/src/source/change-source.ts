import { type Fault, Forbidden, parseGitUrl, sameServer, type Source, type User } from "@rangewright/domain"
import { type ContentFetcher, type SecretStore, type SourceChange, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { checkMembers, checkPath, checkRef, checkUrl } from "./check-origin.ts"
import { releaseSource } from "./fetch-source.ts"
import type { SourceInput } from "./register-source.ts"
import { sealedAccess } from "./source-access.ts"
import { scheduleOf } from "./sync-schedule.ts"

export type SourceChangeInput = Omit<SourceInput, "id" | "type">

/** Credentials for one server are never sent to another: with the URL of another server, they have to be given again. */
const forgotten = (source: Source, url: string | undefined): Pick<SourceChange, "access"> => {
  if (url === undefined) return {}
  const [before, after] = [parseGitUrl(source.url), parseGitUrl(url)]
  const same = Result.isSuccess(before) && Result.isSuccess(after) && sameServer(before.success, after.success)
  return same ? {} : { access: undefined }
}

/** Refuses changes that do not fit the source or the user. */
export const checkChange = Effect.fnUntraced(function* (
  source: Source,
  input: SourceChangeInput,
  user: User,
  archive: boolean,
): Effect.fn.Return<void, Fault> {
  if (input.global === true && !user.isAdmin)
    return yield* new Forbidden({ reason: `Only administrators may install for everybody: ${user.id} is not one` })
  yield* checkMembers(source.type, { ...input, archive })
})

/**
 * Changes the given members; fetches nothing. Empty members change nothing. With another location there is no content until the next sync.
 */
export const changeSource = Effect.fnUntraced(function* (
  source: Source,
  input: SourceChangeInput,
  user: User,
): Effect.fn.Return<Source, Fault, ContentFetcher | SecretStore | Sources> {
  const sources = yield* Sources
  const url = input.url ? yield* checkUrl(input.url) : undefined
  const path = input.path ? yield* checkPath(input.path, user) : undefined
  const changed = yield* sources.change(source.recordId, {
    ...(url === undefined ? {} : { url }),
    ...(input.ref ? { ref: yield* checkRef(input.ref) } : {}),
    ...(path === undefined ? {} : { path }),
    ...(yield* scheduleOf(source.type, input.schedule)),
    ...forgotten(source, url),
    ...(yield* sealedAccess(source.recordId, input)),
  })
  if (changed.snapshot === undefined && source.snapshot !== undefined) yield* releaseSource(source)
  return changed
})
