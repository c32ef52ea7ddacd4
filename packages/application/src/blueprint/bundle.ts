import {
  type BlueprintBundle,
  type BundleFile,
  bundleFiles,
  holderOfBundle,
  manifestFile,
  readBlueprintManifest,
  type RecordId,
  requirementsFile,
} from "@rangewright/domain"
import { type ContentFault, ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { longWork } from "../operation/long-work.ts"

/** The files that came with a blueprint. */
export interface OpenedBundle {
  readonly files: readonly BundleFile[]
  /** Paths of the configuration and the picture that the manifest names. */
  readonly named: ReadonlySet<string>
}

const noBundle: OpenedBundle = { files: [], named: new Set() }

const lenient = new TextDecoder()

/** Opens the bundle of a blueprint; without one there are no files. */
export const openBundle = (bundle: BlueprintBundle | undefined): Effect.Effect<OpenedBundle, ContentFault, ContentFetcher> =>
  Effect.gen(function* () {
    if (bundle === undefined) return noBundle
    const fetcher = yield* ContentFetcher
    const files = bundleFiles((yield* fetcher.open(bundle.snapshot)).files, bundle.directory)
    const manifest = files.find(({ path }) => path === manifestFile)
    if (manifest === undefined) return { files, named: new Set() }
    const text = lenient.decode(yield* fetcher.read(bundle.snapshot, manifest.from))
    const read = yield* longWork(() => readBlueprintManifest(text))
    // a blueprint from a source was checked by the rules of sources when it was installed
    const named = Result.isSuccess(read) ? [read.success.config, read.success.thumbnail ?? ""] : []
    return { files, named: new Set(named) }
  })

/** Paths in the bundle that are replaced by data stored beside it. */
export const replacedFiles = ({ named }: OpenedBundle, requirements: string | undefined): ReadonlySet<string> =>
  new Set([manifestFile, ...named, ...(requirements === undefined ? [] : [requirementsFile])])

/** Pins the snapshot as long as the blueprint with this record needs it. */
export const holdBundle = (record: RecordId, bundle: BlueprintBundle | undefined) =>
  bundle === undefined
    ? Effect.void
    : Effect.flatMap(ContentFetcher, (fetcher) => fetcher.pin(bundle.snapshot, holderOfBundle(record)))
