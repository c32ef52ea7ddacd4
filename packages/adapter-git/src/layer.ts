import { Archives, BuilderFiles, ContentFetcher, type ContentFault } from "@rangewright/ports"
import { openToolHost } from "@rangewright/host-tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { builderReader } from "./builder/builder-reader.ts"
import { packTar } from "./archive/pack.ts"
import { asFault } from "./faults.ts"
import { contentFetcher } from "./fetcher.ts"
import { type ContentOptions, settingsOf } from "./options.ts"
import { openFolders } from "./store/folders.ts"
import { snapshotStore } from "./store/snapshot-store.ts"

/** Fetches content into a folder of this host, packs archives from it, and reads builder files. Fails when the folder cannot be used. */
export const contentLayer = (options: ContentOptions): Layer.Layer<ContentFetcher | Archives | BuilderFiles, ContentFault> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const settings = settingsOf(options)
      const folders = yield* Effect.tryPromise({
        try: () => openFolders(settings.folder),
        catch: asFault("open the folder of sources"),
      })
      const store = snapshotStore(folders)
      const doing = "pack an archive"
      const readBuilder = builderReader()
      const read = (id: Parameters<typeof store.read>[1], path: string) => store.read(doing, id, path, settings.tree.fileBytes)
      return Context.make(ContentFetcher, contentFetcher(settings, yield* openToolHost(settings.tools), folders, store)).pipe(
        Context.add(Archives, {
          pack: (files) =>
            Stream.unwrap(
              Effect.try({
                try: () => Stream.fromAsyncIterable(packTar(doing, files, settings.tree, read), asFault(doing)),
                catch: asFault(doing),
              }),
            ),
        }),
        Context.add(BuilderFiles, { read: (path, text) => Effect.promise(() => readBuilder(path, text)) }),
      )
    }),
  )
