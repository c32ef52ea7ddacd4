import { Forbidden, InvalidInput, parseGitRef, parseGitUrl, type Source, type User } from "@rangewright/domain"
import { urlFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const notAccepted = (path: string, message: string, allowed: string): InvalidInput =>
  new InvalidInput({ what: `Cannot use the source: ${path}: ${message}`, issues: [{ path, message, allowed }] })

/** The URL, if it is valid for a repository and contains no credentials. It is stored and shown, so it is checked first. */
export const checkUrl = Effect.fnUntraced(function* (text: string): Effect.fn.Return<string, InvalidInput> {
  const url = parseGitUrl(text)
  if (Result.isSuccess(url)) return text
  const { message, hint } = urlFault("use the source", url.failure)
  return yield* new InvalidInput({
    what: message,
    issues: [{ path: "url", message: url.failure.detail }],
    ...(hint === undefined ? {} : { hint }),
  })
})

/** The ref, if it is valid; the default branch is `HEAD`. */
export const checkRef = Effect.fnUntraced(function* (text: string): Effect.fn.Return<string, InvalidInput> {
  const ref = text.trim() === "" ? "HEAD" : text
  if (parseGitRef(ref) !== undefined) return ref
  return yield* notAccepted("ref", "it is neither a valid branch or tag name nor a commit", "a branch, a tag or a whole commit")
})

/** The folder's path, for administrators; whether the operator allows it is checked by the fetcher. */
export const checkPath = Effect.fnUntraced(function* (
  path: string | undefined,
  user: User,
): Effect.fn.Return<string, InvalidInput | Forbidden> {
  if (!user.isAdmin)
    return yield* new Forbidden({
      reason: `Only administrators may use folders of the service's host: ${user.id} is not one`,
      hint: "Send an archive (type upload), or name a repository (type git).",
    })
  if (path?.startsWith("/") === true && path.length <= 4096) return path
  return yield* notAccepted("path", "must be an absolute path on the service's host", "a folder that the operator allowed")
})

/** Fails if a member does not fit the type of the source. */
export const checkMembers = Effect.fnUntraced(function* (
  type: Source["type"],
  given: { readonly url?: string; readonly ref?: string; readonly path?: string; readonly archive: boolean },
): Effect.fn.Return<void, InvalidInput> {
  if (given.archive && type !== "upload")
    return yield* notAccepted("archive", `an archive is not for a source of type ${type}`, "a source of type upload")
  for (const member of ["ref", "url"] as const)
    if (given[member] && type !== "git")
      return yield* notAccepted(member, `it is not for a source of type ${type}`, "a source of type git")
  if (given.path && type !== "folder")
    return yield* notAccepted("path", `it is not for a source of type ${type}`, "a source of type folder")
})
