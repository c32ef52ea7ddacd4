import {
  type BlueprintManifest,
  Conflict,
  Failed,
  holderOfBundle,
  InvalidInput,
  isAnyBlueprintId,
  manifestFile,
  mostPictureBytes,
  readBlueprintManifest,
  readRequirements,
  requirementsFile,
  resolveLinks,
  type User,
} from "@rangewright/domain"
import { Blueprints, type ContentFault, ContentFetcher, type Snapshot } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { newRecordId } from "../accounts/identity.ts"
import { whileAwaited } from "../operation/caller-gone.ts"
import { longWork } from "../operation/long-work.ts"
import type { StoredFile } from "../operation/operation.ts"
import { mostConfigBytes } from "../range/check-config.ts"
import { issueLine } from "../wire/config-issue.ts"
import { releaseBundles } from "./forget-blueprint.ts"
import { keepingBlueprint } from "./keep-blueprint.ts"
import { makeBlueprint } from "./make-blueprint.ts"
import { uploadedPicture } from "./picture.ts"

const what = "Cannot import the blueprint"
const hint = "Send an archive as GET /blueprints/{id}/export makes it: a gzipped tar with a blueprint.yml."

/** A bad archive, also one that is too large, is the sender's to fix; a failure of the host is not. */
const refusal = (fault: ContentFault): InvalidInput | Failed =>
  fault.kind === "unavailable" || fault.kind === "timeout"
    ? new Failed({ what: `${what}: ${fault.message}` })
    : new InvalidInput({ what: `${what}: ${fault.message}`, hint })

const refused = (because: string) => new InvalidInput({ what: `${what}: ${because}`, hint })

// keeps the byte order mark: files come back as they were packed
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The files of an unpacked archive, by their paths or by the paths of links to them. */
const unpacked = (snapshot: Snapshot) =>
  Effect.map(ContentFetcher, (fetcher) => {
    const tree = new Map(snapshot.files.map((entry) => [entry.path, entry]))
    const has = (path: string) => tree.get(resolveLinks(path, tree) ?? "")?.kind === "file"
    const bytes = (path: string, most: number) =>
      has(path) ? Effect.mapError(fetcher.read(snapshot.id, path, most), refusal) : Effect.succeed(undefined)
    /** Undefined: it is missing or not text. */
    const text = (path: string) =>
      Effect.map(bytes(path, mostConfigBytes), (found) => {
        try {
          return found === undefined ? undefined : utf8.decode(found)
        } catch {
          return undefined
        }
      })
    return { has, bytes, text }
  })

type Unpacked = Effect.Success<ReturnType<typeof unpacked>>

const manifestOf = (archive: Unpacked): Effect.Effect<BlueprintManifest, InvalidInput | Failed> =>
  Effect.gen(function* () {
    if (!archive.has(manifestFile))
      return yield* refused(`the archive has no ${manifestFile}, neither at its top nor in its only folder`)
    const text = (yield* archive.text(manifestFile)) ?? (yield* refused(`${manifestFile} is not UTF-8 text`))
    const read = yield* longWork(() => readBlueprintManifest(text))
    if (Result.isSuccess(read)) return read.success
    return yield* new InvalidInput({
      what: `${what}: ${manifestFile}: ${read.failure.map(issueLine).join("; ")}`,
      issues: read.failure.map(({ path, line, column, message }) => ({ path, line, column, message })),
    })
  })

const configOf = (archive: Unpacked, { config }: BlueprintManifest) =>
  Effect.gen(function* () {
    if (!archive.has(config))
      return yield* refused(`${manifestFile} names the configuration ${config}, which is not in the archive`)
    return (yield* archive.text(config)) ?? (yield* refused(`${config} is not UTF-8 text`))
  })

/** The blueprint's requirements; text that a program would take for an option is refused, as in sources. */
const requirementsOf = (archive: Unpacked) =>
  Effect.gen(function* () {
    const text = yield* archive.text(requirementsFile)
    const [unsafe] = (yield* longWork(() => readRequirements(text ?? ""))).unsafe
    return unsafe === undefined ? text : yield* refused(`${requirementsFile}: ${unsafe.message}`)
  })

/** The picture that the manifest names; a missing one is ignored. */
const pictureOf = (archive: Unpacked, { thumbnail }: BlueprintManifest) =>
  Effect.gen(function* () {
    const bytes = thumbnail === undefined ? undefined : yield* archive.bytes(thumbnail, mostPictureBytes)
    if (thumbnail === undefined || bytes === undefined) return undefined
    const filename = thumbnail.slice(thumbnail.lastIndexOf("/") + 1)
    return yield* uploadedPicture({ filename, contentType: "", bytes }).pipe(
      Effect.mapError(({ issues }) => refused(`${thumbnail}: ${issues.map(({ message }) => message).join("; ")}`)),
    )
  })

const nothingYet = { config: "", requirements: undefined, thumbnail: undefined, bundle: undefined }

/**
 * Creates a blueprint of the user's from an archive. All files of the archive are kept, so that an export is complete. The configuration is
 * checked when it is applied.
 */
export const importBlueprint = (file: StoredFile, user: User) =>
  Effect.gen(function* () {
    const { fetch } = yield* ContentFetcher
    const recordId = yield* newRecordId
    const holder = holderOfBundle(recordId)
    const location = { type: "archive", file: file.path, name: "archive.tar.gz", unwrap: { keep: [] } } as const
    // refuses early, before unpacking, when the limit is already exceeded; the content is counted once it is there
    yield* keepingBlueprint("import the blueprint", { recordId, owner: user.id, ...nothingYet })(Effect.void)
    return yield* Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const fetched = Effect.mapError(fetch({ location, holder, whose: `user ${user.id}` }), refusal)
      const snapshot = yield* whileAwaited(fetched, new Failed({ what: `${what}: the client disconnected` }))
      const archive = yield* unpacked(snapshot)
      const manifest = yield* manifestOf(archive)
      const { id, name, description = "", version, tags, minLudusVersion: minVersion = "" } = manifest
      if (!isAnyBlueprintId(id)) return yield* refused(`${id} is not a valid blueprint ID`)
      const config = yield* configOf(archive, manifest)
      const thumbnail = yield* pictureOf(archive, manifest)
      const requirements = yield* requirementsOf(archive)
      const exists = () =>
        new Conflict({ what: `${what}: a blueprint with the ID ${id} already exists`, hint: "Rename or delete that one first." })
      if ((yield* blueprints.find(id)) !== undefined) return yield* exists()
      const bundle = { snapshot: snapshot.id, directory: "" }
      return yield* makeBlueprint(
        id,
        { name, description, version, tags, minVersion },
        { config, requirements, bundle, thumbnail },
        user,
        recordId,
      ).pipe(
        Effect.catchTags({ BlueprintExists: () => Effect.fail(exists()), ContentFault: (fault) => Effect.fail(refusal(fault)) }),
      )
    }).pipe(Effect.onError(() => releaseBundles(recordId)))
  })
