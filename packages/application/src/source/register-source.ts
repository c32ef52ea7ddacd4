import {
  Conflict,
  deriveSourceId,
  type Fault,
  Forbidden,
  InvalidInput,
  isSourceId,
  keptRow,
  showGitUrl,
  type Source,
  SourceExists,
  type SourceId,
  type SourceType,
  type User,
  withoutTrailing,
} from "@rangewright/domain"
import { type ContentFetcher, type CredentialHasher, type NewSource, type SecretStore, Sources } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { newRecordId } from "../accounts/identity.ts"
import { type DiskServices, keeping } from "../disk/keeping.ts"
import { nameOfSource } from "../disk/kept.ts"
import type { StoredFile } from "../operation/operation.ts"
import { checkMembers, checkPath, checkRef, checkUrl } from "./check-origin.ts"
import { asRefusal } from "./content-refused.ts"
import { runFetch } from "./fetch-run.ts"
import { type FetchedSource, releaseSource } from "./fetch-source.ts"
import type { RunEngine } from "@rangewright/run-engine"
import { type AccessInput, sealedAccess } from "./source-access.ts"
import type { SourceContents } from "./source-contents.ts"
import { scheduleOf } from "./sync-schedule.ts"

/** A caller's description of a source. */
export interface SourceInput extends AccessInput {
  readonly id?: string
  readonly type: string
  readonly url?: string
  readonly ref?: string
  readonly path?: string
  readonly schedule?: string
  readonly global?: boolean
}

type Services = CredentialHasher | DiskServices | RunEngine | SecretStore | SourceContents

const isType = (text: string): text is SourceType => ["git", "upload", "folder"].includes(text)

const typeOf = (text: string): Effect.Effect<SourceType, InvalidInput> =>
  isType(text)
    ? Effect.succeed(text)
    : Effect.fail(
        new InvalidInput({
          what: `Cannot register the source: ${text === "" ? "its type is missing" : `type ${JSON.stringify(text.slice(0, 60))} is unknown`}`,
          issues: [
            { path: "type", message: text === "" ? "missing" : "unknown", allowed: "git, upload, folder (administrators)" },
          ],
          hint: "Use git, upload or, as an administrator, folder.",
        }),
      )

const missing = (path: string, what: string): InvalidInput =>
  new InvalidInput({ what: `Cannot register the source: ${what}`, issues: [{ path, message: what }] })

const noArchive = () => missing("archive", "a source of type upload needs an archive")
const noUrl = () => missing("url", "a source of type git needs the URL of its repository")

/** The given ID, else one derived from the origin of the content. */
const idOf = Effect.fnUntraced(function* (
  input: SourceInput,
  type: SourceType,
  user: User,
  archive: StoredFile | undefined,
): Effect.fn.Return<{ readonly id: SourceId; readonly derived: boolean }, InvalidInput> {
  const given = (input.id ?? "").trim()
  if (given === "" && type === "upload" && archive === undefined) return yield* noArchive()
  if (given === "" && type === "git" && !input.url) return yield* noUrl()
  const id =
    given !== ""
      ? given
      : deriveSourceId(
          user.id,
          type === "git"
            ? { type, url: input.url ?? "" }
            : { type, name: type === "upload" ? (archive?.filename ?? "") : withoutTrailing(input.path ?? "", "/") },
        )
  if (id !== undefined && isSourceId(id)) return { id, derived: given === "" }
  const message = given === "" ? "none can be derived from the source's origin" : "the ID is not allowed"
  return yield* new InvalidInput({
    what: `Cannot register the source: source ID: ${message}`,
    issues: [{ path: "id", message, allowed: "a letter, then letters, digits, _ and -; 255 characters at most" }],
    hint: "Choose an ID with `id`.",
  })
})

