import { Requester, turnsOfUsers, whileAwaited } from "@rangewright/application"
import { Failed } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HttpOptions } from "./options.ts"
import type { RequestState } from "./request-state.ts"

/** Uploads in progress take disk space or memory, and are not yet charged to anybody. */
export const usuallyAtOnce = 8

const ended = () =>
  new Failed({
    what: "Cannot take the upload: the client disconnected, or the service stopped, while it waited for other uploads of the user",
    hint: "Send it again.",
  })

/** Creates a folder for the files of this request. */
export type UploadFolder = (state: RequestState) => Effect.Effect<string, unknown>

/**
 * Folders for uploaded files, one for each request: removed when the request's scope closes. Uploads of one user beyond the limit wait;
 * their clients' data is not read meanwhile.
 */
export const uploadFolders = ({
  uploads = tmpdir(),
  uploadsOfUser = usuallyAtOnce,
}: Pick<HttpOptions, "uploads" | "uploadsOfUser">): UploadFolder => {
  const turnOf = turnsOfUsers(uploadsOfUser)
  const make = async (): Promise<string> => {
    // created on demand; if that fails, the next call reports it
    await mkdir(uploads, { mode: 0o700 }).catch(() => undefined)
    return mkdtemp(join(uploads, "rangewright-upload-"))
  }
  return (state) =>
    Effect.gen(function* () {
      const user = yield* Requester
      const begun = yield* Deferred.make<void>()
      // the turn is released when the scope closes, whenever that is
      yield* Effect.forkScoped(turnOf(user).withPermit(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)))
      yield* whileAwaited(Deferred.await(begun), ended())
      return yield* Effect.acquireRelease(Effect.tryPromise({ try: make, catch: (cause) => cause }), (folder) =>
        Effect.ignore(Effect.tryPromise(() => rm(folder, { recursive: true, force: true }))),
      )
    }).pipe(Scope.provide((state.uploads ??= Scope.makeUnsafe())))
}
