import { type ArtifactKind, Failed, Forbidden, InvalidInput, longestText, type User } from "@rangewright/domain"
import { ArtifactLibrary, ContentFault, LibraryFault, type LibraryScope } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The user's own scope, or everybody's. */
export const scopeOf = (user: User, global = false): LibraryScope =>
  global ? { type: "global" } : { type: "user", userId: user.id, recordId: user.recordId }

/** Turns temporary failures of the host into `Failed`: clients take status 502 for a failure of the hypervisor. */
export const hostFailures = <A, E, R>(
  work: Effect.Effect<A, E | LibraryFault | ContentFault, R>,
): Effect.Effect<A, E | LibraryFault | ContentFault | Failed, R> =>
  Effect.mapError(work, (fault) =>
    (fault instanceof LibraryFault || fault instanceof ContentFault) && (fault.kind === "unavailable" || fault.kind === "timeout")
      ? new Failed({ what: fault.message, ...(fault.hint === undefined ? {} : { hint: fault.hint }) })
      : fault,
  )

/** Turns a library fault about an uploaded archive into a fault for the uploader. */
export const asArchiveRefusal = ({ message, hint, facts }: LibraryFault): InvalidInput | Forbidden | Failed => {
  const way = hint === undefined ? {} : { hint }
  switch (facts.reason) {
    case "broken":
      return new InvalidInput({ what: message, ...way })
    case "limit":
      return new Forbidden({ reason: message, ...way })
    case "name":
    case "missing":
    case "exists":
    case "unavailable":
      return new Failed({ what: message, ...way })
  }
}

/** The artifacts available to a user's machines: the user's own first, as Ansible searches. */
export const listInstalled = (user: User) =>
  Effect.gen(function* () {
    const { list } = yield* ArtifactLibrary
    return { own: yield* list(scopeOf(user)), global: yield* list(scopeOf(user, true)) }
  })

/**
 * The texts of these files of an installed artifact, without those that are missing or too long; undefined: the artifact is not installed.
 */
export const textsOf = (
  kind: ArtifactKind,
  name: string,
  scope: LibraryScope,
  paths: readonly string[],
): Effect.Effect<ReadonlyMap<string, string> | undefined, LibraryFault | ContentFault, ArtifactLibrary> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const entries = yield* library.files({ scope, kind, name })
    if (entries === undefined) return undefined
    const texts = new Map<string, string>()
    for (const entry of entries)
      if (entry.kind === "file" && paths.includes(entry.path) && entry.size <= longestText)
        texts.set(entry.path, new TextDecoder().decode(yield* entry.read))
    return texts
  })
