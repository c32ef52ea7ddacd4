import { type BuilderImage, fileNameIn, readChecksum, sumsOf, withStoredImages } from "@rangewright/domain"
import { makeTurns, removeFolder } from "@rangewright/host-tools"
import type { ArtifactEntry, BuildFault, ImageServers } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { createHash, randomUUID } from "node:crypto"
import { mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import { failed } from "./files.ts"
import { imageName, type ImageStorage, type NewImage } from "./image-storage.ts"
import { isUnchanged, openReceipts } from "./image-receipts.ts"

export interface ImageOptions {
  /** The service's own folder, for facts about images, and for images during downloads. */
  readonly folder: string
  /** Total size of the service's own images on a storage. */
  readonly storageBytes: number
  readonly servers: Pick<typeof ImageServers.Service, "read" | "fetch">
}

/** A template whose images are to be replaced by stored ones. */
export interface ImagesOf {
  readonly doing: string
  readonly files: readonly ArtifactEntry[]
  readonly builderFile: string
  readonly storage: ImageStorage
  readonly say: (line: string) => void
}

/** Concurrent downloads in total; an image is downloaded once even if several builds need it. */
const atOnce = 2
/** Size limit of one image. */
const mostBytes = 16 * 1024 ** 3
const longestSeconds = 2 * 3600

const because = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Fetched extends NewImage {
  readonly sha512: string
}

/**
 * Keeps images on the storage, each once, by content. Images that cannot be kept there are left to Packer, which then downloads them
 * itself.
 */
export const openImages = async ({ folder, storageBytes, servers }: ImageOptions) => {
  const spool = join(folder, "fetched")
  await removeFolder(spool)
  await mkdir(spool, { recursive: true, mode: 0o700 })
  const receipts = await openReceipts(join(folder, "known"))
  const turns = makeTurns(atOnce, 1)

  /** The strong checksum that a template gives for an image; with a weak one, somebody could have crafted two different files. */
  const sumOf = Effect.fnUntraced(function* ({ url = "", checksum }: BuilderImage) {
    const named = readChecksum(checksum)
    if (named.kind === "sum") return named.type === "sha256" || named.type === "sha512" ? named.sum : undefined
    if (named.kind !== "list") return undefined
    const list = yield* servers.read(named.url)
    const sums = list.state === "there" ? sumsOf(list.text, fileNameIn(url) ?? "").filter(({ length }) => length >= 64) : []
    const [sum] = sums
    return sum !== undefined && /^(?:.{64}|.{128})$/u.test(sum) && sums.every((one) => one === sum) ? sum : undefined
  })

  /** Downloads a URL to this host until the scope ends; a string says why that failed. */
  const fetched = (url: string, most: number): Effect.Effect<Fetched | string, never, Scope.Scope> =>
    Effect.gen(function* () {
      const file = join(spool, randomUUID())
      const handle = yield* Effect.acquireRelease(
        Effect.promise(() => open(file, "wx", 0o600)),
        (opened) => Effect.promise(() => opened.close().then(() => rm(file, { force: true }))),
      )
      const [sha256, sha512] = [createHash("sha256"), createHash("sha512")]
      const keep = async (part: Uint8Array) => {
        sha256.update(part)
        sha512.update(part)
        await handle.writeFile(part)
      }
      const told = Option.getOrUndefined(yield* Effect.timeoutOption(servers.fetch(url, most, keep), longestSeconds * 1000))
      if (told === undefined) return `it was not downloaded within ${longestSeconds / 3600} hours`
      if (told.state !== "there") return told.because
      return { file, bytes: told.bytes, sha256: sha256.digest("hex"), sha512: sha512.digest("hex") }
    })

  const noRoom = `the stored images already take the ${Math.floor(storageBytes / 1024 ** 3)} GiB that template_image_storage allows`
  const within = <A>(work: (signal: AbortSignal) => Promise<A>) => Effect.tryPromise({ try: work, catch: because })

  /** The volume of an image that is still there unmodified. */
  const found = Effect.fnUntraced(function* (sum: string, storage: ImageStorage) {
    const known = receipts.find(sum)
    const all = yield* within(storage.list)
    const volume = known === undefined ? undefined : storage.volumeOf(known.sha256)
    const isThere =
      known !== undefined &&
      isUnchanged(
        known,
        all.find((one) => one.volume === volume),
      )
    return { all, volume: isThere ? volume : undefined }
  })

  /** Downloads an image and puts it on the storage. A string says why it is left to Packer. */
  const stored = Effect.fnUntraced(function* (url: string, sum: string, { doing, storage, say }: ImagesOf) {
    // another build may have put it there meanwhile
    const { all, volume: there } = yield* found(sum, storage)
    if (there !== undefined) {
      say(`${url} is on the storage already: ${there}`)
      return there
    }
    const name = imageName(receipts.find(sum)?.sha256 ?? sum)
    const taken = all.filter(({ volume }) => !volume.endsWith(`/${name}`)).reduce((total, { bytes }) => total + bytes, 0)
    const room = storageBytes - taken
    if (room <= 0) return yield* Effect.fail(noRoom)
    say(`the service fetches ${url} for all builds`)
    const image = yield* fetched(url, Math.min(mostBytes, room))
    if (typeof image === "string") return yield* Effect.fail(image)
    const has = sum.length === 64 ? image.sha256 : image.sha512
    if (has !== sum)
      return yield* failed(
        doing,
        `${url} has the checksum ${has}, and the template names ${sum}`,
        "GET /templates/check shows which images have changed. Update iso_checksum if you want the new image.",
      )
    const task = yield* within((signal) => storage.send(image, signal)).pipe(
      Effect.timeoutOrElse({
        duration: longestSeconds * 1000,
        orElse: () => Effect.fail(`it was not uploaded within ${longestSeconds / 3600} hours`),
      }),
    )
    say(`the node stores ${url}`)
    // even when the build is aborted: stopping the task might leave half a file
    yield* Effect.uninterruptible(within((signal) => storage.untilDone(task, signal)))
    const volume = storage.volumeOf(image.sha256)
    const shown = (yield* within(storage.list)).find((one) => one.volume === volume)
    if (shown?.changedAt === undefined || shown.bytes !== image.bytes)
      return yield* Effect.fail("the storage does not list it as it was uploaded")
    const { changedAt } = shown
    yield* within(() => receipts.add(image, changedAt))
    return volume
  }, Effect.scoped)

  /** The volume to install from; undefined when Packer must download the image. */
  const volumeFor = Effect.fnUntraced(function* (image: BuilderImage, template: ImagesOf) {
    const { url } = image
    if (url === undefined || image.file !== undefined || !/^https?:/iu.test(url)) return undefined
    const sum = yield* sumOf(image)
    if (sum === undefined) return undefined
    const { say, storage } = template
    const before = yield* Effect.result(Effect.map(found(sum, storage), ({ volume }) => volume))
    if (Result.isSuccess(before) && before.success !== undefined) {
      say(`${url} is on the storage already: ${before.success}`)
      return before.success
    }
    const put: Result.Result<string, string | BuildFault> = yield* Effect.result(turns(sum, stored(url, sum, template)))
    if (Result.isSuccess(put)) return put.success
    if (typeof put.failure !== "string") return yield* Effect.fail(put.failure)
    say(`${url} is not kept for other builds: ${put.failure}`)
    return undefined
  })

  return {
    /** A template's files, in which the builder file refers to stored images by volume id. */
    use: Effect.fnUntraced(function* (template: ImagesOf): Effect.fn.Return<readonly ArtifactEntry[], BuildFault> {
      const { files, builderFile, doing } = template
      const entry = files.find(({ path }) => path === builderFile)
      if (entry?.kind !== "file" || !builderFile.endsWith(".hcl")) return files
      const text = new TextDecoder().decode(yield* Effect.mapError(entry.read, ({ message }) => failed(doing, message)))
      const volumes = new Map<string, string>()
      const keyOf = ({ url, checksum }: BuilderImage) => JSON.stringify([url, checksum])
      const named: BuilderImage[] = []
      withStoredImages(text, (image) => void named.push(image))
      for (const image of named) {
        const volume = volumes.get(keyOf(image)) ?? (yield* volumeFor(image, template))
        if (volume !== undefined) volumes.set(keyOf(image), volume)
      }
      const written = new TextEncoder().encode(withStoredImages(text, (image) => volumes.get(keyOf(image))))
      const changed = { ...entry, size: written.length, read: Effect.succeed(written) }
      return volumes.size === 0 ? files : files.map((one) => (one === entry ? changed : one))
    }),
  }
}

export type Images = Awaited<ReturnType<typeof openImages>>