/** Fetches an existing source of the user's again, if it matches the request. Its name and description stay as they are. */
const registerAgain = Effect.fnUntraced(function* (
  source: Source,
  input: SourceInput,
  type: SourceType,
  archive: StoredFile | undefined,
): Effect.fn.Return<FetchedSource, Fault, Services> {
  const sources = yield* Sources
  if (source.type !== type)
    return yield* new Conflict({
      what: `You have source ${source.id} already, of type ${source.type}`,
      hint: "Choose another ID with `id`.",
    })
  if (type === "git" && input.url && input.url !== source.url)
    return yield* new Conflict({
      what: `You have source ${source.id} already, and it comes from ${showGitUrl(source.url)}`,
      hint: `Choose another ID with \`id\`, or change its origin: PATCH /sources/${source.id}.`,
    })
  const changed = yield* sources.change(source.recordId, {
    ...(yield* sealedAccess(source.recordId, input)),
    ...(yield* scheduleOf(type, input.schedule)),
  })
  return yield* Effect.mapError(runFetch(changed, archive === undefined ? {} : { archive }, source.owner), asRefusal)
})

/** The origin of a new source's content, checked. */
const originOf = Effect.fnUntraced(function* (
  input: SourceInput,
  type: SourceType,
  user: User,
  archive: StoredFile | undefined,
): Effect.fn.Return<Pick<NewSource, "url" | "ref" | "path">, InvalidInput | Forbidden> {
  switch (type) {
    case "git":
      if (!input.url) return yield* noUrl()
      return { url: yield* checkUrl(input.url), ref: yield* checkRef(input.ref ?? ""), path: "" }
    case "upload":
      if (archive === undefined) return yield* noArchive()
      return { url: "", ref: "", path: "" }
    case "folder":
      return { url: "", ref: "", path: yield* checkPath(input.path, user) }
  }
})

/** Removes a source again that was never fetched. */
const discardUnfetched = Effect.fnUntraced(function* (source: Source): Effect.fn.Return<void, never, ContentFetcher | Sources> {
  const sources = yield* Sources
  const discard = Effect.gen(function* () {
    if (yield* sources.removeUnfetched(source)) yield* releaseSource(source)
  })
  yield* Effect.ignore(discard, { log: "Warn" })
})

/** Creates the row first, so that nobody else takes the ID meanwhile; without content it is removed again. */
const registerNew = Effect.fnUntraced(function* (
  id: SourceId,
  input: SourceInput,
  type: SourceType,
  user: User,
  archive: StoredFile | undefined,
): Effect.fn.Return<FetchedSource, Fault, Services> {
  const sources = yield* Sources
  const origin = yield* originOf(input, type, user, archive)
  const recordId = yield* newRecordId
  const timed = yield* scheduleOf(type, input.schedule)
  const { access } = yield* sealedAccess(recordId, input)
  const create = sources.create({
    ...origin,
    recordId,
    id,
    owner: user.id,
    type,
    name: id,
    access,
    schedule: timed.schedule,
    nextSyncAt: timed.nextSyncAt,
    createdAt: new Date(yield* Clock.currentTimeMillis),
  })
  // refuses early, before fetching, when the limit is already exceeded; the content is counted once it is there
  const source = yield* keeping({
    owner: user.id,
    doing: `register source ${id}`,
    name: nameOfSource(recordId),
    becomes: () => Effect.succeed(keptRow(0, undefined)),
  })(create)
  const fetch = { manifest: true, discard: origin, ...(archive === undefined ? {} : { archive }) } as const
  return yield* runFetch(source, fetch, user.id).pipe(
    // a source whose run never began is removed here, as no run does it
    Effect.tapError(() => discardUnfetched(source)),
    Effect.mapError(asRefusal),
  )
})

/** Registers a source and fetches what it ships; installs nothing. A source that the user already has is fetched again. */
export const registerSource = Effect.fnUntraced(function* (
  input: SourceInput,
  user: User,
  archive: StoredFile | undefined,
): Effect.fn.Return<FetchedSource, Fault, Services> {
  const sources = yield* Sources
  if (input.global === true && !user.isAdmin)
    return yield* new Forbidden({ reason: `Only administrators may install for everybody: ${user.id} is not one` })
  const type = yield* typeOf(input.type)
  yield* checkMembers(type, { archive: archive !== undefined })
  const { id, derived } = yield* idOf(input, type, user, archive)
  const there = yield* sources.find(id)
  if (there?.owner === user.id) return yield* registerAgain(there, input, type, archive)
  if (there !== undefined) return yield* new SourceExists({ source: id, derived })
  return yield* registerNew(id, input, type, user, archive)
})
